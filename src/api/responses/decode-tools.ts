import type { Failure } from "../../generation/failure.ts";
import type { GrammarSource } from "../../generation/grammar-source.ts";
import type { Tool, ToolChoice } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { sourceAt, sourceItems } from "../source.ts";
import { strictSchemaFailure } from "../strict-schema.ts";
import {
  allowedToolChoice,
  customTool,
  functionTool,
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
      return missing(named.value, tools) ?? ok({ mode: "named", name: named.value.name });
    }
    case "allowed_tools": {
      const allowed = checkAllowed(value, "tool_choice");
      if (!allowed.ok) return allowed;
      for (const reference of allowed.value.tools) {
        const failure = missing(reference, tools);
        if (failure !== undefined) return failure;
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
const checkFunction = checker(functionTool);
const checkCustom = checker(customTool);
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
    case "custom":
      return decodeCustom(value, at);
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
  const { name, description, parameters, strict } = tool.value;
  const param = `${at}.parameters`;
  const hasParameters = parameters !== undefined && parameters !== null;
  const refusal = strict && hasParameters ? strictSchemaFailure(parameters, `function '${name}'`, param) : undefined;
  if (refusal !== undefined) return fail(refusal);
  return ok({
    name,
    description: description ?? undefined,
    parameters: hasParameters ? sourceAt(source, ["parameters"]) : undefined,
    strict: strict ?? false,
    param,
    source: nested(tool.value, source),
  });
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

/** A tool that takes raw text. Templates know functions alone, so `source` shows it as one; the prompt explains the rest. */
function decodeCustom(value: unknown, at: string): Result<Tool, Failure> {
  const tool = checkCustom(value, at);
  if (!tool.ok) return tool;
  const { name, description, format } = tool.value;
  const param = `${at}.format`;
  const decoded = decodeCustomFormat(format ?? undefined, param);
  if (!decoded.ok) return decoded;
  return ok({
    name,
    description: description ?? undefined,
    parameters: undefined,
    strict: false,
    custom: { format: decoded.value },
    param,
    source: JSON.stringify({ type: "function", function: { name, description: description ?? undefined } }),
  });
}

function decodeCustomFormat(
  format: { readonly type: string } | undefined,
  at: string,
): Result<GrammarSource | undefined, Failure> {
  if (format === undefined || format.type === "text") return ok(undefined);
  if (format.type !== "grammar") {
    const message = `Invalid value for '${at}.type': expected 'text' or 'grammar'.`;
    return fail({ kind: "invalid", message, param: `${at}.type`, code: "invalid_value" });
  }
  const checked = checkGrammar(format, at);
  if (!checked.ok) return checked;
  return ok({ syntax: checked.value.syntax, text: checked.value.definition });
}

function missing(
  { type, name }: { readonly type: "function" | "custom"; readonly name: string },
  tools: readonly Tool[],
): { readonly ok: false; readonly failure: Failure } | undefined {
  const isCustom = type === "custom";
  if (tools.some((tool) => tool.name === name && (tool.custom !== undefined) === isCustom)) return undefined;
  // Without any tools the choice itself is what is wrong, and the same in every shape.
  return tools.length === 0 ? undefined : refuse(`Tool choice '${name}' not found in 'tools' parameter.`);
}

function refuse(message: string): { readonly ok: false; readonly failure: Failure } {
  return fail({ kind: "invalid", message, param: "tool_choice" });
}
