import type { Failure } from "../generation/failure.ts";

/**
 * The first rule of OpenAI's strict subset that a schema breaks, as a failure with the rule and the place; `strict: true` asks for
 * the subset, and the hosted API refuses what lies outside. Source: OpenAI's guide on structured outputs, "supported schemas".
 * `subject` names whose schema it is: `function 'f'`.
 */
export function strictSchemaFailure(schema: unknown, subject: string, param: string): Failure | undefined {
  const broken = brokenRule(schema);
  if (broken === undefined) return undefined;
  const { pointer, keyword, rule } = broken;
  const where = pointer === "" ? "at its root" : `at '${pointer}'`;
  const message = `Invalid schema for ${subject}: with 'strict' set, ${rule}; this one breaks that ${where}.`;
  return { kind: "constraint", message, param, pointer, keyword };
}

type Broken = { readonly pointer: string; readonly keyword: string; readonly rule: string };

function brokenRule(schema: unknown): Broken | undefined {
  if (!isObject(schema)) return { pointer: "", keyword: "", rule: "the schema must be an object" };
  if ("anyOf" in schema) return { pointer: "", keyword: "anyOf", rule: "the root must not use 'anyOf'" };
  if (schema["type"] !== "object" && !("$ref" in schema))
    return { pointer: "", keyword: "type", rule: "the root must be of the type 'object'" };
  const pending: { readonly node: unknown; readonly pointer: string }[] = [{ node: schema, pointer: "" }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, pointer } = next;
    if (!isObject(node)) continue;
    const broken = brokenHere(node, pointer);
    if (broken !== undefined) return broken;
    pending.push(...children(node, pointer).reverse());
  }
  return undefined;
}

function brokenHere(node: JsonObject, pointer: string): Broken | undefined {
  const keyword = refusedKeywords.find((name) => name in node);
  if (keyword !== undefined) return { pointer, keyword, rule: `'${keyword}' is not permitted` };
  const { type, properties, required, additionalProperties } = node;
  const isObjectSchema = type === "object" || (Array.isArray(type) && type.includes("object")) || isObject(properties);
  if (!isObjectSchema) return undefined;
  if (additionalProperties !== false) {
    const rule = "'additionalProperties' must be supplied and false";
    return { pointer, keyword: "additionalProperties", rule };
  }
  const names = isObject(properties) ? Object.keys(properties) : [];
  const missing = names.find((name) => !Array.isArray(required) || !required.includes(name));
  if (missing === undefined) return undefined;
  const rule = `'required' must include every key of 'properties', '${missing}' too`;
  return { pointer, keyword: "required", rule };
}

const refusedKeywords = ["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"];

/** The sub-schemas that the subset knows. */
function children(node: JsonObject, pointer: string): { readonly node: unknown; readonly pointer: string }[] {
  const below = (value: unknown, ...steps: readonly (string | number)[]) => ({
    node: value,
    pointer: [pointer, ...steps.map(escaped)].join("/"),
  });
  const inside = (keyword: string) => {
    const value = node[keyword];
    const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
    return entries.map(([name, child]) => below(child, keyword, name));
  };
  return [
    ...["properties", "$defs", "definitions", "anyOf", "prefixItems"].flatMap(inside),
    ...(isObject(node["items"]) ? [below(node["items"], "items")] : []),
  ];
}

/** A step of an RFC 6901 pointer. */
function escaped(step: string | number): string {
  return String(step).replaceAll("~", "~0").replaceAll("/", "~1");
}

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
