import { inputSchema, takesRawInput, withInputArgument } from "../dialects/custom-tools.ts";
import type { Dialect } from "../dialects/dialect.ts";
import type { Message, Tool } from "../generation/request.ts";

/** A custom tool as a function: templates know nothing else. The description of one that takes raw input says how it is called. */
export function explained(tool: Tool, dialect: Dialect): Tool {
  if (tool.custom === undefined) return tool;
  if (!takesRawInput(tool)) return asFunction({ ...tool, parameters: inputSchema });
  const { format } = tool.custom;
  const description = [
    ...(tool.description === undefined ? [] : [tool.description, ""]),
    "This tool takes raw text instead of JSON arguments. To call it, write:",
    dialect.customCall(tool.name, "the text"),
    ...(format !== undefined && "text" in format
      ? [`The text must fit this ${format.syntax} grammar:`, format.text]
      : []),
  ].join("\n");
  return asFunction({ ...tool, description });
}

/** Calls of custom tools as their tools are called; those of tools that are gone as if these took free text. */
export function withInputs(messages: readonly Message[], tools: readonly Tool[]): readonly Message[] {
  const raw = new Set(tools.filter(takesRawInput).map(({ name }) => name));
  return messages.map((message) => {
    if (message.role !== "assistant" || !message.calls.some(({ custom }) => custom)) return message;
    const calls = message.calls.map((call) => (call.custom && !raw.has(call.name) ? withInputArgument(call) : call));
    return { ...message, calls };
  });
}

function asFunction(tool: Tool): Tool {
  const { name, description, parameters } = tool;
  const described = { name, description, ...(parameters === undefined ? {} : { parameters: JSON.parse(parameters) }) };
  return { ...tool, source: JSON.stringify({ type: "function", function: described }) };
}
