import { oneOf, type Random } from "../fixtures/random.ts";
import type { Json, JsonObject, Schema } from "./schema-judge.ts";
import { type Domain, namesOf, type Universe } from "./schema-universe.ts";

/** What a random schema is about: one keyword, or several that are hard together. */
export type Focus = { readonly name: string; readonly domain: Domain; readonly keywords: readonly Keyword[] };

/** A schema that has all keywords of the focus, and maybe others, that says something in this universe; to stand at `/allOf/0`. */
export function randomSchema(random: Random, { keywords }: Focus, universe: Universe): JsonObject {
  const draw = drawing(random, universe);
  const extra = random(3) === 0 ? draw.keyword() : {};
  return Object.assign({ $defs: { one: draw.subschema(0) } }, extra, ...keywords.map((name) => draw.keyword(name)));
}

type Keyword =
  | "type"
  | "const"
  | "enum"
  | "minimum"
  | "maximum"
  | "exclusiveMinimum"
  | "exclusiveMaximum"
  | "multipleOf"
  | "minLength"
  | "maxLength"
  | "pattern"
  | "items"
  | "prefixItems"
  | "contains"
  | "twoContains"
  | "minItems"
  | "maxItems"
  | "uniqueItems"
  | "unevaluatedItems"
  | "properties"
  | "required"
  | "additionalProperties"
  | "patternProperties"
  | "propertyNames"
  | "minProperties"
  | "maxProperties"
  | "dependentRequired"
  | "dependentSchemas"
  | "unevaluatedProperties"
  | "allOf"
  | "anyOf"
  | "oneOf"
  | "notObject"
  | "not"
  | "if"
  | "$ref";

const numberKeywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const;
const stringKeywords = ["minLength", "maxLength", "pattern"] as const;
const arrayKeywords = [
  "items",
  "prefixItems",
  "contains",
  "minItems",
  "maxItems",
  "uniqueItems",
  "unevaluatedItems",
] as const;
const objectKeywords = [
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
] as const;
const anyKeywords = ["type", "const", "enum", "allOf", "anyOf", "oneOf", "not", "if", "$ref"] as const;

const domains = ["scalar", "array", "object"] as const;

/** One for each keyword, and those that meet one another. Keywords of every domain come once for each. */
export const focuses: readonly Focus[] = [
  ...numberKeywords.map((name): Focus => ({ name, domain: "number", keywords: [name] })),
  ...stringKeywords.map((name): Focus => ({ name, domain: "string", keywords: [name] })),
  ...arrayKeywords.map((name): Focus => ({ name, domain: "array", keywords: [name] })),
  ...objectKeywords.map((name): Focus => ({ name, domain: "object", keywords: [name] })),
  ...anyKeywords.flatMap((name) =>
    domains.map((domain): Focus => ({ name: `${name} (${domain})`, domain, keywords: [name] })),
  ),
  { name: "minContains, maxContains", domain: "array", keywords: ["contains", "minItems"] },
  { name: "two contains", domain: "array", keywords: ["twoContains"] },
  { name: "uniqueItems + prefixItems", domain: "array", keywords: ["uniqueItems", "prefixItems"] },
  { name: "uniqueItems + contains", domain: "array", keywords: ["uniqueItems", "contains"] },
  { name: "unevaluatedItems + anyOf", domain: "array", keywords: ["unevaluatedItems", "anyOf"] },
  { name: "unevaluatedProperties + anyOf", domain: "object", keywords: ["unevaluatedProperties", "anyOf"] },
  { name: "unevaluatedProperties + if", domain: "object", keywords: ["unevaluatedProperties", "if"] },
  { name: "not over objects", domain: "object", keywords: ["notObject"] },
  { name: "dependentRequired + maxProperties", domain: "object", keywords: ["dependentRequired", "maxProperties"] },
  { name: "dependentSchemas + required", domain: "object", keywords: ["dependentSchemas", "required"] },
  {
    name: "patternProperties + additionalProperties",
    domain: "object",
    keywords: ["patternProperties", "additionalProperties"],
  },
  { name: "propertyNames + minProperties", domain: "object", keywords: ["propertyNames", "minProperties"] },
  { name: "oneOf + properties", domain: "object", keywords: ["oneOf", "properties"] },
  { name: "multipleOf + bounds", domain: "number", keywords: ["multipleOf", "minimum", "exclusiveMaximum"] },
  { name: "pattern + length", domain: "string", keywords: ["pattern", "minLength", "maxLength"] },
];

function drawing(random: Random, { letters, values }: Universe) {
  const [a, b] = letters;
  // What is listed has one spelling only, and that is not what is tested here.
  const listed = values.filter((value) => !JSON.stringify(value).includes("\\"));
  const names = namesOf(letters);
  const half = () => (random(11) - 4) / 2;
  const count = () => random(4);
  const name = () => oneOf(random, names);
  const several = <T>(max: number, one: () => T): readonly T[] => Array.from({ length: 1 + random(max) }, one);
  const pattern = () =>
    oneOf(random, [
      a,
      `^${a}`,
      `${b}$`,
      `^(${a}|${b})$`,
      `^[^${a}]*$`,
      `^${a}?${b}?$`,
      `^(?!${a})`,
      `(?=${b})..`,
      "^.{2}$",
      "^.?$",
    ]);
  const scalar = (): Json => oneOf(random, [null, true, false, 1, 2, 1.5, -1, "", a, b, a + b]);
  const value = (): Json => {
    if (random(2) === 0) return oneOf(random, listed);
    if (random(4) > 0) return scalar();
    return random(2) === 0
      ? several(2, scalar).slice(random(2))
      : Object.fromEntries(several(2, name).map((key) => [key, scalar()]));
  };
  const typeNames = () =>
    several(3, () => oneOf(random, ["null", "boolean", "integer", "number", "string", "array", "object"]));
  const members = (depth: number, key = name): JsonObject =>
    Object.fromEntries(several(2, key).map((one) => [one, subschema(depth)]));
  const branches = (depth: number) => several(3, () => subschema(depth));

  function subschema(depth: number): Schema {
    const pick = random(8);
    if (pick === 0) return true;
    if (pick === 1) return oneOf(random, [false, true]);
    if (depth <= 0 || pick < 4)
      return oneOf(random, [() => ({ type: [...new Set(typeNames())] }), () => ({ const: scalar() }), simple])();
    return Object.assign({}, ...several(2, () => keyword(undefined, depth - 1)));
  }

  const simple = (): JsonObject => keyword(oneOf(random, [...numberKeywords, ...stringKeywords, "enum"]), 0);

  function keyword(given?: Keyword, depth = 2): JsonObject {
    const chosen =
      given ??
      oneOf(random, oneOf(random, [numberKeywords, stringKeywords, arrayKeywords, objectKeywords, anyKeywords]));
    const one = () => subschema(depth - 1);
    switch (chosen) {
      case "type":
        return { type: [...new Set(typeNames())] };
      case "const":
        return { const: value() };
      case "enum":
        return { enum: several(4, value) };
      case "minimum":
      case "maximum":
      case "exclusiveMinimum":
      case "exclusiveMaximum":
        return { [chosen]: half() };
      case "multipleOf":
        return { multipleOf: oneOf(random, [0.5, 1, 1.5, 2, 2.5, 3]) };
      case "minLength":
      case "maxLength":
      case "minItems":
      case "maxItems":
      case "minProperties":
      case "maxProperties":
        return { [chosen]: count() };
      case "pattern":
        return { pattern: pattern() };
      case "items":
      case "unevaluatedItems":
      case "additionalProperties":
      case "unevaluatedProperties":
      case "not":
        return { [chosen]: one() };
      case "prefixItems":
        return { prefixItems: branches(depth - 1) };
      case "contains":
        return {
          contains: one(),
          ...(random(2) === 0 ? { minContains: count() } : {}),
          ...(random(2) === 0 ? { maxContains: count() } : {}),
        };
      case "twoContains":
        return { allOf: [keyword("contains", depth), keyword("contains", depth)] };
      case "uniqueItems":
        return { uniqueItems: true };
      case "properties":
      case "dependentSchemas":
        return { [chosen]: members(depth - 1) };
      case "required":
        return { required: [...new Set(several(2, name))] };
      case "patternProperties":
        return { patternProperties: members(depth - 1, pattern) };
      case "propertyNames":
        return {
          propertyNames: oneOf(random, [
            () => ({ pattern: pattern() }),
            () => ({ enum: several(2, name) }),
            () => ({ minLength: 1 }),
            one,
          ])(),
        };
      case "dependentRequired":
        return {
          dependentRequired: Object.fromEntries(several(2, name).map((key) => [key, [...new Set(several(2, name))]])),
        };
      case "allOf":
      case "anyOf":
      case "oneOf":
        return { [chosen]: branches(depth - 1) };
      case "notObject":
        return { not: keyword(oneOf(random, objectKeywords), depth) };
      case "if":
        return { if: one(), [then]: one(), ...(random(2) === 0 ? { else: one() } : {}) };
      case "$ref":
        return { $ref: "#/allOf/0/$defs/one" };
      default:
        return chosen satisfies never;
    }
  }
  return { keyword, subschema };
}

/** A name that object literals had better not have: whoever awaits one would call it. */
const then = "then";
