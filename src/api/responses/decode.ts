import type { Failure } from "../../generation/failure.ts";
import type { AnswerFormat, Request } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { strictFailure, unreadFields } from "../fields.ts";
import { decodeOwnFields } from "../own-fields.ts";
import { decodeSampling, pingMsOf } from "../sampling-fields.ts";
import type { Service } from "../service.ts";
import { sourceAt } from "../source.ts";
import { strictSchemaFailure } from "../strict-schema.ts";
import { decodeItems } from "./decode-items.ts";
import { decodeToolChoice, decodeTools } from "./decode-tools.ts";
import { type Echo, echoOf } from "./echo.ts";
import type { Item } from "./items.ts";
import { messagesOf } from "./messages.ts";
import {
  acceptedFields,
  jsonSchemaFormat,
  type ResponseBody,
  refusedFields,
  responseBody,
  textFormat,
} from "./schema.ts";

export type ResponseRequest = {
  readonly request: Request;
  /** The whole conversation, with what the previous response brings along. */
  readonly input: readonly Item[];
  /** How many of these items came with the request, at the end. */
  readonly ownItems: number;
  readonly echo: Echo;
  readonly stream: boolean;
  /** Undefined: the server's own. */
  readonly pingMs: number | undefined;
  /** How reasoning is told: as it is, or as a summary, since one was asked for. */
  readonly reasoningAs: "content" | "summary";
  /** Whether reasoning also comes in the form that clients send back unread. */
  readonly sealReasoning: boolean;
  /** Fields of the body that nothing reads. */
  readonly ignored: readonly string[];
};

/** What was made before and may be referred to. */
export type Past = {
  /** The conversation up to the end of a response; a failure where it cannot be continued. */
  conversation(id: string): Result<readonly Item[], Failure>;
  item(id: string): Item | undefined;
};

/** A response's body → the inner request. Fields that are wrong by themselves are refused here; what contradicts itself, in generate(). */
export function decodeResponse(
  body: JsonBody,
  past: Past,
  service: Pick<Service, "holdCalls" | "lexicon" | "strictFields" | "tokenize"> & { readonly id: string },
): Result<ResponseRequest, Failure> {
  const checked = checkBody(body.value);
  if (!checked.ok) return checked;
  const asked = checked.value;
  const ignored = unreadFields(asked, responseBody, acceptedFields);
  const refusal = refusalOf(asked) ?? (service.strictFields ? strictFailure(ignored) : undefined);
  if (refusal !== undefined) return fail(refusal);

  const items = decodeConversation(asked, past);
  if (!items.ok) return items;
  const messages = messagesOf(items.value.input, asked.instructions ?? undefined);
  if (!messages.ok) return messages;
  const tools = decodeTools(asked.tools ?? [], asked.tools ? sourceAt(body.text, ["tools"]) : "[]");
  if (!tools.ok) return tools;
  const toolChoice = decodeToolChoice(asked.tool_choice ?? undefined, tools.value);
  if (!toolChoice.ok) return toolChoice;
  const format = decodeTextFormat(asked.text?.format ?? undefined, body.text);
  if (!format.ok) return format;
  const own = decodeOwnFields(asked, body.text, service, [{ field: "text.format", format: format.value }]);
  if (!own.ok) return own;
  const sampling = decodeSampling(asked, service);
  if (!sampling.ok) return sampling;
  const include = asked.include ?? [];
  const { summary, generate_summary } = asked.reasoning ?? {};
  return ok({
    request: {
      id: service.id,
      model: asked.model ?? undefined,
      messages: messages.value,
      tools: tools.value,
      toolChoice: toolChoice.value,
      parallelCalls: asked.parallel_tool_calls ?? true,
      ...sampling.value,
      tokensMax: asked.max_output_tokens ?? undefined,
      truncate: asked.truncation === "auto",
      logprobs: include.includes("message.output_text.logprobs") ? (asked.top_logprobs ?? 0) : undefined,
      templateVariables: templateVariablesOf(asked),
      ...own.value,
    },
    ...items.value,
    echo: echoOf(asked),
    stream: asked.stream ?? false,
    pingMs: pingMsOf(asked),
    reasoningAs: (summary ?? generate_summary ?? undefined) === undefined ? "content" : "summary",
    sealReasoning: include.includes("reasoning.encrypted_content"),
    ignored,
  });
}

const checkBody = checker(responseBody);
const checkFormat = checker(textFormat);
const checkJsonSchema = checker(jsonSchemaFormat);

function refusalOf(asked: ResponseBody & Readonly<Record<string, unknown>>): Failure | undefined {
  for (const [param, reason] of Object.entries(refusedFields)) {
    if (asked[param] === undefined || asked[param] === null) continue;
    const message = `'${param}' is not supported: ${reason}.`;
    return { kind: "invalid", message, param, code: "unsupported_parameter" };
  }
  if (asked.background === true && asked.store === false) {
    const message = "A response that is made in the background has to be stored: 'store' must not be false.";
    return { kind: "invalid", message, param: "background", code: "invalid_value" };
  }
  return undefined;
}

function decodeConversation(
  asked: ResponseBody,
  past: Past,
): Result<Pick<ResponseRequest, "input" | "ownItems">, Failure> {
  const previous = asked.previous_response_id ?? undefined;
  const input = asked.input ?? undefined;
  if (input === undefined && previous === undefined) {
    const message = "Missing required parameter: 'input'.";
    return fail({ kind: "invalid", message, param: "input", code: "missing_required_parameter" });
  }
  const before = previous === undefined ? ok([]) : past.conversation(previous);
  if (!before.ok) return before;
  const items = decodeItems(input ?? [], past.item);
  if (!items.ok) return items;
  return ok({ input: [...before.value, ...items.value], ownItems: items.value.length });
}

function decodeTextFormat(value: unknown, text: string): Result<AnswerFormat, Failure> {
  if (value === undefined) return ok({ kind: "text" });
  const format = checkFormat(value, "text.format");
  if (!format.ok) return format;
  switch (format.value.type) {
    case "text":
      return ok({ kind: "text" });
    case "json_object":
      return ok({ kind: "json_object" });
    case "json_schema": {
      const checked = checkJsonSchema(value, "text.format");
      if (!checked.ok) return checked;
      const { name, strict, schema: given } = checked.value;
      const param = "text.format.schema";
      const refusal = strict ? strictSchemaFailure(given, `text.format '${name ?? ""}'`, param) : undefined;
      if (refusal !== undefined) return fail(refusal);
      return ok({ kind: "json_schema", schema: sourceAt(text, ["text", "format", "schema"]), param });
    }
    default:
      return fail({
        kind: "invalid",
        message: "Invalid value for 'text.format.type': expected 'text', 'json_object' or 'json_schema'.",
        param: "text.format.type",
        code: "invalid_value",
      });
  }
}

function templateVariablesOf(asked: ResponseBody): Readonly<Record<string, unknown>> {
  const effort = asked.reasoning?.effort ?? undefined;
  const thinking = asked.enable_thinking ?? (effort === "none" ? false : undefined);
  return {
    ...asked.chat_template_kwargs,
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(thinking === undefined ? {} : { enable_thinking: thinking }),
  };
}
