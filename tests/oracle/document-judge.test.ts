import { expect, test } from "bun:test";
import { documentJudge, excuse } from "./document-judge.ts";

test.each([
  { what: "a domain of one label", schema: { format: "email" }, right: ["a@6", "a@b.c"], wrong: ["a@", "a@-", "a"] },
  {
    what: "a quoted local part",
    schema: { format: "email" },
    right: ['"> \'"@g-No', '"a\\"b"@c.d'],
    wrong: ['"a"b"@c', '"a@b', '"a\n"@b'],
  },
  { what: "a URI without a path", schema: { format: "uri" }, right: ["a:", "a:?b", "a:#c"], wrong: ["a", ":", "a: "] },
  { what: "multiples of decimals", schema: { multipleOf: 0.01 }, right: [0.07, 1e21, -3], wrong: [0.071, 1e-3] },
  { what: "a keyword of its own", schema: { $async: true, type: "string" }, right: ["a"], wrong: [1] },
  {
    what: "what stands in a branch",
    schema: { anyOf: [{ properties: { a: { format: "email" } }, type: "object" }, { type: "string" }] },
    right: [{ a: "a@6" }, "x"],
    wrong: [{ a: "a" }, 1],
  },
])("ajv is put right: $what", ({ schema, right, wrong }) => {
  const judge = documentJudge(JSON.stringify(schema));
  expect([right, wrong].map((list: readonly unknown[]) => list.map((value) => judge?.(value).length === 0))).toEqual([
    right.map(() => true),
    wrong.map(() => false),
  ]);
});

test("ajv is not asked about numbers that are no doubles", () => {
  const judge = documentJudge('{"properties":{"n":{"multipleOf":7},"s":{"maxLength":1}}}');
  const told = (text: string) => excuse(judge?.(JSON.parse(text)) ?? [], text);
  for (const text of ['{"n":9007199254740993}', '{"n":7e999}']) expect(told(text)).toBe("ajv reads numbers as doubles");
  // It is right about these.
  for (const text of ['{"n":8}', '{"n":8,"s":"9007199254740993"}', '{"n":9007199254740993,"s":"ab"}']) {
    expect([text, told(text)]).toEqual([text, undefined]);
  }
});
