import { type Draft, type DraftName, draftNames } from "./draft.ts";

/**
 * Every keyword of the drafts and what becomes of it: enforced, or an annotation (it never constrains). Keywords that a draft does not
 * know are annotations there, as the specification says. docs/json-schema.md is printed from this table.
 */
export type Keyword = {
  readonly status: "enforced" | "annotation";
  readonly since: DraftName;
  readonly until: DraftName;
  /** The JSON type whose values it constrains; it says nothing about others. */
  readonly of: "any" | "number" | "string" | "array" | "object";
  /** Where its value holds schemas. */
  readonly holds?: "schema" | "schemas" | "map";
  /** Not one of JSON Schema, and so only where no draft is named. */
  readonly foreign?: true;
  /** What a reader of the table has to know, a sentence. */
  readonly note?: string;
};

export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  // Structure
  [
    "$schema",
    {
      ...all("enforced"),
      of: "any",
      note: "Names the draft; of a metaschema that is given, its vocabularies count. Drafts before 4 are refused.",
    },
  ],
  ["$id", { ...from("enforced", "draft-06"), of: "any" }],
  ["id", { ...all("enforced"), until: "draft-04", of: "any" }],
  ["$anchor", { ...from("enforced", "2019-09"), of: "any" }],
  [
    "$ref",
    {
      ...all("enforced"),
      of: "any",
      note: "Into this document and those that are given; anything else is refused, and nothing is ever fetched. Up to draft 7 its siblings are ignored.",
    },
  ],
  ["$defs", { ...from("enforced", "2019-09"), of: "any", holds: "map" }],
  ["definitions", { ...all("enforced"), of: "any", holds: "map" }],
  ["$recursiveRef", { ...from("enforced", "2019-09"), until: "2019-09", of: "any" }],
  ["$recursiveAnchor", { ...from("annotation", "2019-09"), until: "2019-09", of: "any" }],
  ["$dynamicRef", { ...from("enforced", "2020-12"), of: "any" }],
  ["$dynamicAnchor", { ...from("enforced", "2020-12"), of: "any" }],
  ["$vocabulary", { ...from("annotation", "2019-09"), of: "any" }],
  ["$comment", { ...from("annotation", "draft-07"), of: "any" }],

  // Any type
  ["type", { ...all("enforced"), of: "any" }],
  [
    "nullable",
    {
      ...all("enforced"),
      of: "any",
      foreign: true,
      note: "OpenAPI's: `null` beside the types, and nothing without `type`.",
    },
  ],
  ["enum", { ...all("enforced"), of: "any" }],
  ["const", { ...from("enforced", "draft-06"), of: "any" }],
  ["allOf", { ...all("enforced"), of: "any", holds: "schemas" }],
  ["anyOf", { ...all("enforced"), of: "any", holds: "schemas" }],
  [
    "oneOf",
    {
      ...all("enforced"),
      of: "any",
      holds: "schemas",
      note: "Refused where its parts overlap in too many ways to be told apart within the budget.",
    },
  ],
  ["not", { ...all("enforced"), of: "any", holds: "schema", note: "Refused around `uniqueItems`." }],
  ["if", { ...from("enforced", "draft-07"), of: "any", holds: "schema" }],
  ["then", { ...from("enforced", "draft-07"), of: "any", holds: "schema" }],
  ["else", { ...from("enforced", "draft-07"), of: "any", holds: "schema" }],

  // Numbers
  ["minimum", { ...all("enforced"), of: "number" }],
  ["maximum", { ...all("enforced"), of: "number" }],
  ["exclusiveMinimum", { ...all("enforced"), of: "number" }],
  ["exclusiveMaximum", { ...all("enforced"), of: "number" }],
  [
    "multipleOf",
    { ...all("enforced"), of: "number", note: "Exact on decimals; such numbers are written without exponent." },
  ],

  // Strings
  ["minLength", { ...all("enforced"), of: "string", note: "In code points, however they are written." }],
  ["maxLength", { ...all("enforced"), of: "string", note: "In code points, however they are written." }],
  [
    "pattern",
    {
      ...all("enforced"),
      of: "string",
      note: "ECMAScript, a search. Refused: back-references, look-behind further than one character, most assertions inside repetitions.",
    },
  ],
  [
    "format",
    {
      ...all("enforced"),
      of: "string",
      note: "Unknown ones are annotations, and so is `regex`, which is no regular language.",
    },
  ],

  // Arrays
  [
    "items",
    { ...all("enforced"), of: "array", holds: "schema", note: "A schema, or before 2020-12 an array of them." },
  ],
  ["prefixItems", { ...from("enforced", "2020-12"), of: "array", holds: "schemas" }],
  ["additionalItems", { ...all("enforced"), until: "2019-09", of: "array", holds: "schema" }],
  ["minItems", { ...all("enforced"), of: "array" }],
  ["maxItems", { ...all("enforced"), of: "array" }],
  [
    "uniqueItems",
    { ...all("enforced"), of: "array", note: "Numbers by value. Refused where an item may be an array or an object." },
  ],
  [
    "contains",
    {
      ...from("enforced", "draft-06"),
      of: "array",
      holds: "schema",
      note: "Items that are counted are evaluated from 2020-12 on.",
    },
  ],
  ["minContains", { ...from("enforced", "2019-09"), of: "array" }],
  ["maxContains", { ...from("enforced", "2019-09"), of: "array" }],
  ["unevaluatedItems", { ...from("enforced", "2019-09"), of: "array", holds: "schema" }],

  // Objects
  ["properties", { ...all("enforced"), of: "object", holds: "map" }],
  ["required", { ...all("enforced"), of: "object" }],
  [
    "additionalProperties",
    {
      ...all("enforced"),
      of: "object",
      holds: "schema",
      note: "Without it, a server's policy may close objects that have `properties`.",
    },
  ],
  ["patternProperties", { ...all("enforced"), of: "object", holds: "map", note: "Patterns as in `pattern`." }],
  ["propertyNames", { ...from("enforced", "draft-06"), of: "object", holds: "schema" }],
  ["minProperties", { ...all("enforced"), of: "object" }],
  ["maxProperties", { ...all("enforced"), of: "object" }],
  ["dependencies", { ...all("enforced"), until: "draft-07", of: "object", holds: "map" }],
  ["dependentRequired", { ...from("enforced", "2019-09"), of: "object" }],
  ["dependentSchemas", { ...from("enforced", "2019-09"), of: "object", holds: "map" }],
  ["unevaluatedProperties", { ...from("enforced", "2019-09"), of: "object", holds: "schema" }],

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
  [
    "discriminator",
    {
      ...all("annotation"),
      of: "any",
      foreign: true,
      note: "OpenAPI's: the parts it tells apart are enforced anyway.",
    },
  ],
  ["contentSchema", { ...from("annotation", "2019-09"), of: "string", holds: "schema" }],
]);

const declared = {
  "draft-04": knownIn("draft-04"),
  "draft-06": knownIn("draft-06"),
  "draft-07": knownIn("draft-07"),
  "2019-09": knownIn("2019-09"),
  "2020-12": knownIn("2020-12"),
} as const satisfies Record<DraftName, ReadonlyMap<string, Keyword>>;

/** The keyword of that name, unless this draft does not know it. */
export function keywordOf(name: string, draft: Draft): Keyword | undefined {
  const keyword = draft.declared ? declared[draft.name].get(name) : keywords.get(name);
  if (keyword === undefined) return undefined;
  const vocabulary = draft.vocabularies === undefined ? undefined : vocabularyOf(name, keyword);
  return vocabulary === undefined || draft.vocabularies?.has(vocabulary) === true ? keyword : undefined;
}

/** The keywords of a draft that `$schema` names. */
function knownIn(name: DraftName): ReadonlyMap<string, Keyword> {
  const at = draftNames.indexOf(name);
  const known = [...keywords].filter(([, { since, until, foreign }]) => {
    return foreign !== true && draftNames.indexOf(since) <= at && at <= draftNames.indexOf(until);
  });
  return new Map(known);
}

/** Whether some draft knows the keyword as more than an annotation. */
export function speaks(name: string): boolean {
  const keyword = keywords.get(name);
  return keyword !== undefined && keyword.status !== "annotation";
}

/** The vocabulary that a metaschema of one's own may leave out; none for what always counts. */
function vocabularyOf(name: string, { status, holds }: Keyword): string | undefined {
  if (/^\$|^(id|definitions|format)$/.test(name) || status === "annotation") return undefined;
  if (name.startsWith("unevaluated")) return "unevaluated";
  return holds === undefined ? "validation" : "applicator";
}

function all(status: Keyword["status"]) {
  return from(status, "draft-04");
}

function from(status: Keyword["status"], since: DraftName) {
  return { status, since, until: "2020-12" } as const;
}
