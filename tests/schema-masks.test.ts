import { expect, test } from "bun:test";
import { randomFrom } from "./fixtures/random.ts";
import { proveMasks, proveSchema } from "./fixtures/schema-proof.ts";
import { focuses } from "./oracle/random-schema.ts";
import { subsets } from "./oracle/schema-universe.ts";

test("masks of random schemas are what can be completed, token by token in both directions", () => {
  const seed = Number(process.env["TENON_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`seed ${seed}`);
  const proof = proveMasks(seed, { rounds: 1 });
  expect(proof.disagreements).toEqual([]);
  expect(proof.schemas).toBe(focuses.length);
  // The test has to have tested something: few schemas are refused, and most leave something to write.
  const refused = Object.values(proof.refused).reduce((sum, count) => sum + count, 0);
  expect(refused).toBeLessThan(0.2 * proof.schemas);
  expect(proof.unsatisfiable).toBeLessThan(0.5 * proof.schemas);
  expect(proof.states).toBeGreaterThan(15 * proof.schemas);
}, 60_000);

const bytes = [...'{}[],:"-1235.nultrefsab'];
const nulls = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]));
const few = [null, true, false].flatMap((a) => [[a], ...[null, true, false].map((b) => [a, b])]);

test.each([
  {
    what: "a pattern whose text ends where the length does",
    schema: { pattern: "^a?b?$" },
    limits: { type: "string", maxLength: 1 },
    values: ["", "a", "b"],
    tokens: [...bytes, "ab", '"ab'],
  },
  {
    what: "different items, one of which no token writes",
    schema: { uniqueItems: true },
    limits: { type: "array", items: { type: ["null", "boolean"] }, maxItems: 2 },
    values: [[], ...few],
    tokens: bytes.filter((byte) => byte !== "f"),
  },
  {
    what: "more names than anybody counts, of which tokens write three",
    schema: { required: ["a"] },
    limits: {
      type: "object",
      propertyNames: { pattern: "^[ab\u4e00-\u9fff]?$" },
      additionalProperties: { type: "null" },
    },
    values: subsets(["", "a", "b"])
      .filter((names) => names.includes("a"))
      .map(nulls),
    tokens: [...bytes, '":null,'],
  },
  {
    what: "such names where members are counted",
    schema: { minProperties: 2 },
    limits: {
      type: "object",
      propertyNames: { pattern: "^[ab\u4e00-\u9fff]?$" },
      additionalProperties: { type: "null" },
    },
    values: subsets(["", "a", "b"])
      .filter((names) => names.length >= 2)
      .map(nulls),
    tokens: [...bytes, '":null,'],
  },
])("right now, once wrong: $what", ({ schema, ...universe }) => {
  expect(proveSchema(randomFrom(1), { ...universe, letters: ["a", "b"] }, schema)).toMatchObject({ kind: "compared" });
});
