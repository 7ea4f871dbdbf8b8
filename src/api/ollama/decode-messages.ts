import type { Failure } from "../../generation/failure.ts";
import type { Call, Message } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { sourceAt, sourceItems } from "../source.ts";
import { callBody, messageBody } from "./schema.ts";

/** The messages of a chat. `text` is that of the array, for the arguments of calls as they were written. */
export function decodeMessages(values: readonly unknown[], text: string): Result<readonly Message[], Failure> {
  const sources = sourceItems(text);
  const messages: Message[] = [];
  const open: Call[] = [];
  for (const [index, value] of values.entries()) {
    const message = decodeMessage(value, {
      at: `messages[${index}]`,
      source: sources[index] ?? "",
      count: messages.length,
      open,
    });
    if (!message.ok) return message;
    if (message.value.role === "assistant") open.push(...message.value.calls);
    messages.push(message.value);
  }
  return ok(messages);
}

/** What no model here can take. */
export function imagesFailure(images: readonly unknown[] | null | undefined, param: string): Failure | undefined {
  if (!images || images.length === 0) return undefined;
  return { kind: "invalid", message: "image input is not supported", param, code: "unsupported_value" };
}

const checkMessage = checker(messageBody);
const checkCall = checker(callBody);

type Place = {
  readonly at: string;
  readonly source: string;
  /** Messages before this one. */
  readonly count: number;
  /** Calls that have no result yet. */
  readonly open: Call[];
};

function decodeMessage(value: unknown, place: Place): Result<Message, Failure> {
  const { at, open } = place;
  const checked = checkMessage(value, at);
  if (!checked.ok) return checked;
  const { role, images, thinking, tool_calls, tool_name, tool_call_id } = checked.value;
  const refusal = imagesFailure(images, `${at}.images`);
  if (refusal !== undefined) return fail(refusal);
  const content = checked.value.content ?? "";
  switch (role) {
    case "system":
    case "user":
      return ok({ role, content });
    case "assistant": {
      const calls = decodeCalls(tool_calls ?? [], place);
      if (!calls.ok) return calls;
      const absent = content === "" && calls.value.length > 0;
      return ok({
        role,
        content: absent ? undefined : content,
        reasoning: thinking || undefined,
        calls: calls.value,
      });
    }
    case "tool": {
      const call = answered(open, tool_call_id ?? undefined, tool_name ?? undefined);
      return ok({ role, content, callId: call.id, name: tool_name ?? undefined });
    }
    default:
      return role satisfies never;
  }
}

function decodeCalls(values: readonly unknown[], { at, source, count }: Place): Result<readonly Call[], Failure> {
  if (values.length === 0) return ok([]);
  const sources = sourceItems(sourceAt(source, ["tool_calls"]));
  const calls: Call[] = [];
  for (const [index, value] of values.entries()) {
    const call = checkCall(value, `${at}.tool_calls[${index}]`);
    if (!call.ok) return call;
    const { id, function: called } = call.value;
    calls.push({
      // Most clients send none: then the place is the id.
      id: id || `call_${count}_${index}`,
      name: called.name,
      arguments: argumentsText(called.arguments, () => sourceAt(sources[index] ?? "", ["function", "arguments"])),
    });
  }
  return ok(calls);
}

/** An object as it was written. Clients of other shapes send text, and what another model once wrote must not end a conversation. */
function argumentsText(value: unknown, source: () => string): string {
  if (value === undefined || value === null) return "{}";
  if (typeof value === "string") return value.trim() === "" ? "{}" : value;
  return source();
}

/** The call that a result belongs to: that of its id, else the first open one of its name, else the first open one; else one that nobody knows. */
function answered(open: Call[], id: string | undefined, name: string | undefined): { readonly id: string } {
  if (id) {
    const at = open.findIndex((call) => call.id === id);
    if (at >= 0) open.splice(at, 1);
    return { id };
  }
  const named = open.findIndex((call) => call.name === name);
  const [call] = open.splice(Math.max(0, named), 1);
  return call ?? { id: `call_${name ?? "unknown"}` };
}
