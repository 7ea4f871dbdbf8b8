import type { Failure } from "../../generation/failure.ts";
import type { Request, Tool, ToolChoice } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { topLogprobsMax } from "../../limits.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { strictFailure, unreadFields } from "../fields.ts";
import { decodeOwnFields } from "../own-fields.ts";
import { decodeSampling, pingMsOf } from "../sampling-fields.ts";
import type { Service } from "../service.ts";
import { sourceAt } from "../source.ts";
import { decodeFormats } from "./constraint-fields.ts";
import { decodeMessages } from "./decode-messages.ts";
import { decodeFunctionCall, decodeFunctions, decodeToolChoice, decodeTools } from "./decode-tools.ts";
import { withExtraBody } from "./extra-body.ts";
import { acceptedFields, type ChatBody, chatBody, refusedFields } from "./schema.ts";

export type ChatRequest = {
  readonly request: Request;
  /** Answers to give side by side. */
  readonly choices: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Undefined: the server's own. */
  readonly pingMs: number | undefined;
  /** Asked with `functions`: the answer's call is a `function_call`. */
  readonly legacy: boolean;
  /** Fields of the body that nothing reads. */
  readonly ignored: readonly string[];
};

export type DecodeOptions = { readonly id: string; readonly service: DecodeService };
export type DecodeService = Pick<Service, "holdCalls" | "lexicon" | "strictFields" | "tokenize">;

/** A chat completion's body → the inner request. Fields that are wrong by themselves are refused here; what contradicts itself, in generate(). */
export function decodeChat(given: JsonBody, { id, service }: DecodeOptions): Result<ChatRequest, Failure> {
  const body = withExtraBody(given);
  const checked = checkChat(body.value);
  if (!checked.ok) return checked;
  const chat = checked.value;
  const ignored = unreadFields(chat, chatBody, acceptedFields);
  const refusal = refusalOf(chat) ?? (service.strictFields ? strictFailure(ignored) : undefined);
  if (refusal !== undefined) return fail(refusal);

  const messages = decodeMessages(chat.messages);
  if (!messages.ok) return messages;
  const tools = decodeAllTools(chat, body.text);
  if (!tools.ok) return tools;
  const formats = decodeFormats(chat, body.text);
  if (!formats.ok) return formats;
  const own = decodeOwnFields(chat, body.text, service, formats.value);
  if (!own.ok) return own;
  const sampling = decodeSampling(chat, service);
  if (!sampling.ok) return sampling;
  const { legacy } = tools.value;
  return ok({
    request: {
      id,
      model: chat.model ?? undefined,
      messages: messages.value,
      tools: tools.value.tools,
      toolChoice: tools.value.toolChoice,
      // A `function_call` is one.
      parallelCalls: legacy ? false : (chat.parallel_tool_calls ?? true),
      ...own.value,
      ...sampling.value,
      tokensMax: chat.max_completion_tokens ?? chat.max_tokens ?? chat.n_predict ?? undefined,
      thoughtTokensMax: thoughtTokensOf(chat),
      logprobs: chat.logprobs === true ? (chat.top_logprobs ?? 0) : undefined,
      templateVariables: templateVariablesOf(chat),
    },
    choices: chat.n ?? 1,
    stream: chat.stream ?? false,
    includeUsage: chat.stream_options?.include_usage ?? false,
    pingMs: pingMsOf(chat),
    legacy,
    ignored,
  });
}

const checkChat = checker(chatBody);

function refusalOf(chat: ChatBody & Readonly<Record<string, unknown>>): Failure | undefined {
  for (const [param, reason] of Object.entries(refusedFields)) {
    if (chat[param] === undefined || chat[param] === null) continue;
    return invalid(param, `'${param}' is not supported: ${reason}.`, "unsupported_parameter");
  }
  if (chat.modalities?.includes("audio")) {
    return invalid("modalities", "audio output is not supported", "unsupported_parameter");
  }
  const top = chat.top_logprobs ?? 0;
  if (top < 0 || top > topLogprobsMax) {
    return invalid("top_logprobs", `top_logprobs must be between 0 and ${topLogprobsMax}`, "invalid_value");
  }
  if (top > 0 && chat.logprobs !== true) {
    return invalid("top_logprobs", "top_logprobs requires logprobs to be set to true", "invalid_value");
  }
  return undefined;
}

function invalid(param: string, message: string, code: string): Failure {
  return { kind: "invalid", message, param, code };
}

type AllTools = { readonly tools: readonly Tool[]; readonly toolChoice: ToolChoice; readonly legacy: boolean };

/** From `tools` and `tool_choice`, or from what stood in their place before; both at once contradict each other. */
function decodeAllTools(chat: ChatBody, text: string): Result<AllTools, Failure> {
  const functions = chat.functions ?? undefined;
  const functionCall = chat.function_call ?? undefined;
  const legacy = functions !== undefined || functionCall !== undefined;
  if (legacy && (chat.tools || chat.tool_choice)) {
    const param = functions === undefined ? "function_call" : "functions";
    return fail(invalid(param, `Cannot use both '${param}' and 'tools': use 'tools'.`, "invalid_value"));
  }
  const tools = legacy
    ? decodeFunctions(functions ?? [], functions ? sourceAt(text, ["functions"]) : "[]")
    : decodeTools(chat.tools ?? [], chat.tools ? sourceAt(text, ["tools"]) : "[]");
  if (!tools.ok) return tools;
  const toolChoice = legacy
    ? decodeFunctionCall(functionCall)
    : decodeToolChoice(chat.tool_choice ?? undefined, tools.value);
  return toolChoice.ok ? ok({ tools: tools.value, toolChoice: toolChoice.value, legacy }) : toolChoice;
}

/** Of the names that servers have for it, -1 is no limit. */
function thoughtTokensOf(chat: ChatBody): number | undefined {
  const { thinking_budget_tokens, reasoning_budget_tokens, thinking_token_budget, thinking_budget } = chat;
  const given = thinking_budget_tokens ?? reasoning_budget_tokens ?? thinking_token_budget ?? thinking_budget ?? -1;
  return given < 0 ? undefined : given;
}

function templateVariablesOf(chat: ChatBody): Readonly<Record<string, unknown>> {
  const effort = chat.reasoning_effort ?? undefined;
  const isOff = effort === "none" || thoughtTokensOf(chat) === 0;
  const thinking = chat.enable_thinking ?? (isOff ? false : undefined);
  return {
    ...chat.chat_template_kwargs,
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(thinking === undefined ? {} : { enable_thinking: thinking }),
    ...(typeof chat.add_generation_prompt === "boolean" ? { add_generation_prompt: chat.add_generation_prompt } : {}),
  };
}
