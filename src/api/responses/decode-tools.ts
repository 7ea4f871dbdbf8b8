import type { Failure } from "../../generation/failure.ts";
import type { Tool, ToolChoice } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { customTool, functionTool, offeredName } from "../openai-tools.ts";
import { sourceAt, sourceItems } from "../source.ts";
import {
  allowedToolChoice,
  customToolBody,
  functionToolBody,
  grammarFormat,
  toolBody,
  toolChoiceObject,
  toolReference,
} from "./schema.ts";

/** The tools of a body, each with the text of its schema. `text` is that of the array. */
export function decodeTools(values: readonly unknown[], text: string): Result<readonly Tool[], Failure> {
  const tools: Tool[] = [];
  for (const [index, source] of sourceItems(text).entries()) {
    const tool = decodeTool(values[index], source, `tools[${index}]`);
    if (!tool.ok) return tool;
    tools.push(tool.value);
  }
  return ok(tools);
}

/** Absent means auto; with or without tools, `none` and `auto` are always accepted. */
export function decodeToolChoice(value: unknown, tools: readonly Tool[]): Result<ToolChoice, Failure> {
  if (value === undefined) return ok({ mode: "auto" });
  if (typeof value === "string") {
    if (value === "none" || value === "auto" || value === "required") return ok({ mode: value });
    return refuse("Invalid value for 'tool_choice': expected 'none', 'auto', 'required' or an object.");
  }
  const choice = checkChoice(value, "tool_choice");
  if (!choice.ok) return choice;
  switch (choice.value.type) {
    case "function":
    case "custom": {
      const named = checkReference(value, "tool_choice");
      if (!named.ok) return named;
      const name = offeredName(named.value, tools);
      return name.ok ? ok({ mode: "named", name: name.value }) : name;
    }
    case "allowed_tools": {
      const allowed = checkAllowed(value, "tool_choice");
      if (!allowed.ok) return allowed;
      for (const reference of allowed.value.tools) {
        const name = offeredName(reference, tools);
        if (!name.ok) return name;
      }
      const names = [...new Set(allowed.value.tools.map(({ name }) => name))];
      return ok({ mode: "allowed", force: allowed.value.mode === "required", names });
    }
    default:
      return refuse(
        `Invalid value for 'tool_choice.type': '${choice.value.type}' is not supported; expected 'function', 'custom' or 'allowed_tools'.`,
      );
  }
}

const checkTool = checker(toolBody);
const checkFunction = checker(functionToolBody);
const checkCustom = checker(customToolBody);
const checkGrammar = checker(grammarFormat);
const checkChoice = checker(toolChoiceObject);
const checkReference = checker(toolReference);
const checkAllowed = checker(allowedToolChoice);

function decodeTool(value: unknown, source: string, at: string): Result<Tool, Failure> {
  const body = checkTool(value, at);
  if (!body.ok) return body;
  switch (body.value.type) {
    case "function":
      return decodeFunction(value, source, at);
    case "custom": {
      const tool = checkCustom(value, at);
      return tool.ok ? customTool(tool.value, at, checkGrammar) : tool;
    }
    default:
      return fail({
        kind: "invalid",
        message: `Invalid value for '${at}.type': tools of type '${body.value.type}' are not supported; only 'function' and 'custom' tools are, which the caller runs.`,
        param: `${at}.type`,
        code: "unsupported_value",
      });
  }
}

function decodeFunction(value: unknown, source: string, at: string): Result<Tool, Failure> {
  const tool = checkFunction(value, at);
  if (!tool.ok) return tool;
  return functionTool(tool.value, { at, described: source, source: nested(tool.value, source) });
}

/**
 * The tool as a chat completion has it, one level deeper, in its own text without nulls: that is how templates know tools, and the
 * same tool is the same prompt in every shape.
 */
function nested(tool: object, source: string): string {
  const members = Object.entries(tool)
    .filter(([key, value]) => key !== "type" && value !== null)
    .map(([key]) => `${JSON.stringify(key)}:${sourceAt(source, [key])}`);
  return `{"type":"function","function":{${members.join(",")}}}`;
}

function refuse(message: string): { readonly ok: false; readonly failure: Failure } {
  return fail({ kind: "invalid", message, param: "tool_choice" });
}
