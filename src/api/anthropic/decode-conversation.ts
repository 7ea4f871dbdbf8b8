import type { Failure } from "../../generation/failure.ts";
import type { Call, Content, Message } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { emptyInput } from "../empty-input.ts";
import { sourceAt, sourceItems } from "../source.ts";
import { withoutBillingHeader } from "./billing-header.ts";
import { type Block, contentOf, decodeBlocks, decodeText } from "./decode-content.ts";
import { messageBody, thinkingBlock, toolResultBlock, toolUseBlock } from "./schema.ts";
import { thoughtOf } from "./signature.ts";

export type Conversation = {
  readonly messages: readonly Message[];
  /** Text of the assistant's with which the answer goes on; not among the messages. */
  readonly prefill: string | undefined;
  /** Tools that were called, or named by the result of a search for tools. */
  readonly toolNames: ReadonlySet<string>;
};

/**
 * System, messages and blocks as one conversation. Turns of one role that follow each other are one turn, as the protocol has it, and a
 * result of a tool is a message of its own.
 */
export function decodeConversation(
  system: string | readonly unknown[] | undefined,
  values: readonly unknown[],
  body: JsonBody,
): Result<Conversation, Failure> {
  const turns = new Turns();
  const rules = decodeSystem(system ?? [], "system");
  if (!rules.ok) return rules;
  if (rules.value !== undefined) turns.add(rules.value);
  const sources = new CallSources(body.text);
  for (const [index, value] of values.entries()) {
    const decoded = decodeMessage(value, index, turns, sources);
    if (!decoded.ok) return decoded;
  }
  const empty = emptyInput(turns.messages, "messages");
  if (empty !== undefined) return fail(empty);
  const split = splitPrefill(turns.messages);
  return split.ok ? ok({ ...split.value, toolNames: turns.toolNames }) : split;
}

const checkMessage = checker(messageBody);
const checkThinking = checker(thinkingBlock);
const checkToolUse = checker(toolUseBlock);
const checkToolResult = checker(toolResultBlock);

type AssistantMessage = Extract<Message, { role: "assistant" }>;

/** Collects messages, joining those of one role, and knows the calls and tools that were spoken of. */
class Turns {
  readonly messages: Message[] = [];
  readonly callIds = new Set<string>();
  readonly toolNames = new Set<string>();

  add(message: Message): void {
    for (const { id, name } of message.role === "assistant" ? message.calls : []) {
      this.callIds.add(id);
      this.toolNames.add(name);
    }
    const last = this.messages.at(-1);
    const joined = last === undefined ? undefined : join(last, message);
    if (joined === undefined) this.messages.push(message);
    else this.messages[this.messages.length - 1] = joined;
  }
}

function join(first: Message, second: Message): Message | undefined {
  if (first.role === "assistant" && second.role === "assistant") {
    const texts = [...textsOf(first.content), ...textsOf(second.content)];
    const thoughts = [first.reasoning, second.reasoning].filter((thought) => thought !== undefined);
    return assistantOf(texts, thoughts, [...first.calls, ...second.calls]);
  }
  if ((first.role === "user" || first.role === "system") && second.role === first.role) {
    return { role: first.role, content: contentOf([...textsOf(first.content), ...textsOf(second.content)]) };
  }
  return undefined;
}

function textsOf(content: Content | undefined): readonly string[] {
  if (content === undefined) return [];
  return typeof content === "string" ? [content] : content.map(({ text }) => text);
}

function assistantOf(texts: readonly string[], thoughts: readonly string[], calls: readonly Call[]): AssistantMessage {
  return {
    role: "assistant",
    content: texts.length === 0 && calls.length > 0 ? undefined : contentOf(texts),
    reasoning: thoughts.length === 0 ? undefined : thoughts.join("\n"),
    calls,
  };
}

function decodeMessage(value: unknown, index: number, turns: Turns, sources: CallSources): Result<void, Failure> {
  const at = `messages[${index}]`;
  const message = checkMessage(value, at);
  if (!message.ok) return message;
  const { role, content } = message.value;
  if (role === "system") {
    const system = decodeSystem(content, `${at}.content`);
    if (!system.ok) return system;
    if (system.value !== undefined) turns.add(system.value);
    return done;
  }
  const blocks = decodeBlocks(content, `${at}.content`);
  if (!blocks.ok) return blocks;
  switch (role) {
    case "user":
      return decodeUser(blocks.value, turns);
    case "assistant": {
      const decoded = decodeAssistant(blocks.value, (position) => sources.inputOf(index, position));
      if (!decoded.ok) return decoded;
      turns.add(decoded.value);
      return done;
    }
    default:
      return fail({
        kind: "invalid",
        message: `Invalid value for '${at}.role': expected 'user', 'assistant' or 'system'.`,
        param: `${at}.role`,
        code: "invalid_value",
      });
  }
}

const done = ok(undefined);

/** Undefined when nothing is left of it. */
function decodeSystem(content: string | readonly unknown[], at: string): Result<Message | undefined, Failure> {
  const blocks = decodeBlocks(content, at);
  if (!blocks.ok) return blocks;
  const texts: string[] = [];
  for (const block of blocks.value) {
    const text = decodeText(block);
    if (!text.ok) return text;
    const said = withoutBillingHeader(text.value);
    if (said !== "") texts.push(said);
  }
  return ok(texts.length === 0 ? undefined : { role: "system", content: contentOf(texts) });
}

/** Texts and results in their order. */
function decodeUser(blocks: readonly Block[], turns: Turns): Result<void, Failure> {
  let texts: string[] = [];
  const flush = () => {
    if (texts.length > 0) turns.add({ role: "user", content: contentOf(texts) });
    texts = [];
  };
  for (const block of blocks) {
    if (block.type === "tool_result") {
      const result = decodeResult(block, turns);
      if (!result.ok) return result;
      flush();
      turns.add(result.value);
      continue;
    }
    const text = decodeText(block);
    if (!text.ok) return text;
    texts.push(text.value);
  }
  flush();
  return done;
}

function decodeResult({ value, at }: Block, { callIds, toolNames }: Turns): Result<Message, Failure> {
  const result = checkToolResult(value, at);
  if (!result.ok) return result;
  const { tool_use_id: callId, content, is_error } = result.value;
  if (!callIds.has(callId)) {
    return fail({
      kind: "invalid",
      message: `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${callId}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in a previous message.`,
      param: at,
    });
  }
  const blocks = decodeBlocks(content ?? [], `${at}.content`);
  if (!blocks.ok) return blocks;
  const texts: string[] = [];
  for (const block of blocks.value) {
    const text = decodeText(block);
    if (!text.ok) return text;
    if (block.type === "tool_reference") toolNames.add(text.value);
    texts.push(text.value);
  }
  return ok({ role: "tool", content: contentOf(is_error === true ? asError(texts) : texts), callId, name: undefined });
}

/** No template has a mark for a failed call, so that the text has to say it; most do so by themselves. */
function asError(texts: readonly string[]): readonly string[] {
  const [first = "", ...rest] = texts;
  return /^\W*error/i.test(first) ? texts : [`Error: ${first}`.trim(), ...rest];
}

function decodeAssistant(
  blocks: readonly Block[],
  inputOf: (position: number) => string,
): Result<AssistantMessage, Failure> {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: Call[] = [];
  for (const [position, block] of blocks.entries()) {
    const { type, value, at } = block;
    if (type === "thinking") {
      const checked = checkThinking(value, at);
      if (!checked.ok) return checked;
      const { thinking, signature } = checked.value;
      const thought = thoughtOf({ thinking, signature: signature ?? undefined });
      if (thought !== "") thoughts.push(thought);
    } else if (type === "tool_use") {
      const call = decodeCall(block, () => inputOf(position));
      if (!call.ok) return call;
      calls.push(call.value);
    } else if (type !== "redacted_thinking") {
      const text = decodeText(block);
      if (!text.ok) return text;
      texts.push(text.value);
    }
  }
  return ok(assistantOf(texts, thoughts, calls));
}

/**
 * A call of the history. Clients that gathered a stream by themselves may have its input as text, or none; what was written once stays
 * as it was.
 */
function decodeCall({ value, at }: Block, source: () => string): Result<Call, Failure> {
  const checked = checkToolUse(value, at);
  if (!checked.ok) return checked;
  const { id, name, input } = checked.value;
  if (input === undefined || input === null) return ok({ id, name, arguments: "{}" });
  if (typeof input === "string") return ok({ id, name, arguments: input.trim() === "" ? "{}" : input });
  if (typeof input === "object" && !Array.isArray(input)) return ok({ id, name, arguments: source() });
  return fail({
    kind: "invalid",
    message: `Invalid value for '${at}.input': expected an object.`,
    param: `${at}.input`,
    code: "invalid_value",
  });
}

/** The texts of inputs in the body, cut out when the first is asked for: most conversations have none. */
class CallSources {
  readonly #body: string;
  #messages: readonly string[] | undefined;

  constructor(body: string) {
    this.#body = body;
  }

  inputOf(message: number, position: number): string {
    this.#messages ??= sourceItems(sourceAt(this.#body, ["messages"]));
    const blocks = sourceItems(sourceAt(this.#messages[message] ?? "", ["content"]));
    return sourceAt(blocks[position] ?? "", ["input"]);
  }
}

/** The assistant's last word is the beginning of the answer. */
function splitPrefill(messages: readonly Message[]): Result<Omit<Conversation, "toolNames">, Failure> {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return ok({ messages, prefill: undefined });
  if (last.calls.length > 0) {
    const ids = last.calls.map(({ id }) => id).join(", ");
    return fail({
      kind: "invalid",
      message: `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}.`,
      param: "messages",
    });
  }
  if (last.reasoning !== undefined) {
    return fail({
      kind: "invalid",
      message: "The answer cannot go on from a last assistant message with thinking: only from text.",
      param: "messages",
    });
  }
  return ok({ messages: messages.slice(0, -1), prefill: textsOf(last.content).join("") });
}
