import type { Failure } from "../../generation/failure.ts";
import type { Tool, ToolChoice } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { sourceAt, sourceItems } from "../source.ts";
import { allowedToolChoice, functionTool, namedToolChoice, toolBody, toolChoiceObject } from "./schema.ts";

/** The tools of a chat body, each with the text of its schema. `text` is that of the array. */
export function decodeTools(values: readonly unknown[], text: string): Result<readonly Tool[], Failure> {
  const tools: Tool[] = [];
  for (const [index, source] of sourceItems(text).entries()) {
    const value = values[index];
    const at = `tools[${index}]`;
    const body = checkTool(value, at);
    if (!body.ok) return body;
    if (body.value.type !== "function") {
      return fail({
        kind: "invalid",
        message: `Invalid value for '${at}.type': only 'function' tools are supported.`,
        param: `${at}.type`,
        code: "unsupported_value",
      });
    }
    const checked = checkFunction(value, at);
    if (!checked.ok) return checked;
    const { name, description, parameters, strict } = checked.value.function;
    const hasParameters = parameters !== undefined && parameters !== null;
    tools.push({
      name,
      description: description ?? undefined,
      parameters: hasParameters ? sourceAt(source, ["function", "parameters"]) : undefined,
      strict: strict ?? false,
      param: `${at}.function.parameters`,
      source,
    });
  }
  return ok(tools);
}

/** Absent means auto; with or without tools, `none` and `auto` are always accepted. */
export function decodeToolChoice(value: unknown): Result<ToolChoice, Failure> {
  if (value === undefined) return ok({ mode: "auto" });
  return typeof value === "string" ? decodeMode(value) : decodeChoiceObject(value);
}

const checkTool = checker(toolBody);
const checkFunction = checker(functionTool);
const checkChoice = checker(toolChoiceObject);
const checkNamed = checker(namedToolChoice);
const checkAllowed = checker(allowedToolChoice);

function decodeMode(mode: string): Result<ToolChoice, Failure> {
  if (mode === "none" || mode === "auto" || mode === "required") return ok({ mode });
  return refuse("Invalid value for 'tool_choice': expected 'none', 'auto', 'required' or an object.");
}

function decodeChoiceObject(value: unknown): Result<ToolChoice, Failure> {
  const choice = checkChoice(value, "tool_choice");
  if (!choice.ok) return choice;
  if (choice.value.type === "allowed_tools") {
    const allowed = checkAllowed(value, "tool_choice");
    if (!allowed.ok) return allowed;
    const { mode, tools } = allowed.value.allowed_tools;
    const names = [...new Set(tools.map((tool) => tool.function.name))];
    return ok({ mode: "allowed", force: mode === "required", names });
  }
  if (choice.value.type !== "function") {
    return refuse("Invalid value for 'tool_choice.type': expected 'function' or 'allowed_tools'.");
  }
  const named = checkNamed(value, "tool_choice");
  return named.ok ? ok({ mode: "named", name: named.value.function.name }) : named;
}

function refuse(message: string): Result<never, Failure> {
  return fail({ kind: "invalid", message, param: "tool_choice" });
}
