import { applyEdits, type JSONPath, modify } from "jsonc-parser";
import { fail, ok, type Result } from "../../generation/result.ts";
import { relaxationsMax, schemaCharactersMax, schemaDepthMax } from "../../limits.ts";
import { irBuilder } from "../ir.ts";
import { child, type JsonText, pointerTokens, readJson } from "../json-text.ts";
import { lowerSchema, type SchemaOptions } from "./lower.ts";
import type { Refusal } from "./schema.ts";

/**
 * A schema that can be enforced and accepts everything that the given one does: what is refused is taken out, place by place.
 * `relaxed` has the pointer of each keyword that went, or of a sub-schema that accepts everything now. What is no schema at all,
 * or one that nothing fits, is refused as ever.
 */
export function relaxSchema(
  text: string,
  options: SchemaOptions,
): Result<{ readonly text: string; readonly relaxed: readonly string[] }, Refusal> {
  const relaxed: string[] = [];
  let current = text;
  for (;;) {
    const tried = lowerSchema(irBuilder(), current, options);
    if (tried.ok) return ok({ text: current, relaxed });
    const place = placeOf(current, tried.failure, options.documents?.texts ?? []);
    if (place === undefined || relaxed.length === relaxationsMax) return fail(tried.failure);
    current = applyEdits(current, modify(current, [...place.path], place.becomes, {}));
    relaxed.push(place.path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""));
  }
}

/** `becomes` undefined: the keyword goes. */
type Place = { readonly path: JSONPath; readonly becomes: typeof anything | undefined };

/** Says that further properties are allowed, since a schema beside it may close its objects by saying nothing. */
const anything = { additionalProperties: true };

/** Where to widen so that a refusal goes away; undefined where nothing can be taken out. */
function placeOf(text: string, { pointer, keyword }: Refusal, documents: readonly string[]): Place | undefined {
  const bounds = { charactersMax: schemaCharactersMax, depthMax: schemaDepthMax, duplicateKeys: "refuse" } as const;
  const json = readJson(text, bounds);
  if (!json.ok || keyword === "") return undefined;
  const { root } = json.value;
  // What a reference leads to may be wanted wider in one place and narrower in another, and a document is not ours to change.
  const tokens = pointerTokens(pointer);
  const refers = /"\$(ref|dynamicRef|recursiveRef)"/.test(text);
  const narrows = (one: string) => narrowing.some((name) => one.includes(`"${name}"`));
  if (tokens === undefined || (refers && [text, ...documents].some(narrows))) return { path: [], becomes: anything };
  const walked = walk(root, tokens);
  if (walked === undefined) return undefined;
  const { path, narrowed } = walked;
  if (narrowed !== undefined) return narrowed;
  if (removable.has(keyword)) return { path: [...path, keyword], becomes: undefined };
  return { path, becomes: anything };
}

/**
 * The path of a pointer, and the place to widen instead where a schema on the way accepts less when the part below accepts more.
 * Names of properties are told from keywords by where they stand.
 */
function walk(
  root: JsonText,
  tokens: readonly string[],
): { readonly path: JSONPath; readonly narrowed: Place | undefined } | undefined {
  const path: (string | number)[] = [];
  let narrowed: Place | undefined;
  let at: JsonText | undefined = root;
  let isSchema = true;
  for (const token of [...tokens, undefined]) {
    if (at === undefined) return undefined;
    if (isSchema && at.kind === "object") narrowed ??= narrowedPlace(at, token, path);
    if (token === undefined) break;
    isSchema = !isSchema || !(maps.has(token) || child(at, token)?.kind === "array");
    path.push(at.kind === "array" ? Number(token) : token);
    at = child(at, token);
  }
  return { path, narrowed };
}

function narrowedPlace(
  { entries }: Extract<JsonText, { kind: "object" }>,
  token: string | undefined,
  path: JSONPath,
): Place | undefined {
  const unevaluated = entries.has("unevaluatedProperties") || entries.has("unevaluatedItems");
  if (unevaluated || token === "if" || token === "oneOf") return { path: [...path], becomes: anything };
  return token === "not" || token === "contains" ? { path: [...path, token], becomes: undefined } : undefined;
}

const narrowing = ["not", "if", "oneOf", "contains", "unevaluatedProperties", "unevaluatedItems"];
const maps = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"]);

/** Keywords on which nothing else depends: without one, its schema accepts more and nothing else changes. */
const removable = new Set([
  ...["pattern", "format", "minLength", "maxLength", "multipleOf", "minimum", "maximum"],
  ...["exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"],
  ...["required", "propertyNames", "dependentRequired", "enum", "const", "not", "contains"],
]);
