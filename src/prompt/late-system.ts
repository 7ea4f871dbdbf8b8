import type { Content, Message } from "../generation/request.ts";

/**
 * The messages for a template that shows one system message, at the start: those that follow it directly join it, and each later one joins
 * the user message after it, or else the one before it, or becomes one. Nothing of them is lost, and their place is kept.
 */
export function withoutLateSystem(messages: readonly Message[]): readonly Message[] {
  const shown: Message[] = [];
  /** What was said since the last message of another role. */
  let late: Content[] = [];
  for (const message of messages) {
    const last = shown.at(-1);
    if (message.role === "system") {
      if (last === undefined) shown.push(message);
      else if (last.role === "system")
        shown[shown.length - 1] = { ...last, content: joined(last.content, message.content) };
      else late.push(message.content);
      continue;
    }
    if (message.role === "user" && late.length > 0) {
      shown.push({
        ...message,
        content: late.reduceRight((content, before) => joined(before, content), message.content),
      });
    } else {
      settle(shown, late);
      shown.push(message);
    }
    late = [];
  }
  settle(shown, late);
  return shown;
}

/** Puts what no user message follows at the end of the one before, or behind it. */
function settle(shown: Message[], late: readonly Content[]): void {
  for (const content of late) {
    const last = shown.at(-1);
    if (last?.role === "user") shown[shown.length - 1] = { ...last, content: joined(last.content, content) };
    else shown.push({ role: "user", content });
  }
}

function joined(first: Content, second: Content): Content {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [...partsOf(first), ...partsOf(second)];
}

function partsOf(content: Content): Exclude<Content, string> {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
