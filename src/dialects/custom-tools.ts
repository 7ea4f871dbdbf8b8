import type { Call, Tool } from "../generation/request.ts";

/**
 * A custom tool with free text is called like any other, with the text as its one argument: that is what models know. Only one
 * with a grammar takes raw input, which JSON could not hold.
 */
export function takesRawInput({ custom }: Pick<Tool, "custom">): boolean {
  return custom?.format !== undefined;
}

/** JSON Schema of the arguments that stand for free text. */
export const inputSchema =
  '{"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"], "additionalProperties": false}';

/** A call with free text in that form. */
export function withInputArgument({ id, name, arguments: input }: Call): Call {
  return { id, name, arguments: JSON.stringify({ input }) };
}
