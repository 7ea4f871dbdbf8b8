import { type JsonText, pointerTo } from "../json-text.ts";
import type { Fields } from "./fields.ts";
import type { Applicator, Conjunct } from "./schema.ts";

/** How a schema's parts become conjuncts. */
export type Parts = {
  part(json: JsonText, ...path: readonly (string | number)[]): Conjunct;
  /** A reference's target; undefined where it is refused. */
  target(keyword: string, value: JsonText): Conjunct | undefined;
  not(conjunct: Conjunct): Conjunct;
  refuse(keyword: string, reason: string): void;
};

/** The sub-schemas that speak of the same value. */
export function applicatorsOf(fields: Fields, parts: Parts): readonly Applicator[] {
  if (!fields.hasSome(keywords)) return [];
  const applicators = [
    ...references(fields, parts),
    ...choices(fields, parts),
    ...negation(fields, parts),
    ...conditions(fields, parts),
    ...dependencies(fields, parts),
  ];
  if (applicators.length < 2) return applicators;
  // Choices of one come last: what is known by then tells their parts apart.
  return [...applicators.filter(({ kind }) => kind !== "one"), ...applicators.filter(({ kind }) => kind === "one")];
}

const keywords: ReadonlySet<string> = new Set([
  ...["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if"],
  ...["dependentRequired", "dependentSchemas", "dependencies"],
]);

/** The targets of `$ref` and its relatives. */
export function references(fields: Fields, parts: Parts): readonly Applicator[] {
  const found: Applicator[] = [];
  for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
    const value = fields.get(keyword);
    const target = value && parts.target(keyword, value);
    if (target !== undefined) found.push({ kind: "all", keyword, parts: [target] });
  }
  return found;
}

function choices(fields: Fields, parts: Parts): readonly Applicator[] {
  const found: Applicator[] = [];
  for (const [keyword, kind] of choiceKinds) {
    const value = fields.get(keyword);
    if (value === undefined) continue;
    if (value.kind === "array" && (value.items.length > 0 || kind === "all")) {
      const items = value.items.map((json, i) => parts.part(json, keyword, i));
      found.push({ keyword, kind: items.length === 1 ? "all" : kind, parts: items });
      continue;
    }
    parts.refuse(keyword, `has to be an array of schemas${value.kind === "array" ? ", not an empty one" : ""}`);
  }
  return found;
}

const choiceKinds = [
  ["allOf", "all"],
  ["anyOf", "any"],
  ["oneOf", "one"],
] as const;

function negation(fields: Fields, parts: Parts): readonly Applicator[] {
  const value = fields.get("not");
  return value === undefined ? [] : [{ kind: "not", keyword: "not", part: parts.not(parts.part(value, "not")) }];
}

function conditions(fields: Fields, parts: Parts): readonly Applicator[] {
  const value = fields.get("if");
  if (value === undefined) return [];
  const branch = (keyword: "then" | "else") => {
    const json = fields.get(keyword);
    return json && parts.part(json, keyword);
  };
  // Twice negated, so that it closes no objects: what a value is asked is no demand.
  const condition = parts.not(parts.not(parts.part(value, "if")));
  return [{ kind: "if", keyword: "if", condition, held: branch("then"), failed: branch("else") }];
}

function dependencies(fields: Fields, parts: Parts): readonly Applicator[] {
  const found: Applicator[] = [];
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    for (const [key, json] of fields.map(keyword) ?? []) {
      const names = keyword === "dependentSchemas" ? undefined : namesOf(json, keyword);
      if (names !== undefined) {
        if (names.length > 0) found.push({ kind: "dependent", keyword, key, required: names, part: undefined });
      } else if (keyword === "dependentRequired") parts.refuse(keyword, "has to hold arrays of strings");
      else found.push({ kind: "dependent", keyword, key, required: [], part: parts.part(json, keyword, key) });
    }
  }
  return found;
}

/** Draft 3 had single names, which authors still write. */
function namesOf(json: JsonText, keyword: string): readonly string[] | undefined {
  if (json.kind === "string" && keyword === "dependencies") return [json.value];
  if (json.kind !== "array") return undefined;
  const names = json.items.flatMap((item) => (item.kind === "string" ? [item.value] : []));
  return names.length === json.items.length ? names : undefined;
}

export function pathFrom(pointer: string, path: readonly (string | number)[]): string {
  return path.reduce<string>(pointerTo, pointer);
}
