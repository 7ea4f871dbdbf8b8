import type { Failure } from "../generation/failure.ts";
import type { Message } from "../generation/request.ts";

/** What is said to a conversation in which nobody says, thinks or calls anything; `param` is the caller's name for it. */
export function emptyInput(messages: readonly Message[], param: string): Failure | undefined {
  if (messages.some(saysSomething)) return undefined;
  const message = "Request must include at least one non-empty message content or media input.";
  return { kind: "invalid", message, param };
}

function saysSomething(message: Message): boolean {
  if (message.role === "assistant" && (message.calls.length > 0 || (message.reasoning ?? "").trim() !== ""))
    return true;
  const { content } = message;
  if (content === undefined) return false;
  return typeof content === "string" ? content.trim() !== "" : content.some((part) => part.text.trim() !== "");
}
