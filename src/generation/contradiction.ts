import type { Failure } from "./failure.ts";
import type { Request, ToolChoice } from "./request.ts";
import { isForced } from "./tool-choice.ts";

/**
 * What contradicts itself in a request, whichever shape it came in: known before any work is done. The texts are
 * those that clients of the hosted API know.
 */
export function contradictionOf({ tools, toolChoice, answer }: Request): Failure | undefined {
  if (isForced(toolChoice) && tools.length === 0) {
    return invalid("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.");
  }
  const missing = namesOf(toolChoice).find((name) => !tools.some((tool) => tool.name === name));
  if (missing !== undefined) return invalid(`Tool choice '${missing}' not found in 'tools' parameter.`);
  if (isForced(toolChoice) && answer.kind !== "text") {
    return invalid(
      `'tool_choice' forces a tool call and the answer's format asks for ${answer.kind}: two constraints cannot be composed.`,
    );
  }
  const names = new Set<string>();
  for (const { name, param } of tools) {
    if (names.has(name)) return invalid(`Tool names must be unique, but '${name}' is given more than once.`, param);
    names.add(name);
    if (name === "" || JSON.stringify(name) !== `"${name}"`) {
      return invalid(`Invalid tool name ${JSON.stringify(name)}: no dialect can write it.`, param);
    }
  }
  return undefined;
}

function namesOf(choice: ToolChoice): readonly string[] {
  if (choice.mode === "named") return [choice.name];
  return choice.mode === "allowed" ? choice.names : [];
}

function invalid(message: string, param = "tool_choice"): Failure {
  return { kind: "invalid", message, param };
}
