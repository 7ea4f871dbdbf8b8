import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { unsupportedPart } from "../unsupported-part.ts";
import { type InputText, type Item, idPrefixes, type OutputMessage, outputText } from "./items.ts";
import {
  callOutputItem,
  contentPart,
  customToolCallItem,
  functionCallItem,
  itemBody,
  itemReference,
  messageItem,
  reasoningItem,
  refusalPart,
  textPart,
} from "./schema.ts";

/**
 * The `input` of a body → items with every field that they have when they are listed. `stored` finds what an item_reference names.
 */
export function decodeItems(
  input: string | readonly unknown[],
  stored: (id: string) => Item | undefined,
): Result<readonly Item[], Failure> {
  if (typeof input === "string") return ok([userMessage(input)]);
  const items: Item[] = [];
  for (const [index, value] of input.entries()) {
    const item = decodeItem(value, `input[${index}]`, stored);
    if (!item.ok) return item;
    items.push(item.value);
  }
  return ok(items);
}

const checkItem = checker(itemBody);
const checkMessage = checker(messageItem);
const checkFunctionCall = checker(functionCallItem);
const checkCustomCall = checker(customToolCallItem);
const checkCallOutput = checker(callOutputItem);
const checkReasoning = checker(reasoningItem);
const checkReference = checker(itemReference);
const checkPart = checker(contentPart);
const checkText = checker(textPart);
const checkRefusal = checker(refusalPart);

function decodeItem(value: unknown, at: string, stored: (id: string) => Item | undefined): Result<Item, Failure> {
  const body = checkItem(value, at);
  if (!body.ok) return body;
  const { id, role } = body.value;
  // Both of the protocol's forms that may leave out their type.
  const type = body.value.type ?? (role === undefined || role === null ? "item_reference" : "message");
  switch (type) {
    case "message":
      return decodeMessage(value, at, id ?? newId("message"));
    case "function_call": {
      const call = checkFunctionCall(value, at);
      if (!call.ok) return call;
      const { call_id, name } = call.value;
      // Anything else: what another model once wrote must not end a conversation. Some clients write no arguments as "".
      const text = call.value.arguments.trim() === "" ? "{}" : call.value.arguments;
      return ok({ id: id ?? newId(type), type, status: "completed", call_id, name, arguments: text });
    }
    case "custom_tool_call": {
      const call = checkCustomCall(value, at);
      if (!call.ok) return call;
      const { call_id, name, input } = call.value;
      return ok({ id: id ?? newId(type), type, status: "completed", call_id, name, input });
    }
    case "function_call_output":
    case "custom_tool_call_output":
      return decodeCallOutput(value, at, { type, id: id ?? newId(type) });
    case "reasoning":
      return decodeReasoning(value, at, id ?? newId(type));
    case "item_reference": {
      const reference = checkReference(value, at);
      if (!reference.ok) return reference;
      const item = stored(reference.value.id);
      if (item !== undefined) return ok(item);
      const message = `Item with id '${reference.value.id}' not found.`;
      return fail({ kind: "invalid", message, param: `${at}.id`, code: "item_not_found" });
    }
    default:
      return fail({
        kind: "invalid",
        message: `Invalid value for '${at}.type': items of type '${type}' are not supported.`,
        param: `${at}.type`,
        code: "unsupported_value",
      });
  }
}

function decodeMessage(value: unknown, at: string, id: string): Result<Item, Failure> {
  const message = checkMessage(value, at);
  if (!message.ok) return message;
  const { role, content, phase } = message.value;
  if (role !== "assistant") {
    const parts = decodeTexts(content, `${at}.content`);
    return parts.ok ? ok({ id, type: "message", status: "completed", role, content: parts.value }) : parts;
  }
  const said = decodeSaid(content, `${at}.content`);
  if (!said.ok) return said;
  const labelled = phase === undefined || phase === null ? {} : { phase };
  return ok({ id, type: "message", status: "completed", role, content: said.value, ...labelled });
}

function decodeSaid(content: string | readonly unknown[], at: string): Result<OutputMessage["content"], Failure> {
  if (typeof content === "string") return ok([outputText(content)]);
  const parts: OutputMessage["content"][number][] = [];
  for (const [index, value] of content.entries()) {
    const part = checkPart(value, `${at}[${index}]`);
    if (!part.ok) return part;
    if (part.value.type === "refusal") {
      const refusal = checkRefusal(value, `${at}[${index}]`);
      if (!refusal.ok) return refusal;
      parts.push({ type: "refusal", refusal: refusal.value.refusal });
      continue;
    }
    const text = decodeText(value, `${at}[${index}]`);
    if (!text.ok) return text;
    parts.push(outputText(text.value));
  }
  return ok(parts);
}

function decodeCallOutput(
  value: unknown,
  at: string,
  { type, id }: { readonly type: "function_call_output" | "custom_tool_call_output"; readonly id: string },
): Result<Item, Failure> {
  const checked = checkCallOutput(value, at);
  if (!checked.ok) return checked;
  const { call_id, output, name } = checked.value;
  const parts = typeof output === "string" ? ok(output) : decodeTexts(output, `${at}.output`);
  if (!parts.ok) return parts;
  const named = type === "function_call_output" && typeof name === "string" ? { name } : {};
  return ok({ id, type, status: "completed", call_id, output: parts.value, ...named });
}

function decodeReasoning(value: unknown, at: string, id: string): Result<Item, Failure> {
  const checked = checkReasoning(value, at);
  if (!checked.ok) return checked;
  const { summary, content, encrypted_content: sealed } = checked.value;
  return ok({
    id,
    type: "reasoning",
    status: "completed",
    summary: (summary ?? []).map(({ text }) => ({ type: "summary_text", text })),
    ...(content ? { content: content.map(({ text }) => ({ type: "reasoning_text", text })) } : {}),
    ...(sealed ? { encrypted_content: sealed } : {}),
  });
}

function decodeTexts(content: string | readonly unknown[], at: string): Result<readonly InputText[], Failure> {
  if (typeof content === "string") return ok([inputText(content)]);
  const parts: InputText[] = [];
  for (const [index, value] of content.entries()) {
    const text = decodeText(value, `${at}[${index}]`);
    if (!text.ok) return text;
    parts.push(inputText(text.value));
  }
  return ok(parts);
}

/** The protocol's parts that no model here can take, by their `type`. */
const unsupportedParts: ReadonlyMap<string, string> = new Map([
  ["input_image", "image"],
  ["input_file", "file"],
  ["input_audio", "audio"],
  ["input_video", "video"],
]);

function decodeText(value: unknown, at: string): Result<string, Failure> {
  const part = checkPart(value, at);
  if (!part.ok) return part;
  const { type } = part.value;
  if (type === "input_text" || type === "output_text" || type === "text") {
    const text = checkText(value, at);
    return text.ok ? ok(text.value.text) : text;
  }
  return fail(unsupportedPart(type, unsupportedParts, at));
}

function userMessage(text: string): Item {
  return { id: newId("message"), type: "message", status: "completed", role: "user", content: [inputText(text)] };
}

function inputText(text: string): InputText {
  return { type: "input_text", text };
}

function newId(type: Item["type"]): string {
  return `${idPrefixes[type]}_${crypto.randomUUID().replaceAll("-", "")}`;
}
