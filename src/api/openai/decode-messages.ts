import type { Failure } from "../../generation/failure.ts";
import type { Call, Content, Message } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import {
  assistantMessage,
  contentPart,
  historyCall,
  messageBody,
  refusalPart,
  spokenMessage,
  textPart,
  toolMessage,
} from "./schema.ts";

/** The messages of a chat body, with their roles' rules. `developer` is `system`. */
export function decodeMessages(values: readonly unknown[]): Result<readonly Message[], Failure> {
  const messages: Message[] = [];
  const callIds = new Set<string>();
  for (const [index, value] of values.entries()) {
    const message = decodeMessage(value, `messages[${index}]`, callIds);
    if (!message.ok) return message;
    messages.push(message.value);
    if (message.value.role === "assistant") for (const call of message.value.calls) callIds.add(call.id);
  }
  if (!messages.some(saysSomething)) {
    return fail({
      kind: "invalid",
      message: "Request must include at least one non-empty message content or media input.",
      param: "messages",
    });
  }
  return ok(messages);
}

const checkMessage = checker(messageBody);
const checkSpoken = checker(spokenMessage);
const checkAssistant = checker(assistantMessage);
const checkTool = checker(toolMessage);
const checkCall = checker(historyCall);
const checkPart = checker(contentPart);
const checkText = checker(textPart);
const checkRefusal = checker(refusalPart);

function decodeMessage(value: unknown, at: string, callIds: ReadonlySet<string>): Result<Message, Failure> {
  const message = checkMessage(value, at);
  if (!message.ok) return message;
  switch (message.value.role) {
    case "system":
    case "developer":
      return decodeSpoken("system", value, at);
    case "user":
      return decodeSpoken("user", value, at);
    case "assistant":
      return decodeAssistant(value, at);
    case "tool":
      return decodeToolResult(value, at, callIds);
    default:
      return fail({
        kind: "invalid",
        message: `Invalid value for '${at}.role': expected 'system', 'developer', 'user', 'assistant' or 'tool'.`,
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

function decodeAssistant(value: unknown, at: string): Result<Message, Failure> {
  const message = checkAssistant(value, at);
  if (!message.ok) return message;
  const { content, reasoning_content, reasoning, tool_calls } = message.value;
  const calls: Call[] = [];
  for (const [index, item] of (tool_calls ?? []).entries()) {
    const call = decodeCall(item, `${at}.tool_calls[${index}]`);
    if (!call.ok) return call;
    calls.push(call.value);
  }
  const decoded = decodeContent(content ?? "", `${at}.content`);
  if (!decoded.ok) return decoded;
  const absent = decoded.value.length === 0;
  return ok({
    role: "assistant",
    content: absent && calls.length > 0 ? undefined : decoded.value,
    reasoning: reasoning_content ?? reasoning ?? undefined,
    calls,
  });
}

function decodeToolResult(value: unknown, at: string, callIds: ReadonlySet<string>): Result<Message, Failure> {
  const message = checkTool(value, at);
  if (!message.ok) return message;
  const { tool_call_id: callId, name } = message.value;
  if (!callIds.has(callId)) {
    return fail({
      kind: "invalid",
      message: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      param: `${at}.tool_call_id`,
    });
  }
  const content = decodeContent(message.value.content, `${at}.content`);
  return content.ok ? ok({ role: "tool", content: content.value, callId, name: name ?? undefined }) : content;
}

/** A call of the history. Some clients write the arguments of a call without any as "". */
function decodeCall(value: unknown, at: string): Result<Call, Failure> {
  const call = checkCall(value, at);
  if (!call.ok) return call;
  const { id, function: called } = call.value;
  const text = called.arguments.trim() === "" ? "{}" : called.arguments;
  if (!isObjectText(text)) {
    return fail({
      kind: "invalid",
      message: `Invalid value for '${at}.function.arguments': expected the text of a JSON object.`,
      param: `${at}.function.arguments`,
      code: "invalid_value",
    });
  }
  return ok({ id, name: called.name, arguments: text });
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
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

/** The protocol's parts that no model here can take, as their `type` and in words. */
const unsupportedParts: Readonly<Record<string, string>> = {
  image_url: "image",
  input_audio: "audio",
  file: "file",
  video_url: "video",
};

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
  const kind = unsupportedParts[type];
  return fail({
    kind: "invalid",
    message: kind === undefined ? "unsupported content[].type" : `${kind} input is not supported`,
    param: `${at}.type`,
    code: kind === undefined ? "invalid_value" : "unsupported_value",
  });
}

function saysSomething(message: Message): boolean {
  if (message.role === "assistant" && (message.calls.length > 0 || (message.reasoning ?? "").trim() !== ""))
    return true;
  const { content } = message;
  if (content === undefined) return false;
  return typeof content === "string" ? content.trim() !== "" : content.some((part) => part.text.trim() !== "");
}
