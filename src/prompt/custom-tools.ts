import type { Dialect } from "../dialects/dialect.ts";
import type { Tool } from "../generation/request.ts";

/** A tool that takes raw input, as a function whose description says how it is called: templates know nothing else. */
export function explained(tool: Tool, dialect: Dialect): Tool {
  if (tool.custom === undefined) return tool;
  const { format } = tool.custom;
  const description = [
    ...(tool.description === undefined ? [] : [tool.description, ""]),
    "This tool takes raw text instead of JSON arguments. To call it, write:",
    dialect.customCall(tool.name, "the text"),
    ...(format !== undefined && "text" in format
      ? [`The text must fit this ${format.syntax} grammar:`, format.text]
      : []),
  ].join("\n");
  const source = JSON.stringify({ type: "function", function: { name: tool.name, description } });
  return { ...tool, description, source };
}
