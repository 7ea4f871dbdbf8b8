import type { Dialect } from "../dialects/dialect.ts";
import type { Call, Content, Message, Tool } from "../generation/request.ts";
import { plainText, withText } from "./content.ts";

/**
 * Tools for templates that know none: described in the system message, with calls and results in the frame of the
 * Hermes models, which is what the grammar then forces.
 */
export function withToolsDescribed(messages: readonly Message[], tools: readonly Tool[]): readonly Message[] {
  const described = description(tools);
  const at = messages.findIndex(({ role }) => role === "system");
  const system = messages[at];
  if (system?.role !== "system") return [{ role: "system", content: described }, ...messages];
  return messages.with(at, { ...system, content: withText(system.content, described) });
}

function description(tools: readonly Tool[]): string {
  return [
    "# Tools",
    "",
    "You can call functions to help with the user's request. These are the functions, one JSON object a line:",
    "<tools>",
    ...tools.map(({ source }) => source),
    "</tools>",
    "",
    "To call a function, write a JSON object with its name and its arguments between <tool_call> and </tool_call>:",
    "<tool_call>",
    '{"name": "the function\'s name", "arguments": {"an argument": "its value"}}',
    "</tool_call>",
  ].join("\n");
}

/** Calls as an answer writes them, one a line. */
export function callsText(calls: readonly Call[], dialect: Dialect): string {
  return calls
    .map((call) => {
      if (call.custom) return dialect.customCall(call.name, call.arguments);
      const [written] = dialect.encodings({ ...call, arguments: call.arguments.trim() || "{}" });
      if (written === undefined) throw new Error(`${dialect.name} writes no calls`);
      return written;
    })
    .join("\n");
}

export function resultText(content: Content): string {
  return `<tool_response>\n${plainText(content)}\n</tool_response>`;
}
