/**
 * JSON Schema 2020-12 evaluated on values, keyword by keyword as the specification words it; slow and plain, and without a line of the
 * engine's. References go to `#` and to pointers into the same document; formats are annotations. Throws on any other reference.
 */
export function schemaJudge(root: Schema): (value: Json) => boolean {
  return (value) => evaluate({ root, depth: 0 }, root, value) !== undefined;
}

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };
export type Schema = boolean | JsonObject;

/** What a value's keywords have looked at: all names and indices that some subschema was applied to and accepted. */
type Evaluated = ReadonlySet<string | number>;
type Place = { readonly root: Schema; readonly depth: number };

/** Undefined: not valid. */
function evaluate(place: Place, schema: Json | undefined, value: Json): Evaluated | undefined {
  if (place.depth > depthMax) throw new Error("a schema refers to itself without end");
  if (schema === true) return new Set();
  if (!isObject(schema)) return undefined;
  const evaluated = new Set<string | number>();
  const inner = { ...place, depth: place.depth + 1 };
  const valid = (part: Json | undefined, of: Json) => evaluate(inner, part, of) !== undefined;
  /** Applies a subschema to the value itself and keeps what it evaluates. */
  const applies = (part: Json | undefined) => {
    const seen = evaluate(inner, part, value);
    for (const item of seen ?? []) evaluated.add(item);
    return seen !== undefined;
  };
  const own = isScalarValid(schema, value) && isInPlace({ schema, root: place.root, value }, applies, valid);
  if (!own) return undefined;
  if (Array.isArray(value) && !isArrayValid(schema, value, evaluated, valid)) return undefined;
  if (isObject(value) && !isObjectValid(schema, value, evaluated, valid)) return undefined;
  return evaluated;
}

type Valid = (part: Json | undefined, of: Json) => boolean;

/** What says something of the value by itself. */
function isScalarValid(schema: JsonObject, value: Json): boolean {
  const { type } = schema;
  if (type !== undefined && !list(type).some((name) => hasType(value, name))) return false;
  if (schema["const"] !== undefined && !isEqual(schema["const"], value)) return false;
  if (schema["enum"] !== undefined && !list(schema["enum"]).some((item) => isEqual(item, value))) return false;
  if (typeof value === "number") {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if (typeof minimum === "number" && value < minimum) return false;
    if (typeof maximum === "number" && value > maximum) return false;
    if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
    if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
    if (typeof multipleOf === "number" && !Number.isInteger(value / multipleOf)) return false;
  }
  if (typeof value === "string") {
    const { pattern } = schema;
    if (!isWithin([...value].length, schema["minLength"], schema["maxLength"])) return false;
    if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value)) return false;
  }
  return true;
}

/** What applies schemas to the value in its place. */
function isInPlace(
  { schema, root, value }: { readonly schema: JsonObject; readonly root: Schema; readonly value: Json },
  applies: (part: Json | undefined) => boolean,
  valid: Valid,
): boolean {
  const { $ref, allOf, anyOf, oneOf, not, dependentSchemas } = schema;
  if (typeof $ref === "string" && !applies(referred(root, $ref))) return false;
  if (allOf !== undefined && !list(allOf).every(applies)) return false;
  // Every branch counts for what it has evaluated, so none is left out.
  if (anyOf !== undefined && list(anyOf).filter(applies).length === 0) return false;
  if (oneOf !== undefined && list(oneOf).filter(applies).length !== 1) return false;
  if (not !== undefined && valid(not, value)) return false;
  if (schema["if"] !== undefined) {
    const branch = schema[applies(schema["if"]) ? "then" : "else"];
    if (branch !== undefined && !applies(branch)) return false;
  }
  if (isObject(dependentSchemas) && isObject(value)) {
    for (const [name, part] of Object.entries(dependentSchemas)) {
      if (Object.hasOwn(value, name) && !applies(part)) return false;
    }
  }
  return true;
}

function isArrayValid(
  schema: JsonObject,
  items: readonly Json[],
  evaluated: Set<string | number>,
  valid: Valid,
): boolean {
  const prefix = list(schema["prefixItems"] ?? []);
  for (const [i, item] of items.entries()) {
    const part = i < prefix.length ? prefix[i] : schema["items"];
    if (part === undefined) continue;
    if (!valid(part, item)) return false;
    evaluated.add(i);
  }
  const { contains } = schema;
  if (contains !== undefined) {
    const found = [...items.keys()].filter((i) => valid(contains, items[i] ?? null));
    if (!isWithin(found.length, schema["minContains"] ?? 1, schema["maxContains"])) return false;
    for (const i of found) evaluated.add(i);
  }
  if (!isWithin(items.length, schema["minItems"], schema["maxItems"])) return false;
  if (schema["uniqueItems"] === true && items.some((item, i) => items.slice(0, i).some((one) => isEqual(one, item)))) {
    return false;
  }
  const { unevaluatedItems } = schema;
  if (unevaluatedItems === undefined) return true;
  for (const [i, item] of items.entries()) {
    if (!evaluated.has(i) && !valid(unevaluatedItems, item)) return false;
    evaluated.add(i);
  }
  return true;
}

function isObjectValid(schema: JsonObject, value: JsonObject, evaluated: Set<string | number>, valid: Valid): boolean {
  const names = Object.keys(value);
  const properties = objectOf(schema["properties"]);
  const patterns = Object.entries(objectOf(schema["patternProperties"]));
  for (const [name, member] of Object.entries(value)) {
    const parts = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(name)).map(([, part]) => part);
    if (Object.hasOwn(properties, name)) parts.push(properties[name] ?? false);
    if (parts.length === 0 && schema["additionalProperties"] !== undefined) parts.push(schema["additionalProperties"]);
    if (!parts.every((part) => valid(part, member))) return false;
    if (parts.length > 0) evaluated.add(name);
    if (schema["propertyNames"] !== undefined && !valid(schema["propertyNames"], name)) return false;
  }
  const has = (name: Json) => typeof name === "string" && Object.hasOwn(value, name);
  if (!list(schema["required"] ?? []).every(has)) return false;
  for (const [name, needed] of Object.entries(objectOf(schema["dependentRequired"]))) {
    if (has(name) && !list(needed).every(has)) return false;
  }
  if (!isWithin(names.length, schema["minProperties"], schema["maxProperties"])) return false;
  const { unevaluatedProperties } = schema;
  if (unevaluatedProperties === undefined) return true;
  for (const [name, member] of Object.entries(value)) {
    if (!evaluated.has(name) && !valid(unevaluatedProperties, member)) return false;
    evaluated.add(name);
  }
  return true;
}

function referred(root: Schema, reference: string): Json | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) throw new Error(`this judge does not follow ${reference}`);
  let at: Json | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    at = Array.isArray(at) ? at[Number(key)] : isObject(at) ? at[key] : undefined;
  }
  if (at === undefined) throw new Error(`there is nothing at ${reference}`);
  return at;
}

function hasType(value: Json, name: Json): boolean {
  switch (name) {
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === name;
  }
}

function isEqual(a: Json, b: Json): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => isEqual(item, b[i] ?? null));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isEqual(a[name] ?? null, b[name] ?? null));
}

function isWithin(count: number, low: Json | undefined, high: Json | undefined): boolean {
  return !(typeof low === "number" && count < low) && !(typeof high === "number" && count > high);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function list(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value];
}

/** Subschemas inside one another, references included. */
const depthMax = 200;
