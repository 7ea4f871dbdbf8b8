import { describe, expect, test } from "bun:test";
import { acceptsJson } from "../../../tests/oracle/ir-acceptor.ts";
import type { SchemaDocument } from "../../generation/schema-document.ts";
import { irBuilder } from "../ir.ts";
import { type Documents, readDocuments } from "./documents.ts";
import { lowerSchema } from "./lower.ts";

const texts = new Map([
  [
    "http://x.test/shapes.json",
    JSON.stringify({
      $defs: { name: { type: "string", pattern: "^[a-z]+$" }, bad: { type: "string", pattern: "(.)\\1" } },
      $anchor: "all",
      type: "object",
      properties: { name: { $ref: "#/$defs/name" }, next: { $ref: "shapes.json" } },
    }),
  ],
  [
    "http://x.test/named.json",
    JSON.stringify({ $id: "http://y.test/own", $defs: { n: { $anchor: "n", type: "null" } } }),
  ],
  [
    "http://x.test/draft7.json",
    JSON.stringify({
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: { a: { $ref: "#/definitions/b", type: "null" }, b: { type: "string" } },
    }),
  ],
  [
    "http://x.test/tree.json",
    JSON.stringify({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $dynamicAnchor: "node",
      type: "object",
      properties: { items: { type: "array", items: { $dynamicRef: "#node" } } },
    }),
  ],
  [
    "http://x.test/plain.json",
    JSON.stringify({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $vocabulary: {
        "https://json-schema.org/draft/2020-12/vocab/core": true,
        "https://json-schema.org/draft/2020-12/vocab/applicator": true,
      },
    }),
  ],
  [
    "http://x.test/bundle.json",
    JSON.stringify({
      $id: "http://bundle.test/whole",
      $defs: { part: { $id: "part", $defs: { n: { $anchor: "n", type: "null" } } } },
    }),
  ],
  ["cities/list.json", JSON.stringify({ items: { $ref: "name.json" } })],
  ["cities/name.json", JSON.stringify({ $id: "http://z.test/names/", $ref: "long" })],
  ["long", JSON.stringify({ $id: "http://z.test/names/long", type: "string", minLength: 3 })],
]);
const documents = given([...texts].map(([name, text]) => ({ name, text })));

function given(documents: readonly SchemaDocument[]): Documents {
  const read = readDocuments(documents);
  if (!read.ok) throw new Error(`${read.failure.name} ${read.failure.reason}`);
  return read.value;
}

function lower(schema: unknown) {
  const builder = irBuilder();
  const options = { closed: false, ordered: false, assertFormats: true, objectsOnly: false, originFirst: 0, documents };
  const lowered = lowerSchema(builder, JSON.stringify(schema), options);
  if (!lowered.ok) return lowered.failure;
  const { value } = lowered.value;
  const style = { freeSpace: true, whitespaceMax: undefined, spelling: "spec" } as const;
  const ir = builder.finish(builder.node({ kind: "json", value, style }));
  return (text: string) => acceptsJson(ir, value, text);
}

describe("references lead", () => {
  const cases: [name: string, schema: unknown, accepted: string[], rejected: string[]][] = [
    [
      "into a document, and on inside it",
      { $ref: "http://x.test/shapes.json" },
      ['{"name":"a","next":{"name":"b"}}'],
      ['{"name":"A"}', '{"next":{"name":1}}'],
    ],
    ["to a place in a document", { items: { $ref: "http://x.test/shapes.json#/$defs/name" } }, ['["a"]'], ['["A"]']],
    ["to an anchor in a document", { $ref: "http://x.test/shapes.json#all" }, ['{"name":"a"}'], ['"a"']],
    ["relative to an identifier", { $id: "http://x.test/main", $ref: "shapes.json#/$defs/name" }, ['"a"'], ["1"]],
    [
      "by where a document was found, though it has another name",
      { $ref: "http://x.test/named.json#n" },
      ["null"],
      ["1"],
    ],
    [
      "into a document of another draft",
      { $ref: "http://x.test/draft7.json#/definitions/a", minLength: 1 },
      ['"a"'],
      ['""', "null"],
    ],
    [
      "to the outermost dynamic anchor",
      {
        $id: "http://x.test/strict",
        $dynamicAnchor: "node",
        $ref: "tree.json",
        unevaluatedProperties: false,
      },
      ['{"items":[{"items":[]}]}'],
      ['{"a":1}', '{"items":[{"a":1}]}'],
    ],
    [
      "to the first one where nothing extends it",
      { $ref: "http://x.test/tree.json" },
      ['{"items":[{"a":1}]}'],
      ['{"items":[1]}'],
    ],
    [
      "to the outermost recursive anchor",
      {
        $schema: "https://json-schema.org/draft/2019-09/schema",
        $id: "http://x.test/strict",
        $recursiveAnchor: true,
        $ref: "#/$defs/tree",
        unevaluatedProperties: false,
        $defs: {
          tree: {
            $id: "http://x.test/list",
            $recursiveAnchor: true,
            properties: { items: { type: "array", items: { $recursiveRef: "#" } } },
          },
        },
      },
      ['{"items":[{"items":[]}]}'],
      ['{"items":[{"a":1}]}'],
    ],
    [
      "by a name that is no address, and from there by identifiers",
      { $ref: "cities/list.json" },
      ['["abc"]'],
      ['["ab"]', "[1]"],
    ],
    ["by an identifier inside of one", { $ref: "http://bundle.test/part#n" }, ["null"], ["1"]],
    [
      "past vocabularies that a metaschema leaves out",
      { $schema: "http://x.test/plain.json", minimum: 3, properties: { a: { type: "null" }, b: false } },
      ["1", '{"a":1}'],
      ['{"b":1}'],
    ],
  ];
  test.each(cases)("%s", (_, schema, accepted, rejected) => {
    const accepts = lower(schema);
    if (typeof accepts !== "function") throw new Error(JSON.stringify(accepts));
    expect([...accepted, ...rejected].filter(accepts)).toEqual(accepted);
  });
});

test.each([
  ["http://x.test/none.json", "", '"http://x.test/none.json" leads to no schema that is given'],
  ["http://x.test/shapes.json#nowhere", "", '"http://x.test/shapes.json#nowhere" leads to no schema that is given'],
])("%s is refused", (reference, pointer, reason) => {
  expect<unknown>(lower({ $ref: reference })).toEqual({ pointer, keyword: "$ref", reason });
});

test("what is refused inside a document has its address before the pointer", () => {
  expect(lower({ $ref: "http://x.test/shapes.json#/$defs/bad" })).toMatchObject({
    pointer: "http://x.test/shapes.json#/$defs/bad",
    keyword: "pattern",
  });
});

test.each<[documents: readonly SchemaDocument[], fault: string]>([
  [[{ name: "a", text: "{" }], "a: is no JSON: a key was expected, line 1 column 2"],
  [[{ name: "a", text: "3" }], "a: is no schema"],
  [[{ name: "a", text: '{"type":"null","type":"string"}' }], "a: is no JSON: "],
  [[{ name: "a#b", text: "{}" }], "a#b: has a name that is no URI without a fragment"],
  [[{ name: "", text: "{}" }], ": has a name that is no URI without a fragment"],
  [[{ name: "http://", text: "{}" }], "http://: has a name that is no URI without a fragment"],
  [
    [
      { name: "a", text: '{"$id":"http://x.test/a"}' },
      { name: "b", text: '{"$id":"http://x.test/a#"}' },
    ],
    "b: has the address of 'a'",
  ],
])("%j cannot be given", (documents, fault) => {
  const read = readDocuments(documents);
  expect(read.ok ? "" : `${read.failure.name}: ${read.failure.reason}`).toStartWith(fault);
});

test("what is given first is found before what lies further out, by its alias as well", () => {
  const outer = given([
    { name: "a", alias: "file:///a", text: "true" },
    { name: "b", text: "true" },
  ]);
  const both = readDocuments([{ name: "a", text: "false" }], outer);
  if (!both.ok) throw new Error(both.failure.reason);
  const found = ["tenon-schema:/a", "file:///a", "tenon-schema:/b"].map((address) => both.value.find(address)?.json);
  expect(found).toMatchObject([{ value: false }, { value: true }, { value: true }]);
});
