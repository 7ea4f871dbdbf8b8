import type { Static } from "@sinclair/typebox";
import type { Failure } from "../../generation/failure.ts";
import type { AnswerFormat, Policy, Request, Sampling } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { topLogprobsMax, whitespaceMax } from "../../limits.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { sourceAt } from "../source.ts";
import { decodeMessages } from "./decode-messages.ts";
import { decodeToolChoice, decodeTools } from "./decode-tools.ts";
import {
  acceptedFields,
  type ChatBody,
  chatBody,
  jsonObjectFormat,
  jsonSchemaFormat,
  refusedFields,
  responseFormat,
} from "./schema.ts";

export type ChatRequest = {
  readonly request: Request;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Fields of the body that nothing reads. */
  readonly ignored: readonly string[];
};

/** A chat completion's body → the inner request. Fields that are wrong by themselves are refused here; what contradicts itself, in generate(). */
export function decodeChat(
  body: JsonBody,
  options: { readonly id: string; readonly holdCalls: boolean },
): Result<ChatRequest, Failure> {
  const checked = checkChat(body.value);
  if (!checked.ok) return checked;
  const chat = checked.value;
  const refusal = refusalOf(chat);
  if (refusal !== undefined) return fail(refusal);

  const messages = decodeMessages(chat.messages);
  if (!messages.ok) return messages;
  const tools = decodeTools(chat.tools ?? [], chat.tools ? sourceAt(body.text, ["tools"]) : "[]");
  if (!tools.ok) return tools;
  const toolChoice = decodeToolChoice(chat.tool_choice ?? undefined);
  if (!toolChoice.ok) return toolChoice;
  const answer = decodeAnswerFormat(chat.response_format ?? undefined, body.text);
  if (!answer.ok) return answer;
  return ok({
    request: {
      id: options.id,
      model: chat.model ?? undefined,
      messages: messages.value,
      tools: tools.value,
      toolChoice: toolChoice.value,
      parallelCalls: chat.parallel_tool_calls ?? true,
      answer: answer.value,
      sampling: samplingOf(chat),
      tokensMax: chat.max_completion_tokens ?? chat.max_tokens ?? chat.n_predict ?? undefined,
      stop: typeof chat.stop === "string" ? [chat.stop] : (chat.stop ?? []),
      logprobs: chat.logprobs === true ? (chat.top_logprobs ?? 0) : undefined,
      holdCalls: chat.tenon_hold_calls ?? options.holdCalls,
      templateVariables: templateVariablesOf(chat),
      policy: policyOf(chat),
    },
    stream: chat.stream ?? false,
    includeUsage: chat.stream_options?.include_usage ?? false,
    ignored: Object.keys(chat).filter((name) => !(name in chatBody.properties) && !acceptedFields.includes(name)),
  });
}

const checkChat = checker(chatBody);
const checkFormat = checker(responseFormat);
const checkJsonSchema = checker(jsonSchemaFormat);
const checkJsonObject = checker(jsonObjectFormat);

function refusalOf(chat: ChatBody & Readonly<Record<string, unknown>>): Failure | undefined {
  for (const [param, reason] of Object.entries(refusedFields)) {
    if (chat[param] === undefined || chat[param] === null) continue;
    return {
      kind: "invalid",
      message: `'${param}' is not supported: ${reason}.`,
      param,
      code: "unsupported_parameter",
    };
  }
  if (chat.modalities?.includes("audio")) {
    return invalid("modalities", "audio output is not supported", "unsupported_parameter");
  }
  if ((chat.n ?? 1) > 1) return invalid("n", "only one choice can be generated: 'n' must be 1", "unsupported_value");
  if (chat.stop !== null && [chat.stop ?? []].flat().some((text) => !text.isWellFormed())) {
    return invalid("stop", "a stop string contains half a surrogate pair", "invalid_value");
  }
  const top = chat.top_logprobs ?? 0;
  if (top < 0 || top > topLogprobsMax) {
    return invalid("top_logprobs", `top_logprobs must be between 0 and ${topLogprobsMax}`, "invalid_value");
  }
  if (chat.top_logprobs !== undefined && chat.top_logprobs !== null && chat.logprobs !== true) {
    return invalid("top_logprobs", "top_logprobs requires logprobs to be set to true", "invalid_value");
  }
  return undefined;
}

function invalid(param: string, message: string, code: string): Failure {
  return { kind: "invalid", message, param, code };
}

function decodeAnswerFormat(value: unknown, text: string): Result<AnswerFormat, Failure> {
  if (value === undefined) return ok({ kind: "text" });
  const format = checkFormat(value, "response_format");
  if (!format.ok) return format;
  switch (format.value.type) {
    case "text":
      return ok({ kind: "text" });
    case "json_object": {
      const checked = checkJsonObject(value, "response_format");
      if (!checked.ok) return checked;
      if (checked.value.schema === undefined || checked.value.schema === null) return ok({ kind: "json_object" });
      const schema = sourceAt(text, ["response_format", "schema"]);
      return ok({ kind: "json_schema", schema, param: "response_format.schema" });
    }
    case "json_schema": {
      const checked = checkJsonSchema(value, "response_format");
      if (!checked.ok) return checked;
      const schema = sourceAt(text, ["response_format", "json_schema", "schema"]);
      return ok({ kind: "json_schema", schema, param: "response_format.json_schema.schema" });
    }
    default:
      return fail({
        kind: "invalid",
        message: `Invalid value for 'response_format.type': expected 'text', 'json_object' or 'json_schema'.`,
        param: "response_format.type",
        code: "invalid_value",
      });
  }
}

function samplingOf(chat: Static<typeof chatBody>): Sampling {
  return {
    temperature: chat.temperature ?? 1,
    // -1 is how other servers spell "off".
    topK: Math.max(0, chat.top_k ?? 0),
    topP: chat.top_p ?? 1,
    minP: chat.min_p ?? 0,
    repeatPenalty: chat.repeat_penalty ?? chat.repetition_penalty ?? 1,
    frequencyPenalty: chat.frequency_penalty ?? 0,
    presencePenalty: chat.presence_penalty ?? 0,
    // -1 asks for a random one, as in llama.cpp.
    seed: chat.seed === -1 ? undefined : (chat.seed ?? undefined),
    logitBias: Object.entries(chat.logit_bias ?? {}).map(([token, bias]) => ({ token: Number(token), bias })),
  };
}

function templateVariablesOf(chat: ChatBody): Readonly<Record<string, unknown>> {
  const effort = chat.reasoning_effort ?? undefined;
  const thinking = chat.enable_thinking ?? (effort === "none" ? false : undefined);
  return {
    ...chat.chat_template_kwargs,
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(thinking === undefined ? {} : { enable_thinking: thinking }),
  };
}

function policyOf(chat: ChatBody): Policy {
  const policy = chat.tenon_policy;
  return {
    additional: policy?.additional ?? "closed",
    order: policy?.order ?? undefined,
    whitespace: policy?.whitespace ?? whitespaceMax,
    spelling: policy?.spelling ?? "canonical",
    format: policy?.format ?? "assert",
  };
}
