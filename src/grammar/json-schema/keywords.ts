import type { JsonObject, JsonText } from "../json-text.ts";
import { type Draft, type DraftName, knownIn } from "./draft.ts";

/**
 * Every keyword of the drafts and what becomes of it: enforced, an annotation (it never constrains), or refused (it would
 * constrain, and cannot be enforced yet). Keywords that a draft does not know are annotations there, as the specification says.
 */
export type Keyword = {
  readonly status: "enforced" | "annotation" | "refused";
  readonly since: DraftName;
  readonly until: DraftName;
  /** The JSON type whose values it constrains; it says nothing about others. */
  readonly of: "any" | "number" | "string" | "array" | "object";
  /** Where its value holds schemas. */
  readonly holds?: "schema" | "schemas" | "map";
  /** Values with which, beside these siblings, a refused keyword constrains nothing more than an enforced one would. */
  readonly harmless?: (value: JsonText, siblings: JsonObject["entries"]) => boolean;
};

export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  // Structure
  ["$schema", { ...all("enforced"), of: "any" }],
  ["$id", { ...from("enforced", "draft-06"), of: "any" }],
  ["id", { ...all("enforced"), until: "draft-04", of: "any" }],
  ["$anchor", { ...from("enforced", "2019-09"), of: "any" }],
  ["$ref", { ...all("enforced"), of: "any" }],
  ["$defs", { ...from("enforced", "2019-09"), of: "any", holds: "map" }],
  ["definitions", { ...all("enforced"), of: "any", holds: "map" }],
  ["$recursiveRef", { ...from("refused", "2019-09"), until: "2019-09", of: "any" }],
  ["$recursiveAnchor", { ...from("annotation", "2019-09"), until: "2019-09", of: "any" }],
  ["$dynamicRef", { ...from("refused", "2020-12"), of: "any" }],
  ["$dynamicAnchor", { ...from("enforced", "2020-12"), of: "any" }],
  ["$vocabulary", { ...from("annotation", "2019-09"), of: "any" }],
  ["$comment", { ...from("annotation", "draft-07"), of: "any" }],

  // Any type
  ["type", { ...all("enforced"), of: "any" }],
  ["enum", { ...all("enforced"), of: "any" }],
  ["const", { ...from("enforced", "draft-06"), of: "any" }],
  ["allOf", { ...all("enforced"), of: "any", holds: "schemas" }],
  ["anyOf", { ...all("enforced"), of: "any", holds: "schemas" }],
  ["oneOf", { ...all("refused"), of: "any", holds: "schemas", harmless: isSingle }],
  ["not", { ...all("refused"), of: "any", holds: "schema", harmless: isFalse }],
  ["if", { ...from("refused", "draft-07"), of: "any", holds: "schema", harmless: without("then", "else") }],
  ["then", { ...from("refused", "draft-07"), of: "any", holds: "schema", harmless: without("if") }],
  ["else", { ...from("refused", "draft-07"), of: "any", holds: "schema", harmless: without("if") }],

  // Numbers
  ["minimum", { ...all("enforced"), of: "number" }],
  ["maximum", { ...all("enforced"), of: "number" }],
  ["exclusiveMinimum", { ...all("enforced"), of: "number" }],
  ["exclusiveMaximum", { ...all("enforced"), of: "number" }],
  ["multipleOf", { ...all("refused"), of: "number" }],

  // Strings
  ["minLength", { ...all("enforced"), of: "string" }],
  ["maxLength", { ...all("enforced"), of: "string" }],
  ["pattern", { ...all("refused"), of: "string" }],
  ["format", { ...all("refused"), of: "string", harmless: isUnknownFormat }],

  // Arrays
  ["items", { ...all("enforced"), of: "array", holds: "schema" }],
  ["prefixItems", { ...from("enforced", "2020-12"), of: "array", holds: "schemas" }],
  ["additionalItems", { ...all("enforced"), until: "2019-09", of: "array", holds: "schema" }],
  ["minItems", { ...all("enforced"), of: "array" }],
  ["maxItems", { ...all("enforced"), of: "array" }],
  ["uniqueItems", { ...all("refused"), of: "array", harmless: isFalse }],
  ["contains", { ...from("refused", "draft-06"), of: "array", holds: "schema" }],
  ["minContains", { ...from("refused", "2019-09"), of: "array", harmless: without("contains") }],
  ["maxContains", { ...from("refused", "2019-09"), of: "array", harmless: without("contains") }],
  ["unevaluatedItems", { ...from("refused", "2019-09"), of: "array", holds: "schema", harmless: isAnything }],

  // Objects
  ["properties", { ...all("enforced"), of: "object", holds: "map" }],
  ["required", { ...all("enforced"), of: "object" }],
  ["additionalProperties", { ...all("enforced"), of: "object", holds: "schema" }],
  ["patternProperties", { ...all("refused"), of: "object", holds: "map", harmless: isEmpty }],
  ["propertyNames", { ...from("refused", "draft-06"), of: "object", holds: "schema", harmless: isAnything }],
  ["minProperties", { ...all("refused"), of: "object", harmless: isZero }],
  ["maxProperties", { ...all("refused"), of: "object" }],
  ["dependencies", { ...all("refused"), until: "draft-07", of: "object", holds: "map", harmless: isEmpty }],
  ["dependentRequired", { ...from("refused", "2019-09"), of: "object", harmless: isEmpty }],
  ["dependentSchemas", { ...from("refused", "2019-09"), of: "object", holds: "map", harmless: isEmpty }],
  ["unevaluatedProperties", { ...from("refused", "2019-09"), of: "object", holds: "schema", harmless: isAnything }],

  // Annotations
  ["title", { ...all("annotation"), of: "any" }],
  ["description", { ...all("annotation"), of: "any" }],
  ["default", { ...all("annotation"), of: "any" }],
  ["examples", { ...from("annotation", "draft-06"), of: "any" }],
  ["readOnly", { ...from("annotation", "draft-07"), of: "any" }],
  ["writeOnly", { ...from("annotation", "draft-07"), of: "any" }],
  ["deprecated", { ...from("annotation", "2019-09"), of: "any" }],
  ["contentEncoding", { ...from("annotation", "draft-07"), of: "string" }],
  ["contentMediaType", { ...from("annotation", "draft-07"), of: "string" }],
  ["contentSchema", { ...from("annotation", "2019-09"), of: "string", holds: "schema" }],
]);

/** The keyword of that name, unless this draft does not know it. */
export function keywordOf(name: string, draft: Draft): Keyword | undefined {
  const keyword = keywords.get(name);
  return keyword !== undefined && knownIn(draft, keyword.since, keyword.until) ? keyword : undefined;
}

/** Formats that some draft defines. All others are annotations. */
export const knownFormats: ReadonlySet<string> = new Set([
  "date-time",
  "date",
  "time",
  "duration",
  "email",
  "idn-email",
  "hostname",
  "idn-hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uri-reference",
  "iri",
  "iri-reference",
  "uri-template",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
  "regex",
]);

function all(status: Keyword["status"]) {
  return from(status, "draft-04");
}

function from(status: Keyword["status"], since: DraftName) {
  return { status, since, until: "2020-12" } as const;
}

function isUnknownFormat(value: JsonText): boolean {
  return value.kind === "string" && !knownFormats.has(value.value);
}

function isFalse(value: JsonText): boolean {
  return value.kind === "boolean" && !value.value;
}

/** `true` or `{}`. */
function isAnything(value: JsonText): boolean {
  return (value.kind === "boolean" && value.value) || isEmpty(value);
}

function isEmpty(value: JsonText): boolean {
  return value.kind === "object" && value.entries.size === 0;
}

function isZero(value: JsonText): boolean {
  return value.kind === "number" && Number(value.text) === 0;
}

/** One branch alone: the same as `allOf`. */
function isSingle(value: JsonText): boolean {
  return value.kind === "array" && value.items.length === 1;
}

/** Keywords that speak only through others. */
function without(...others: string[]) {
  return (_: JsonText, siblings: JsonObject["entries"]) => !others.some((name) => siblings.has(name));
}
