import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";

/**
 * Compiles a TypeBox schema into a check of unknown input, whose failure names the first wrong field as the caller
 * would write it: `messages[0].content`. `at` is where the value stands in the body.
 */
export function checker<T extends TSchema>(schema: T): (value: unknown, at?: string) => Result<Static<T>, Failure> {
  const compiled = TypeCompiler.Compile(schema);
  return (value, at = "") => {
    if (compiled.Check(value)) return ok(value);
    const error = compiled.Errors(value).First();
    if (error === undefined) throw new Error("a failed check has no error");
    return fail(failureOf(innermost(error), at));
  };
}

/** Appends a JSON pointer to the name of a field: ("tools[0]", "/function/name") → "tools[0].function.name". */
function paramOf(at: string, pointer: string): string {
  const names = pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce((path, name) => {
    if (/^\d+$/.test(name)) return `${path}[${name}]`;
    return path === "" ? name : `${path}.${name}`;
  }, at);
}

/** Of `X | null`, what is wrong with it as an X. */
function innermost(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union || error.schema.description !== undefined) return error;
  for (const alternative of error.errors) {
    const inner = alternative.First();
    if (inner !== undefined && inner.type !== ValueErrorType.Null) return innermost(inner);
  }
  return error;
}

function failureOf(error: ValueError, at: string): Failure {
  const param = paramOf(at, error.path);
  if (error.value === undefined) {
    return {
      kind: "invalid",
      message: `Missing required parameter: '${param}'.`,
      param,
      code: "missing_required_parameter",
    };
  }
  const name = param === "" ? "the request body" : `'${param}'`;
  const expected = expectation(error.schema);
  const found = kindOf(error.value);
  const wrongType =
    expected.type !== undefined && expected.type !== found && !(expected.type === "integer" && found === "number");
  return {
    kind: "invalid",
    message: wrongType
      ? `Invalid type for ${name}: expected ${expected.text}, but got ${article(found)} instead.`
      : `Invalid value for ${name}: expected ${expected.text}.`,
    ...(param === "" ? {} : { param }),
    code: wrongType ? "invalid_type" : "invalid_value",
  };
}

/** What a schema asks for, in words; its own `description` may ask for more than a type. */
function expectation(schema: TSchema): { readonly type: string | undefined; readonly text: string } {
  if (schema.description !== undefined) return { type: undefined, text: schema.description };
  const type = String(schema.type);
  return { type, text: `${article(type)}${boundsOf(schema)}` };
}

function boundsOf(schema: TSchema): string {
  const { minimum, exclusiveMinimum, maximum, minItems, maxItems } = schema;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (exclusiveMinimum !== undefined && maximum !== undefined)
    return ` greater than ${exclusiveMinimum}, up to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  if (maxItems !== undefined) return ` of ${minItems ?? 0} to ${maxItems} items`;
  if (minItems !== undefined) return ` of at least ${minItems} item${minItems === 1 ? "" : "s"}`;
  return "";
}

function article(type: string): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
