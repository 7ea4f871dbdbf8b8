import { Type } from "@sinclair/typebox";
import type { Failure } from "../generation/failure.ts";
import type { GrammarSource } from "../generation/grammar-source.ts";
import type { Tool } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { oneOf, open, optional } from "./fields.ts";
import { sourceAt } from "./source.ts";
import { strictSchemaFailure } from "./strict-schema.ts";

/** Tools as both of OpenAI's shapes describe them; in chats the description lies one level deeper. */

export const toolName = Type.String({
  pattern: "^[a-zA-Z0-9_-]{1,64}$",
  description: "a name of 1 to 64 letters, digits, '_' and '-'",
});

export const functionFields = {
  name: toolName,
  description: optional(Type.String()),
  parameters: optional(open({})),
  strict: optional(Type.Boolean()),
};
export const customFields = {
  name: toolName,
  description: optional(Type.String()),
  format: optional(open({ type: Type.String() })),
};
export const grammarFields = { syntax: oneOf(["lark", "regex"]), definition: Type.String({ minLength: 1 }) };

type Described = { readonly name: string; readonly description?: string | null };

type FunctionDescription = Described & { readonly parameters?: object | null; readonly strict?: boolean | null };

/** `at` is where the description stands in the body, `described` its text, `source` the tool's as templates know it. */
export function functionTool(
  { name, description, parameters, strict }: FunctionDescription,
  { at, described, source }: { readonly at: string; readonly described: string; readonly source: string },
): Result<Tool, Failure> {
  const param = `${at}.parameters`;
  const hasParameters = parameters !== undefined && parameters !== null;
  const refusal = strict && hasParameters ? strictSchemaFailure(parameters, `function '${name}'`, param) : undefined;
  if (refusal !== undefined) return fail(refusal);
  return ok({
    name,
    description: description ?? undefined,
    parameters: hasParameters ? sourceAt(described, ["parameters"]) : undefined,
    strict: strict ?? false,
    param,
    source,
  });
}

type Format = { readonly type: string };
type Grammar = { readonly syntax: "lark" | "regex"; readonly definition: string };

/**
 * A tool that takes raw text. Templates know functions alone, so `source` shows it as one; the prompt explains the rest. `grammarOf` finds the
 * grammar in a format that has one.
 */
export function customTool(
  { name, description = null, format }: Described & { readonly format?: Format | null },
  at: string,
  grammarOf: (format: Format, param: string) => Result<Grammar, Failure>,
): Result<Tool, Failure> {
  const param = `${at}.format`;
  const decoded = customFormat(format ?? { type: "text" }, param, grammarOf);
  if (!decoded.ok) return decoded;
  const described = { name, description: description ?? undefined };
  return ok({
    ...described,
    parameters: undefined,
    strict: false,
    custom: { format: decoded.value },
    param,
    source: JSON.stringify({ type: "function", function: described }),
  });
}

function customFormat(
  format: Format,
  param: string,
  grammarOf: (format: Format, param: string) => Result<Grammar, Failure>,
): Result<GrammarSource | undefined, Failure> {
  switch (format.type) {
    case "text":
      return ok(undefined);
    case "grammar": {
      const grammar = grammarOf(format, param);
      return grammar.ok ? ok({ syntax: grammar.value.syntax, text: grammar.value.definition }) : grammar;
    }
    default: {
      const message = `Invalid value for '${param}.type': expected 'text' or 'grammar'.`;
      return fail({ kind: "invalid", message, param: `${param}.type`, code: "invalid_value" });
    }
  }
}

/** The name of a tool that a choice refers to; a failure where no tool of that type has it. */
export function offeredName(
  { type, name }: { readonly type: "function" | "custom"; readonly name: string },
  tools: readonly Tool[],
): Result<string, Failure> {
  const isCustom = type === "custom";
  const isOffered = tools.some((tool) => tool.name === name && (tool.custom !== undefined) === isCustom);
  // Without any tools the choice itself is what is wrong, and the same in every shape.
  if (isOffered || tools.length === 0) return ok(name);
  const message = `Tool choice '${name}' not found in 'tools' parameter.`;
  return fail({ kind: "invalid", message, param: "tool_choice" });
}
