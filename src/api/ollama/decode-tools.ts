import type { Static } from "@sinclair/typebox";
import type { Failure } from "../../generation/failure.ts";
import type { Tool, ToolChoice } from "../../generation/request.ts";
import { ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { sourceAt, sourceItems, sourceMembers } from "../source.ts";
import { functionTool, toolChoice } from "./schema.ts";

/** The tools of a chat, each with the text of its schema. `text` is that of the array. */
export function decodeTools(values: readonly unknown[], text: string): Result<readonly Tool[], Failure> {
  const tools: Tool[] = [];
  for (const [index, source] of sourceItems(text).entries()) {
    const at = `tools[${index}]`;
    const checked = checkTool(values[index], at);
    if (!checked.ok) return checked;
    const { name, description, parameters, strict } = checked.value.function;
    tools.push({
      name,
      description: description ?? undefined,
      parameters: parameters ? withoutNulls(sourceAt(source, ["function", "parameters"])) : undefined,
      strict: strict ?? false,
      param: `${at}.function.parameters`,
      source,
    });
  }
  return ok(tools);
}

/** Clients in Go write the parts of a schema that they leave out as null, and Ollama reads them so. */
function withoutNulls(schema: string): string {
  const members = [...sourceMembers(schema)];
  const kept = members.filter(([name, value]) => !(value === "null" && leftOut.has(name)));
  if (kept.length === members.length) return schema;
  return `{${kept.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(", ")}}`;
}

const leftOut = new Set(["$defs", "items", "properties", "required"]);

/** Not Ollama's: what OpenAI's chats have under this name. */
export function decodeToolChoice(value: unknown): Result<ToolChoice, Failure> {
  if (value === undefined || value === null) return ok({ mode: "auto" });
  const choice = checkChoice(value, "tool_choice");
  return choice.ok ? ok(choiceOf(choice.value)) : choice;
}

const checkTool = checker(functionTool);
const checkChoice = checker(toolChoice);

function choiceOf(choice: Static<typeof toolChoice>): ToolChoice {
  if (typeof choice === "string") return { mode: choice };
  if (choice.type === "function") return { mode: "named", name: choice.function.name };
  const { mode, tools } = choice.allowed_tools;
  const names = new Set(tools.map((tool) => tool.function.name));
  return { mode: "allowed", force: mode === "required", names: [...names] };
}
