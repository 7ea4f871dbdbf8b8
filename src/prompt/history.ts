import { createHash } from "node:crypto";
import type { Dialect } from "../dialects/dialect.ts";
import type { Call, Content, Message } from "../generation/request.ts";
import { readJson } from "../grammar/json-text.ts";
import { bodyBytesMax, bodyDepthMax } from "../limits.ts";
import type { Abilities } from "./abilities.ts";
import { plainText, withText } from "./content.ts";
import { callsText, resultText } from "./generic.ts";
import { withoutLateSystem } from "./late-system.ts";

import { Json, type TemplateValue } from "./values.ts";

/** The messages as a template with these abilities takes them; what it could not show is written into texts. */
export function templateMessages(
  messages: readonly Message[],
  abilities: Abilities,
  dialect: Dialect,
): readonly TemplateValue[] {
  let shown = messages;
  if (has(shown, "system") && !abilities.system) shown = withoutSystem(shown);
  else if (has(shown.slice(1), "system") && !abilities.lateSystem) shown = withoutLateSystem(shown);
  if (severalCalls(shown) && abilities.calls !== "none" && !abilities.manyCalls) shown = splitCalls(shown);
  if (has(shown, "tool") && !showsResults(abilities)) shown = withoutResults(shown);
  const names = new Map(messages.flatMap((message) => callsOf(message).map(({ id, name }) => [id, name] as const)));
  return shown.map((message) => templateMessage(message, { names, abilities, dialect }));
}

/** A template without any notion of calls prints a result as it prints anything, and the model sees no frame around it. */
function showsResults(abilities: Abilities): boolean {
  return abilities.results && (abilities.calls !== "none" || abilities.tools);
}

function has(messages: readonly Message[], role: Message["role"]): boolean {
  return messages.some((message) => message.role === role);
}

function severalCalls(messages: readonly Message[]): boolean {
  return messages.some((message) => callsOf(message).length > 1);
}

function callsOf(message: Message): readonly Call[] {
  return message.role === "assistant" ? message.calls : [];
}

type Context = {
  /** Of calls, by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly abilities: Abilities;
  readonly dialect: Dialect;
};

function templateMessage(message: Message, { names, abilities, dialect }: Context): TemplateValue {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: contentOf(message.content, abilities) };
    case "assistant":
      return assistantMessage(message, abilities, dialect);
    case "tool":
      return {
        role: "tool",
        tool_call_id: abilities.shortIds ? shortId(message.callId) : message.callId,
        name: message.name ?? names.get(message.callId),
        // Templates that take a user's parts print those of a result as the list that they are.
        content: plainText(message.content),
      };
  }
}

function contentOf(content: Content, abilities: Abilities): TemplateValue {
  return abilities.parts ? content : plainText(content);
}

type AssistantMessage = Extract<Message, { role: "assistant" }>;

function assistantMessage(
  { content, reasoning, calls }: AssistantMessage,
  abilities: Abilities,
  dialect: Dialect,
): TemplateValue {
  const text = content ?? "";
  // Templates know it by one of two names.
  const thinking = calls.length === 0 || text === "" || abilities.thoughts ? reasoning : undefined;
  const thoughts = { reasoning_content: reasoning, thinking };
  if (calls.length === 0) return { role: "assistant", content: contentOf(text, abilities), ...thoughts };
  // Raw input is nothing that a template could show.
  if (abilities.calls === "none" || calls.some(({ custom }) => custom)) {
    const written = callsText(calls, dialect);
    const whole = text === "" ? written : typeof text === "string" ? `${text}\n${written}` : withText(text, written);
    return { role: "assistant", content: contentOf(whole, abilities), ...thoughts };
  }
  const written = calls.map((call) => ({
    id: abilities.shortIds ? shortId(call.id) : call.id,
    type: "function",
    function: { name: call.name, arguments: abilities.calls === "text" ? call.arguments : argumentsOf(call) },
  }));
  return { role: "assistant", content: contentOf(text, abilities), ...thoughts, tool_calls: written };
}

/** The arguments as an object, whose order and digits are the caller's; as they came where they are no JSON. */
function argumentsOf(call: Call): TemplateValue {
  const json = readJson(call.arguments.trim() === "" ? "{}" : call.arguments, jsonBounds);
  return json.ok ? new Json(json.value.root) : call.arguments;
}

export const jsonBounds = { charactersMax: bodyBytesMax, depthMax: bodyDepthMax, duplicateKeys: "last" } as const;

/** Each call in a message of its own, followed by its result: a template that raises on several at once takes them so. */
function splitCalls(messages: readonly Message[]): readonly Message[] {
  const split: Message[] = [];
  const moved = new Set<Message>();
  for (const [index, message] of messages.entries()) {
    if (moved.has(message)) continue;
    if (message.role !== "assistant" || message.calls.length < 2) {
      split.push(message);
      continue;
    }
    for (const [position, call] of message.calls.entries()) {
      split.push({
        ...message,
        content: position === 0 ? message.content : undefined,
        reasoning: position === 0 ? message.reasoning : undefined,
        calls: [call],
      });
      const result = messages
        .slice(index + 1)
        .find((later) => later.role === "tool" && later.callId === call.id && !moved.has(later));
      if (result === undefined) continue;
      moved.add(result);
      split.push(result);
    }
  }
  return split;
}

/** Results in a message of the user, those that follow each other in one. */
function withoutResults(messages: readonly Message[]): readonly Message[] {
  const written: Message[] = [];
  let results: string[] = [];
  const flush = () => {
    if (results.length > 0) written.push({ role: "user", content: results.join("\n") });
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(resultText(message.content));
      continue;
    }
    flush();
    written.push(message);
  }
  flush();
  return written;
}

/** What system messages say, at the start of the first user message. */
function withoutSystem(messages: readonly Message[]): readonly Message[] {
  const rules = messages.flatMap(({ role, content }) =>
    role === "system" && content !== undefined ? [plainText(content)] : [],
  );
  const others = messages.filter(({ role }) => role !== "system");
  const at = others.findIndex(({ role }) => role === "user");
  const user = others[at];
  if (user?.role !== "user") return [{ role: "user", content: rules.join("\n\n") }, ...others];
  const content: Content =
    typeof user.content === "string"
      ? [...rules, user.content].join("\n\n")
      : [{ type: "text", text: `${rules.join("\n\n")}\n\n` }, ...user.content];
  return others.with(at, { ...user, content });
}

/** Mistral's ids: nine letters and digits, here from a hash, so that a call and its result stay together. */
function shortId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, 9);
}
