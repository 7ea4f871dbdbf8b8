/** Keywords whose values are not what they have to be, or say nothing. */
import { expect, test } from "bun:test";
import { lower } from "../../../tests/fixtures/lowered.ts";
import type { Refusal } from "./schema.ts";

const malformed: [name: string, schema: unknown, refusal: Refusal][] = [
  [
    "a format that is no name",
    { properties: { a: { format: 5 } } },
    { pointer: "/properties/a", keyword: "format", reason: "has to be a string" },
  ],
  [
    "an anchor that is no name",
    { items: { $anchor: { a: 1 } } },
    { pointer: "/items", keyword: "$anchor", reason: "has to be a string" },
  ],
  [
    "a dynamic anchor that is no name",
    { items: { $dynamicAnchor: true } },
    { pointer: "/items", keyword: "$dynamicAnchor", reason: "has to be a string" },
  ],
  [
    "an identifier that is none",
    { type: "string", $id: null },
    { pointer: "", keyword: "$id", reason: "has to be a string" },
  ],
  ["a draft without a name", { $schema: 7 }, { pointer: "", keyword: "$schema", reason: "has to be a string" }],
  [
    "a reference that is none",
    { $ref: 1 },
    { pointer: "", keyword: "$ref", reason: "a number leads to no schema that is given" },
  ],
  [
    "nullable that is neither true nor false",
    { properties: { a: { nullable: "yes" } } },
    { pointer: "/properties/a", keyword: "nullable", reason: "has to be true or false" },
  ],
];

test.each(malformed)("%s", (_, schema, refusal) => {
  expect(lower(schema)).toEqual(refusal);
});

test("as many as no output can have is no bound", () => {
  const most = (max: number) => {
    const lowered = lower({ type: "array", contains: { const: 1 }, maxContains: max, maxItems: max });
    if ("reason" in lowered) throw new Error("refused");
    const [only] = lowered.ir.values[lowered.value]?.cases ?? [];
    return only?.type === "array" ? [only.itemsMax, only.counters] : undefined;
  };
  for (const max of [2 ** 31, 0xfffffffd, 0xffffffff, 1e30]) {
    expect(most(max)).toEqual([undefined, [{ min: 1, max: undefined }]]);
  }
  expect(most(1_000_000)).toEqual([1_000_000, [{ min: 1, max: 1_000_000 }]]);
});
