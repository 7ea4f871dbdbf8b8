import type { Message, Request, Tool } from "../generation/request.ts";
import { isForced } from "../generation/tool-choice.ts";
import { hasText, withText } from "./content.ts";

/** The tools that the prompt shows: none for `none`, one for a named choice, all for every other. */
export function shownTools({ tools, toolChoice }: Pick<Request, "tools" | "toolChoice">): readonly Tool[] {
  switch (toolChoice.mode) {
    case "none":
      return [];
    case "named":
      return tools.filter((tool) => tool.name === toolChoice.name);
    case "auto":
    case "required":
    case "allowed":
      return tools;
  }
}

/** What a forced choice says to the model, in mlxcel's words; undefined where nothing is forced. */
export function instructionOf({ toolChoice }: Pick<Request, "toolChoice">): string | undefined {
  if (toolChoice.mode === "named") {
    return `You must call the '${toolChoice.name}' function to answer the user's request. Do not call any other function and do not answer directly.`;
  }
  if (!isForced(toolChoice)) return undefined;
  return "You must call one or more of the available functions to answer the user's request. Do not answer directly without calling a function.";
}

/**
 * The messages with `instruction` at the end of the first system message, else at the end of the last user message that carries
 * text, else in a new system message in front. The given messages stay as they are.
 */
export function withInstruction(messages: readonly Message[], instruction: string): readonly Message[] {
  const system = messages.findIndex(({ role }) => role === "system");
  const at =
    system >= 0 ? system : messages.findLastIndex((message) => message.role === "user" && hasText(message.content));
  const message = messages[at];
  if (message === undefined || (message.role !== "system" && message.role !== "user")) {
    return [{ role: "system", content: instruction }, ...messages];
  }
  return messages.with(at, { ...message, content: withText(message.content, instruction) });
}
