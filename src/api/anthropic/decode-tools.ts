import type { Failure } from "../../generation/failure.ts";
import type { Tool, ToolChoice } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { sourceAt, sourceItems } from "../source.ts";
import { customTool, namedToolChoice, toolBody, toolChoice } from "./schema.ts";

/**
 * The tools of a body, in the form that templates know. `text` is that of the array. A tool whose loading is deferred is not there
 * before it was spoken of, which `known` tells.
 */
export function decodeTools(
  values: readonly unknown[],
  text: string,
  known: ReadonlySet<string>,
): Result<readonly Tool[], Failure> {
  const tools: Tool[] = [];
  for (const [index, source] of sourceItems(text).entries()) {
    const decoded = decodeTool(values[index], source, `tools[${index}]`);
    if (!decoded.ok) return decoded;
    const { tool, deferred } = decoded.value;
    if (!deferred || known.has(tool.name)) tools.push(tool);
  }
  return ok(tools);
}

export type Choice = { readonly toolChoice: ToolChoice; readonly parallelCalls: boolean };

export function decodeToolChoice(value: unknown): Result<Choice, Failure> {
  if (value === undefined || value === null) return ok({ toolChoice: { mode: "auto" }, parallelCalls: true });
  const choice = checkChoice(value, "tool_choice");
  if (!choice.ok) return choice;
  const parallelCalls = choice.value.disable_parallel_tool_use !== true;
  switch (choice.value.type) {
    case "auto":
    case "none":
      return ok({ toolChoice: { mode: choice.value.type }, parallelCalls });
    case "any":
      return ok({ toolChoice: { mode: "required" }, parallelCalls });
    case "tool": {
      const named = checkNamed(value, "tool_choice");
      return named.ok ? ok({ toolChoice: { mode: "named", name: named.value.name }, parallelCalls }) : named;
    }
    default:
      return fail({
        kind: "invalid",
        message: "Invalid value for 'tool_choice.type': expected 'auto', 'any', 'tool' or 'none'.",
        param: "tool_choice.type",
        code: "invalid_value",
      });
  }
}

const checkTool = checker(toolBody);
const checkCustom = checker(customTool);
const checkChoice = checker(toolChoice);
const checkNamed = checker(namedToolChoice);

function decodeTool(
  value: unknown,
  source: string,
  at: string,
): Result<{ readonly tool: Tool; readonly deferred: boolean }, Failure> {
  const body = checkTool(value, at);
  if (!body.ok) return body;
  const type = body.value.type ?? "custom";
  if (type !== "custom") {
    return fail({
      kind: "invalid",
      message: `'${type}' tools are not supported: only 'custom' ones, which the caller runs.`,
      param: `${at}.type`,
      code: "unsupported_value",
    });
  }
  const checked = checkCustom(value, at);
  if (!checked.ok) return checked;
  const { name, description, input_schema, strict, defer_loading } = checked.value;
  const hasSchema = input_schema !== undefined && input_schema !== null;
  const parameters = hasSchema ? sourceAt(source, ["input_schema"]) : undefined;
  const tool = {
    name,
    description: description ?? undefined,
    parameters,
    strict: strict ?? false,
    param: `${at}.input_schema`,
    source: functionText(name, description ?? undefined, parameters),
  };
  return ok({ tool, deferred: defer_loading ?? false });
}

/** What the same tool is in OpenAI's shape, so that a model reads the same bytes whichever shape it came in. */
function functionText(name: string, description: string | undefined, parameters: string | undefined): string {
  const members = [
    `"name":${JSON.stringify(name)}`,
    ...(description === undefined ? [] : [`"description":${JSON.stringify(description)}`]),
    ...(parameters === undefined ? [] : [`"parameters":${parameters}`]),
  ];
  return `{"type":"function","function":{${members.join(",")}}}`;
}
