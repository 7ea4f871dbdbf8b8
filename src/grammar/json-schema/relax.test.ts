import { expect, test } from "bun:test";
import Ajv from "ajv/dist/2020";
import { defaultPolicy } from "../../generation/policy.ts";
import { schemaOptions } from "../policy.ts";
import { readDocuments } from "./documents.ts";
import { relaxSchema } from "./relax.ts";

const options = { ...schemaOptions(defaultPolicy, "any"), objectsOnly: false, originFirst: 0 };
/** No automaton can follow it: what was read has to come again. */
const bad = { type: "string", pattern: "^(a+)b\\1$" };

const open = { additionalProperties: true };

function relax(schema: object) {
  const relaxed = relaxSchema(JSON.stringify(schema), options);
  if (!relaxed.ok) return relaxed.failure;
  return { schema: JSON.parse(relaxed.value.text), relaxed: relaxed.value.relaxed };
}

test.each([
  [{ type: "string", maxLength: 3 }, { type: "string", maxLength: 3 }, []],
  [bad, { type: "string" }, ["/pattern"]],
  [{ properties: { "a/b": bad } }, { properties: { "a/b": { type: "string" } } }, ["/properties/a~1b/pattern"]],
  [
    { anyOf: [{ type: "null" }, bad, { items: bad }] },
    { anyOf: [{ type: "null" }, { type: "string" }, { items: { type: "string" } }] },
    ["/anyOf/1/pattern", "/anyOf/2/items/pattern"],
  ],
  [{ type: "string", if: bad, else: { maxLength: 2 } }, open, [""]],
  // A property may have the name of a keyword.
  [{ properties: { not: bad } }, { properties: { not: { type: "string" } } }, ["/properties/not/pattern"]],
  [
    { $ref: "#/$defs/x", $defs: { x: bad } },
    { $ref: "#/$defs/x", $defs: { x: { type: "string" } } },
    ["/$defs/x/pattern"],
  ],
] as const)("%j becomes %j", (schema, becomes, relaxed) => {
  expect<unknown>(relax(schema)).toEqual({ schema: becomes, relaxed: [...relaxed] });
});

test.each([
  { type: "string", not: bad },
  { properties: { a: { type: "string", not: bad } } },
  { oneOf: [bad, { type: "string", maxLength: 5 }] },
  { if: bad, else: { maxLength: 2 } },
  { type: "array", contains: bad, maxContains: 1 },
  { properties: { a: { allOf: [bad] } }, required: ["a"] },
  { properties: { a: bad }, unevaluatedProperties: false },
  { properties: { a: { not: { $ref: "#/$defs/x" } } }, $defs: { x: bad } },
  { allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: bad } }] },
  { type: "object", propertyNames: bad },
])("%j accepts more than before, never less", (schema) => {
  const relaxed = relax(schema);
  if (!("schema" in relaxed)) throw new Error(JSON.stringify(relaxed));
  const ajv = new Ajv({ strict: false });
  const before = ajv.compile(schema);
  const after = ajv.compile(relaxed.schema);
  const lost = instances.filter((instance) => before(instance) && !after(instance));
  expect([relaxed, lost]).toEqual([relaxed, []]);
});

const texts = ["", "a", "aba", "aabaa", "abb", "bbbbbbb"];
const instances: unknown[] = [
  ...[null, true, 3, ...texts],
  ...texts.flatMap((text) => [[text], [text, "aba"], [text, 1]]),
  ...texts.flatMap((text) => [{ a: text }, { b: text }, { a: text, b: "aba" }, { aba: text }, { a: 1, c: text }]),
];

test("a document is not changed, and may want less where the schema wants more", () => {
  const given = readDocuments([
    { name: "bad", text: JSON.stringify(bad) },
    { name: "not", text: JSON.stringify({ not: { $ref: "urn:root#/$defs/x" } }) },
  ]);
  if (!given.ok) throw new Error(given.failure.reason);
  for (const schema of [
    { items: { $ref: "bad" } },
    { $id: "urn:root", $defs: { x: bad }, allOf: [{ $ref: "tenon-schema:/not" }] },
  ]) {
    const relaxed = relaxSchema(JSON.stringify(schema), { ...options, documents: given.value });
    if (!relaxed.ok) throw new Error(relaxed.failure.reason);
    expect([JSON.parse(relaxed.value.text), relaxed.value.relaxed]).toEqual([open, [""]]);
  }
});

test("under the closed policy, too, what stands beside keeps its keys", () => {
  const beside = {
    allOf: [{ properties: { a: {} } }, { properties: { b: {} }, patternProperties: { "^(a)\\1": {} } }],
  };
  const relaxed = relax(beside);
  if (!("schema" in relaxed)) throw new Error(JSON.stringify(relaxed));
  expect(relaxed.schema).toEqual({ allOf: [{ properties: { a: {} } }, open] });
});

test("what is no schema, or fits nothing, stays refused", () => {
  expect(relax({ enum: [] })).toMatchObject({ keyword: "" });
  expect(relaxSchema("{", options)).toMatchObject({ ok: false });
});
