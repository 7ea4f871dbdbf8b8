import type { Failure } from "../../generation/failure.ts";
import type { Request } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { strictFailure, unreadFields } from "../fields.ts";
import { decodeOwnFields, type NamedFormat } from "../own-fields.ts";
import { decodeSampling, pingMsOf } from "../sampling-fields.ts";
import type { Service } from "../service.ts";
import { sourceAt } from "../source.ts";
import { decodeConversation } from "./decode-conversation.ts";
import { decodeThinking, type Thinking } from "./decode-thinking.ts";
import { decodeToolChoice, decodeTools } from "./decode-tools.ts";
import { threadUnsupported } from "./error.ts";
import { acceptedFields, type CountBody, countBody, messagesBody, outputFormat, refusedFields } from "./schema.ts";
import type { Display } from "./signature.ts";

export type MessagesRequest = {
  readonly request: Request;
  /** With what the answer has to go on, and is no part of it. */
  readonly prefill: string | undefined;
  readonly stream: boolean;
  /** Undefined: the server's own. */
  readonly pingMs: number | undefined;
  readonly display: Display;
  /** Fields of the body that nothing reads. */
  readonly ignored: readonly string[];
};

type Options = Pick<Service, "holdCalls" | "lexicon" | "strictFields" | "tokenize"> & { readonly id: string };

/** The body of POST /v1/messages → the inner request. What contradicts itself is refused in generate(). */
export function decodeMessages(body: JsonBody, options: Options): Result<MessagesRequest, Failure> {
  const checked = checkMessages(body.value);
  if (!checked.ok) return checked;
  const fields = checked.value;
  const { max_tokens: tokensMax, stop_sequences } = fields;
  const stop = stop_sequences ?? undefined;
  if (stop?.some((text) => !text.isWellFormed())) {
    return fail(invalid("stop_sequences", "a stop sequence contains half a surrogate pair"));
  }
  const ignored = unreadFields(fields, messagesBody, knownFields);
  const sampled = decodeSampling(fields, options);
  if (!sampled.ok) return sampled;
  const decoded = decodePrompt(fields, body, { ...options, ignored, ...sampled.value, tokensMax, stop });
  return decoded.ok ? ok({ ...decoded.value, stream: fields.stream ?? false, pingMs: pingMsOf(fields) }) : decoded;
}

/** The body of POST /v1/messages/count_tokens → a request that is only rendered. */
export function decodeCount(
  body: JsonBody,
  options: Options,
): Result<Pick<MessagesRequest, "request" | "prefill">, Failure> {
  const checked = checkCount(body.value);
  if (!checked.ok) return checked;
  // What only the generation reads may stand here and counts for nothing.
  const ignored = unreadFields(checked.value, messagesBody, knownFields);
  const sampled = decodeSampling({}, options);
  if (!sampled.ok) return sampled;
  return decodePrompt(checked.value, body, { ...options, ignored, ...sampled.value, tokensMax: undefined });
}

const checkMessages = checker(messagesBody);
const checkCount = checker(countBody);
const checkFormat = checker(outputFormat);

/** What is refused where it asks for something is no news where it does not. */
const knownFields = [...acceptedFields, ...Object.keys(refusedFields), "thread"];

/** All that decides what the model reads and what it may say. */
function decodePrompt(
  fields: CountBody,
  body: JsonBody,
  options: Options & Pick<Request, "sampling" | "stop" | "tokensMax"> & { readonly ignored: readonly string[] },
): Result<Omit<MessagesRequest, "stream" | "pingMs">, Failure> {
  const refusal = refusalOf(fields) ?? (options.strictFields ? strictFailure(options.ignored) : undefined);
  if (refusal !== undefined) return fail(refusal);
  const conversation = decodeConversation(fields.system ?? undefined, fields.messages, body);
  if (!conversation.ok) return conversation;
  const { messages, prefill, toolNames } = conversation.value;
  const choice = decodeToolChoice(fields.tool_choice);
  if (!choice.ok) return choice;
  const { toolChoice } = choice.value;
  const known = toolChoice.mode === "named" ? new Set([...toolNames, toolChoice.name]) : toolNames;
  const tools = decodeTools(fields.tools ?? [], fields.tools ? sourceAt(body.text, ["tools"]) : "[]", known);
  if (!tools.ok) return tools;
  const formats = decodeFormats(fields, body.text);
  if (!formats.ok) return formats;
  const own = decodeOwnFields(fields, body.text, options, formats.value);
  if (!own.ok) return own;
  const thinking = decodeThinking(fields.thinking, options.tokensMax);
  if (!thinking.ok) return thinking;
  if (prefill !== undefined) {
    const conflict = prefillConflict(own.value.answer.kind !== "text", thinking.value);
    if (conflict !== undefined) return fail(conflict);
  }
  return ok({
    request: {
      ...own.value,
      ...choice.value,
      id: options.id,
      model: fields.model ?? undefined,
      messages,
      tools: tools.value,
      sampling: options.sampling,
      tokensMax: options.tokensMax,
      stop: options.stop,
      thoughtTokensMax: thinking.value.tokensMax,
      logprobs: undefined,
      templateVariables: templateVariablesOf(fields, thinking.value, prefill),
    },
    prefill,
    display: thinking.value.display,
    ignored: options.ignored,
  });
}

function refusalOf(fields: Readonly<Record<string, unknown>>): Failure | undefined {
  for (const [param, reason] of Object.entries(refusedFields)) {
    const value = fields[param];
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    return invalid(param, `'${param}' is not supported: ${reason}.`, "unsupported_parameter");
  }
  if (fields["thread"] !== undefined && fields["thread"] !== null) {
    const message = "'thread' is not supported: send the whole conversation, since the server keeps none.";
    return invalid("thread", message, threadUnsupported);
  }
  return undefined;
}

function invalid(param: string, message: string, code = "invalid_value"): Failure {
  return { kind: "invalid", message, param, code };
}

/** The format of the answer under its name and under the one it had first. */
function decodeFormats(fields: CountBody, text: string): Result<readonly NamedFormat[], Failure> {
  const formats: NamedFormat[] = [];
  const asked = [
    { path: ["output_config", "format"], value: fields.output_config?.format },
    { path: ["output_format"], value: fields.output_format },
  ];
  for (const { path, value } of asked) {
    if (value === undefined || value === null) continue;
    const field = path.join(".");
    const checked = checkFormat(value, field);
    if (!checked.ok) return checked;
    const schema = sourceAt(text, [...path, "schema"]);
    formats.push({ field, format: { kind: "json_schema", schema, param: `${field}.schema` } });
  }
  return ok(formats);
}

function prefillConflict(formatted: boolean, { enabled }: Thinking): Failure | undefined {
  const prefilled = "the last message is the assistant's, and so the beginning of the answer";
  if (formatted) return invalid("messages", `An answer with a format cannot go on from a text: ${prefilled}.`);
  if (enabled === true) return invalid("thinking", `Thinking comes before an answer, but ${prefilled}.`);
  return undefined;
}

/** The switches by the names that templates have for them. */
function templateVariablesOf(fields: CountBody, { enabled }: Thinking, prefill: string | undefined) {
  const effort = fields.output_config?.effort ?? undefined;
  // The text goes on outside of any thought, also where the template would open one.
  const thinks = prefill === undefined ? enabled : false;
  return {
    ...fields.chat_template_kwargs,
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(thinks === undefined ? {} : { enable_thinking: thinks }),
  };
}
