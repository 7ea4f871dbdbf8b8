import type { Failure } from "../../generation/failure.ts";
import type { Tool, ToolChoice } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { customTool, functionTool, offeredName } from "../openai-tools.ts";
import { sourceAt, sourceItems } from "../source.ts";
import {
  allowedToolChoice,
  customToolBody,
  functionBody,
  functionToolBody,
  grammarFormat,
  namedCustom,
  namedFunction,
  namedLegacy,
  toolBody,
  toolChoiceObject,
} from "./schema.ts";

/** The tools of a chat body, each with the text of its schema. `text` is that of the array. */
export function decodeTools(values: readonly unknown[], text: string): Result<readonly Tool[], Failure> {
  return decodeEach(values, text, "tools", (value, source, at) => {
    const body = checkTool(value, at);
    if (!body.ok) return body;
    switch (body.value.type) {
      case "function": {
        const checked = checkFunctionTool(value, at);
        if (!checked.ok) return checked;
        const { function: described } = checked.value;
        return functionTool(described, { at: `${at}.function`, described: sourceAt(source, ["function"]), source });
      }
      case "custom": {
        const checked = checkCustom(value, at);
        return checked.ok ? customTool(checked.value.custom, `${at}.custom`, grammarOf) : checked;
      }
      default:
        return fail({
          kind: "invalid",
          message: `Invalid value for '${at}.type': expected 'function' or 'custom'.`,
          param: `${at}.type`,
          code: "unsupported_value",
        });
    }
  });
}

/** The `functions` of before there were tools. */
export function decodeFunctions(values: readonly unknown[], text: string): Result<readonly Tool[], Failure> {
  return decodeEach(values, text, "functions", (value, described, at) => {
    const checked = checkFunction(value, at);
    if (!checked.ok) return checked;
    return functionTool(checked.value, { at, described, source: `{"type":"function","function":${described}}` });
  });
}

/** Absent means auto; with or without tools, `none` and `auto` are always accepted. */
export function decodeToolChoice(value: unknown, tools: readonly Tool[]): Result<ToolChoice, Failure> {
  if (value === undefined) return ok({ mode: "auto" });
  if (value === "none" || value === "auto" || value === "required") return ok({ mode: value });
  if (typeof value === "string") {
    return refuse("Invalid value for 'tool_choice': expected 'none', 'auto', 'required' or an object.");
  }
  const choice = checkChoice(value, "tool_choice");
  if (!choice.ok) return choice;
  if (choice.value.type !== "allowed_tools") {
    const name = decodeReference(value, "tool_choice", { expected: "'function', 'custom' or 'allowed_tools'", tools });
    return name.ok ? ok({ mode: "named", name: name.value }) : name;
  }
  const allowed = checkAllowed(value, "tool_choice");
  if (!allowed.ok) return allowed;
  const { mode, tools: references } = allowed.value.allowed_tools;
  const names = new Set<string>();
  for (const [index, reference] of references.entries()) {
    const at = `tool_choice.allowed_tools.tools[${index}]`;
    const name = decodeReference(reference, at, { expected: "'function' or 'custom'", tools });
    if (!name.ok) return name;
    names.add(name.value);
  }
  return ok({ mode: "allowed", force: mode === "required", names: [...names] });
}

/** The `function_call` of before there were tools. */
export function decodeFunctionCall(value: unknown): Result<ToolChoice, Failure> {
  if (value === undefined || value === "auto") return ok({ mode: "auto" });
  if (value === "none") return ok({ mode: "none" });
  if (typeof value === "string") {
    const message = "Invalid value for 'function_call': expected 'none', 'auto' or an object.";
    return fail({ kind: "invalid", message, param: "function_call" });
  }
  const named = checkLegacy(value, "function_call");
  return named.ok ? ok({ mode: "named", name: named.value.name }) : named;
}

const checkTool = checker(toolBody);
const checkFunctionTool = checker(functionToolBody);
const checkFunction = checker(functionBody);
const checkCustom = checker(customToolBody);
const checkGrammar = checker(grammarFormat);
const checkChoice = checker(toolChoiceObject);
const checkNamedFunction = checker(namedFunction);
const checkNamedCustom = checker(namedCustom);
const checkAllowed = checker(allowedToolChoice);
const checkLegacy = checker(namedLegacy);

function decodeEach(
  values: readonly unknown[],
  text: string,
  field: string,
  decode: (value: unknown, source: string, at: string) => Result<Tool, Failure>,
): Result<readonly Tool[], Failure> {
  const tools: Tool[] = [];
  for (const [index, source] of sourceItems(text).entries()) {
    const tool = decode(values[index], source, `${field}[${index}]`);
    if (!tool.ok) return tool;
    tools.push(tool.value);
  }
  return ok(tools);
}

/** The grammar in `{"type": "grammar", "grammar": {…}}`. */
function grammarOf(format: object, param: string) {
  const checked = checkGrammar(format, param);
  return checked.ok ? ok(checked.value.grammar) : checked;
}

/** The name in `{"type": "function", "function": {"name"}}`, and the same of a custom tool: one of the tools, of that type. */
function decodeReference(
  value: unknown,
  at: string,
  { expected, tools }: { readonly expected: string; readonly tools: readonly Tool[] },
): Result<string, Failure> {
  const choice = checkChoice(value, at);
  if (!choice.ok) return choice;
  const { type } = choice.value;
  switch (type) {
    case "function": {
      const named = checkNamedFunction(value, at);
      return named.ok ? offeredName({ type, name: named.value.function.name }, tools) : named;
    }
    case "custom": {
      const named = checkNamedCustom(value, at);
      return named.ok ? offeredName({ type, name: named.value.custom.name }, tools) : named;
    }
    default:
      return refuse(`Invalid value for '${at}.type': expected ${expected}.`);
  }
}

function refuse(message: string): Result<never, Failure> {
  return fail({ kind: "invalid", message, param: "tool_choice" });
}
