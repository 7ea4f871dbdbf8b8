import { expect, test } from "bun:test";
import { irBuilder } from "../ir.ts";
import { lowerSchema } from "./lower.ts";

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const record = (count: number, entry: (i: number) => [string, unknown]) => Object.fromEntries(range(count).map(entry));
const tooLarge = "makes the schema too large to enforce";

/** What multiplies is refused after a bounded amount of work, and what only looks as if it would is not. */
const cases: readonly [name: string, schema: unknown, keyword: string | undefined][] = [
  [
    "nested counters of keys",
    { patternProperties: { "^(a{1,1000}){1,1000}$": true }, additionalProperties: false },
    undefined,
  ],
  ["two searches far ahead", { allOf: [{ pattern: "(a|b)*a(a|b){30}" }, { pattern: "(a|b)*b(a|b){30}" }] }, undefined],
  [
    "a long list under an ambiguous pattern",
    { enum: range(2000).map(String), pattern: "^(1|2|12|21)*.*0$" },
    undefined,
  ],
  ["the complement of a long list", { pattern: "^1", not: { enum: range(2000).map(String) } }, undefined],
  [
    "patterns of keys that can all match at once",
    { patternProperties: record(30, (i) => [`x${i}`, false]) },
    "patternProperties",
  ],
  ["patterns of keys that cannot", { patternProperties: record(100, (i) => [`^x${i}$`, { type: "null" }]) }, undefined],
  ["a chain of dependencies", { dependentRequired: record(40, (i) => [`k${i}`, [`k${i + 1}`]]) }, undefined],
  ["dependencies of their own", { dependentRequired: record(40, (i) => [`k${i}`, [`l${i}`]]) }, "dependentRequired"],
  [
    "parts that evaluate independently",
    { anyOf: range(25).map((i) => ({ properties: { [`p${i}`]: { type: "null" } } })), unevaluatedProperties: false },
    "anyOf",
  ],
  [
    "the negation of many properties",
    { not: { properties: record(500, (i) => [`p${i}`, { type: "null" }]) } },
    undefined,
  ],
  ["choices of many required names", { oneOf: range(40).map((i) => ({ required: [`a${i}`] })) }, undefined],
];

test.each(cases)(
  "%s",
  (_, schema, keyword) => {
    const options = { closed: false, ordered: false, assertFormats: true, objectsOnly: false, originFirst: 0 };
    const lowered = lowerSchema(irBuilder(), JSON.stringify(schema), options);
    const failure = lowered.ok ? undefined : lowered.failure;
    expect(failure).toEqual(
      keyword === undefined ? undefined : { pointer: "", keyword, reason: tooLarge, exhausted: true },
    );
  },
  20_000,
);
