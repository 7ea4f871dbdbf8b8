import type { Failure } from "../../generation/failure.ts";
import type { Call, Content, Message } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { emptyInput } from "../empty-input.ts";
import { unsupportedPart } from "../unsupported-part.ts";
import {
  assistantMessage,
  callBody,
  contentPart,
  customCall,
  functionCall,
  functionMessage,
  messageBody,
  refusalPart,
  spokenMessage,
  textPart,
  toolMessage,
} from "./schema.ts";

/** The messages of a chat body, with their roles' rules. `developer` is `system`. */
export function decodeMessages(values: readonly unknown[]): Result<readonly Message[], Failure> {
  const messages: Message[] = [];
  const history: History = { ids: new Set(), legacy: [] };
  for (const [index, value] of values.entries()) {
    const message = decodeMessage(value, `messages[${index}]`, history);
    if (!message.ok) return message;
    messages.push(message.value);
    if (message.value.role === "assistant") for (const call of message.value.calls) history.ids.add(call.id);
  }
  const empty = emptyInput(messages, "messages");
  return empty === undefined ? ok(messages) : fail(empty);
}

/** The calls so far: their ids, and those in the legacy form, which has none, each with the id that it got here until its result comes. */
type History = { readonly ids: Set<string>; readonly legacy: { readonly id: string; readonly name: string }[] };

const checkMessage = checker(messageBody);
const checkSpoken = checker(spokenMessage);
const checkAssistant = checker(assistantMessage);
const checkTool = checker(toolMessage);
const checkFunctionMessage = checker(functionMessage);
const checkCall = checker(callBody);
const checkFunctionCall = checker(functionCall);
const checkCustomCall = checker(customCall);
const checkPart = checker(contentPart);
const checkText = checker(textPart);
const checkRefusal = checker(refusalPart);

function decodeMessage(value: unknown, at: string, history: History): Result<Message, Failure> {
  const message = checkMessage(value, at);
  if (!message.ok) return message;
  switch (message.value.role) {
    case "system":
    case "developer":
      return decodeSpoken("system", value, at);
    case "user":
      return decodeSpoken("user", value, at);
    case "assistant":
      return decodeAssistant(value, at, history);
    case "tool":
      return decodeToolResult(value, at, history);
    case "function":
      return decodeFunctionResult(value, at, history);
    default:
      return fail({
        kind: "invalid",
        message: `Invalid value for '${at}.role': expected 'system', 'developer', 'user', 'assistant', 'tool' or 'function'.`,
        param: `${at}.role`,
        code: "invalid_value",
      });
  }
}

function decodeSpoken(role: "system" | "user", value: unknown, at: string): Result<Message, Failure> {
  const message = checkSpoken(value, at);
  if (!message.ok) return message;
  const content = decodeContent(message.value.content, `${at}.content`);
  return content.ok ? ok({ role, content: content.value }) : content;
}

function decodeAssistant(value: unknown, at: string, history: History): Result<Message, Failure> {
  const message = checkAssistant(value, at);
  if (!message.ok) return message;
  const { content, refusal, reasoning_content, reasoning, tool_calls, function_call } = message.value;
  const calls: Call[] = [];
  for (const [index, item] of (tool_calls ?? []).entries()) {
    const call = decodeCall(item, `${at}.tool_calls[${index}]`);
    if (!call.ok) return call;
    calls.push(call.value);
  }
  if (function_call) {
    const call = { id: `call_legacy_${history.ids.size}`, name: function_call.name };
    history.legacy.push(call);
    calls.push({ ...call, arguments: argumentsText(function_call.arguments) });
  }
  const decoded = decodeContent(content ?? refusal ?? "", `${at}.content`);
  if (!decoded.ok) return decoded;
  const absent = decoded.value.length === 0;
  return ok({
    role: "assistant",
    content: absent && calls.length > 0 ? undefined : decoded.value,
    reasoning: reasoning_content ?? reasoning ?? undefined,
    calls,
  });
}

function decodeToolResult(value: unknown, at: string, { ids }: History): Result<Message, Failure> {
  const message = checkTool(value, at);
  if (!message.ok) return message;
  const { tool_call_id: callId, name } = message.value;
  if (!ids.has(callId)) {
    return fail({
      kind: "invalid",
      message: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      param: `${at}.tool_call_id`,
    });
  }
  const content = decodeContent(message.value.content, `${at}.content`);
  return content.ok ? ok({ role: "tool", content: content.value, callId, name: name ?? undefined }) : content;
}

/** The result of the last legacy call of that name. */
function decodeFunctionResult(value: unknown, at: string, { legacy }: History): Result<Message, Failure> {
  const message = checkFunctionMessage(value, at);
  if (!message.ok) return message;
  const { name } = message.value;
  const call = legacy.findLast((known) => known.name === name);
  if (call === undefined) {
    return fail({
      kind: "invalid",
      message: "messages with role 'function' must be a response to a preceeding message with 'function_call'.",
      param: `${at}.name`,
    });
  }
  const content = decodeContent(message.value.content, `${at}.content`);
  return content.ok ? ok({ role: "tool", content: content.value, callId: call.id, name }) : content;
}

/** A call of the history, whose arguments may be anything: what another model once wrote must not end a conversation. */
function decodeCall(value: unknown, at: string): Result<Call, Failure> {
  const call = checkCall(value, at);
  if (!call.ok) return call;
  const { id, type } = call.value;
  switch (type ?? "function") {
    case "function": {
      const checked = checkFunctionCall(value, at);
      if (!checked.ok) return checked;
      const { name, arguments: text } = checked.value.function;
      return ok({ id, name, arguments: argumentsText(text) });
    }
    case "custom": {
      const checked = checkCustomCall(value, at);
      if (!checked.ok) return checked;
      const { name, input } = checked.value.custom;
      return ok({ id, name, arguments: input, custom: true });
    }
    default:
      return fail({
        kind: "invalid",
        message: `Invalid value for '${at}.type': expected 'function' or 'custom'.`,
        param: `${at}.type`,
        code: "invalid_value",
      });
  }
}

/** Some clients write the arguments of a call without any as "". */
function argumentsText(text: string): string {
  return text.trim() === "" ? "{}" : text;
}

function decodeContent(value: string | readonly unknown[], at: string): Result<Content, Failure> {
  if (typeof value === "string") return ok(value);
  const parts: { readonly type: "text"; readonly text: string }[] = [];
  for (const [index, item] of value.entries()) {
    const text = decodePart(item, `${at}[${index}]`);
    if (!text.ok) return text;
    parts.push({ type: "text", text: text.value });
  }
  return ok(parts);
}

/** The protocol's parts that no model here can take, by their `type`. */
const unsupportedParts: ReadonlyMap<string, string> = new Map([
  ["image_url", "image"],
  ["input_audio", "audio"],
  ["file", "file"],
  ["video_url", "video"],
]);

function decodePart(value: unknown, at: string): Result<string, Failure> {
  const part = checkPart(value, at);
  if (!part.ok) return part;
  const { type } = part.value;
  if (type === "text") {
    const text = checkText(value, at);
    return text.ok ? ok(text.value.text) : text;
  }
  if (type === "refusal") {
    const refusal = checkRefusal(value, at);
    return refusal.ok ? ok(refusal.value.refusal) : refusal;
  }
  return fail(unsupportedPart(type, unsupportedParts, at));
}
