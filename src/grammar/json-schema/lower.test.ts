import { describe, expect, test } from "bun:test";
import { accepts, lower } from "../../../tests/fixtures/lowered.ts";
import type { Refusal } from "./schema.ts";

describe("accepts exactly what the schema says", () => {
  const node = { type: "object", properties: { next: { anyOf: [{ $ref: "#/$defs/n" }, { type: "null" }] } } };
  const cases: [name: string, schema: unknown, accepted: string[], rejected: string[]][] = [
    ["anything", true, ["null", "[1,{}]", '"a"', "-1.5e3"], []],
    ["an empty schema", {}, ["true", '{"a":[]}'], []],
    ["a type", { type: "string" }, ['"a"'], ["1", "null", '["a"]']],
    ["types", { type: ["integer", "null"] }, ["1", "1.0", "10e-1", "null"], ["1.5", '"1"']],
    ["integer beside number", { type: ["integer", "number"] }, ["1.5"], ['"1"']],
    ["booleans", { type: "boolean" }, ["true", "false"], ["null"]],
    [
      "enum",
      { enum: ["a", 1, null, [1, { b: 2 }]] },
      ['"a"', "1.0", "null", '[1,{"b":2e0}]'],
      ['"b"', "2", "[1]", "[]"],
    ],
    [
      "const with an object",
      { const: { a: { b: [] } } },
      ['{"a":{"b":[]}}'],
      ["{}", '{"a":{}}', '{"a":{"b":[]},"c":1}'],
    ],
    ["an empty enum object", { enum: [{}] }, ["{}"], ['{"a":1}', "[]"]],
    [
      "numbers by value",
      '{"enum":[1e2,0.10,-0,12345678901234567890]}',
      ["100", "0.1", "0", "12345678901234567890"],
      ["12345678901234567891"],
    ],
    ["enum and type", { type: "string", enum: ["a", 1] }, ['"a"'], ["1"]],
    ["enum and const", { enum: [1, 2, 3], const: 2 }, ["2"], ["1", "3"]],
    ["bounds", { minimum: 1, exclusiveMaximum: 2.5 }, ["1", "2.4999", '"x"'], ["0.9", "2.5", "1e1"]],
    [
      "both kinds of bound",
      { minimum: 1, exclusiveMinimum: 1, maximum: 3, exclusiveMaximum: 4 },
      ["1.1", "3"],
      ["1", "3.5"],
    ],
    ["bounds of draft 4", { minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false }, ["2"], ["1"]],
    ["whole numbers between", { type: "integer", exclusiveMinimum: 1, maximum: 3.5 }, ["2", "3"], ["1", "4", "2.5"]],
    ["lengths in code points", { minLength: 2, maxLength: 3.0 }, ['"ab"', '"😀😀"', "1"], ['"a"', '"abcd"', '"😀"']],
    ["lengths filter lists", { enum: ["a", "bb", "ccc"], minLength: 2 }, ['"bb"'], ['"a"']],
    ["items", { items: { type: "null" } }, ["[]", "[null,null]", "1"], ["[1]"]],
    [
      "prefix and rest",
      { prefixItems: [{ type: "null" }, true], items: false },
      ["[]", "[null]", "[null,1]"],
      ["[1]", "[null,1,1]"],
    ],
    [
      "items as an array",
      { items: [{ type: "null" }], additionalItems: { type: "boolean" } },
      ["[null,true]"],
      ["[null,null]"],
    ],
    ["item counts", { minItems: 1, maxItems: 2 }, ["[1]", "[1,2]", "{}"], ["[]", "[1,2,3]"]],
    ["properties", { properties: { a: { type: "null" } } }, ["{}", '{"a":null,"b":1}', "3"], ['{"a":1}']],
    ["required", { required: ["a"] }, ['{"a":1}', "[]"], ["{}", '{"b":1}']],
    [
      "additionalProperties",
      { properties: { a: true }, additionalProperties: { type: "null" } },
      ['{"a":1,"b":null}'],
      ['{"b":1}'],
    ],
    [
      "required and further",
      { required: ["b"], additionalProperties: { type: "null" } },
      ['{"b":null}'],
      ['{"b":1}', "{}"],
    ],
    ["an absent key", { properties: { a: false } }, ['{"b":1}'], ['{"a":1}']],
    [
      "anyOf with siblings",
      {
        type: "object",
        properties: { a: { type: "integer" } },
        additionalProperties: false,
        anyOf: [{ required: ["a"] }],
      },
      ['{"a":1}'],
      ['"x"', '{"a":"s"}', "{}"],
    ],
    ["allOf", { allOf: [{ type: "integer" }, { minimum: 3 }] }, ["3"], ['"x"', "2"]],
    [
      "allOf on members",
      {
        allOf: [
          { properties: { a: { minimum: 1 } } },
          { properties: { a: { maximum: 2 } }, additionalProperties: false },
        ],
      },
      ['{"a":1}', "{}"],
      ['{"a":0}', '{"a":3}', '{"b":1}'],
    ],
    [
      "allOf on items",
      { allOf: [{ prefixItems: [true, { minimum: 1 }] }, { items: { maximum: 2 } }, { minItems: 1 }] },
      ["[0,1]", "[2]"],
      ["[]", "[0,0]", "[3]", "[0,3]"],
    ],
    ["oneOf with one branch", { oneOf: [{ type: "null" }] }, ["null"], ["1"]],
    [
      "recursion",
      { $defs: { n: node }, $ref: "#/$defs/n" },
      ["{}", '{"next":{"next":null}}', '{"next":{"next":{"next":{}}}}'],
      ['{"next":{"next":1}}'],
    ],
    [
      "siblings of a reference",
      { $defs: { S: { type: "string" } }, $ref: "#/$defs/S", const: "a" },
      ['"a"'],
      ['"b"', "1"],
    ],
    [
      "no siblings in draft 7",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        definitions: { S: { type: "string" } },
        properties: { a: { $ref: "#/definitions/S", const: "a" } },
      },
      ['{"a":"b"}'],
      ['{"a":1}'],
    ],
    [
      "a reference to the whole",
      { properties: { a: { $ref: "#" } }, additionalProperties: false },
      ['{"a":{"a":{}}}'],
      ['{"a":{"b":1}}'],
    ],
    ["escaped pointers", { $defs: { "a/b~c%": { type: "null" } }, $ref: "#/$defs/a~1b~0c%25" }, ["null"], ["1"]],
    [
      "a place that is no keyword",
      { components: { schemas: [{ type: "null" }] }, $ref: "#/components/schemas/0" },
      ["null"],
      ["1"],
    ],
    [
      "identifiers and anchors",
      {
        $id: "http://x.test/a.json",
        $defs: { b: { $id: "b.json", $defs: { c: { $anchor: "c", type: "null" } } } },
        items: { $ref: "b.json#c" },
      },
      ["[null]"],
      ["[1]"],
    ],
    [
      "a pointer inside its own resource",
      {
        $defs: {
          b: { $id: "http://x.test/b", $defs: { c: { type: "null" } }, items: { $ref: "#/$defs/c" } },
          c: { type: "string" },
        },
        $ref: "#/$defs/b",
      },
      ["[null]"],
      ['["a"]'],
    ],
    [
      "a choice that meets itself",
      { $defs: { S: { anyOf: [{ $ref: "#/$defs/S" }, { type: "null" }] } }, $ref: "#/$defs/S" },
      ["null"],
      ["1"],
    ],
    ["keywords of other types", { type: "integer", pattern: "x", format: "date", uniqueItems: true }, ["1"], ['"x"']],
    [
      "a keyword the draft does not know",
      { $schema: "http://json-schema.org/draft-04/schema#", const: 1, if: { type: "null" }, else: false },
      ["1", "2"],
      [],
    ],
    [
      "integers of draft 4",
      { $schema: "http://json-schema.org/draft-04/schema#", type: "integer", enum: [1, 2.5, 3] },
      ["1", "3"],
      ["1.0", "2", "3e0"],
    ],
    ["an unknown format", { format: "int32", type: "integer" }, ["1"], ['"a"']],
    ["an unknown keyword", { type: "string", "x-order": 1 }, ['"a"'], ["null"]],
    ["nullable without a type, which says nothing", { nullable: true, enum: ["a"] }, ['"a"'], ["null"]],
    [
      "what drafts before 2019-09 do not know",
      { $schema: "http://json-schema.org/draft-07/schema#", $anchor: 1 },
      ["1"],
      [],
    ],
    ["an id that names nothing", { id: { type: "null" }, type: "string" }, ['"a"'], ["1"]],
    ["OpenAPI's nullable", { nullable: true, type: "string" }, ['"a"', "null"], ["1"]],
    [
      "nullable where a draft is named",
      { $schema: "https://json-schema.org/draft/2020-12/schema", nullable: true, type: "string" },
      ['"a"'],
      ["null"],
    ],
    [
      "a resource in another draft",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        items: {
          $id: "http://x.test/i",
          $schema: "https://json-schema.org/draft/2020-12/schema",
          $ref: "#/$defs/s",
          minLength: 2,
          $defs: { s: { type: "string" } },
        },
      },
      ['["ab"]'],
      ['["a"]', "[1]"],
    ],
    ["a pattern and a length", { pattern: "^a+$", maxLength: 2 }, ['"aa"'], ['"aaa"', '""', '"b"']],
    ["a pattern and a list", { pattern: "b", enum: ["a", "b", "abc", 1] }, ['"b"', '"abc"', "1"], ['"a"']],
    ["a format", { format: "date" }, ['"2024-02-29"', "1"], ['"2023-02-29"', '"x"']],
    ["multiples of decimals", { multipleOf: 0.01 }, ["1.25", "1e2", "0"], ["1.255"]],
    ["multiples of several", { multipleOf: 4, allOf: [{ multipleOf: 6 }] }, ["12", "-24.0"], ["4", "6", "2"]],
    ["no multiples", { type: "number", not: { multipleOf: 3 } }, ["1", "3.5"], ["3", "-6"]],
    ["no integer", { type: "number", not: { type: "integer" } }, ["0.5"], ["1", "2.0"]],
    [
      "two that differ in a discriminator",
      {
        oneOf: [
          { type: "object", properties: { t: { const: "a" }, x: { type: "null" } }, required: ["t"] },
          { type: "object", properties: { t: { const: "b" } }, required: ["t"] },
        ],
      },
      ['{"t":"a"}', '{"t":"b","x":1}'],
      ['{"t":"a","x":1}', '{"t":"c"}', "{}"],
    ],
    ["exactly one", { oneOf: [{ minimum: 2 }, { maximum: 4 }] }, ["1", "5"], ["3", '"a"']],
    ["none that has a key", { not: { required: ["a"] } }, ['{"b":1}'], ['{"a":1}', "1"]],
    [
      "a property that may not be",
      { type: "object", not: { properties: { a: { const: 1 } } } },
      ['{"a":2}', '{"b":1,"a":"1"}'],
      ["{}", '{"a":1}', '{"b":2}'],
    ],
    [
      "conditions",
      '{"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["b"]},"else":{"maxProperties":1}}',
      ['{"a":1,"b":2}', '{"a":2}', "{}", '"x"'],
      ['{"a":1}', '{"a":2,"b":1}'],
    ],
    [
      "dependencies",
      { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { properties: { b: { type: "null" } } } } },
      ['{"a":1,"b":1}', '{"c":1,"b":null}', "{}"],
      ['{"a":1}', '{"b":1,"c":1}'],
    ],
    [
      "patterns of keys",
      {
        properties: { ab: true },
        patternProperties: { "^a": { type: "null" } },
        additionalProperties: { type: "string" },
      },
      ['{"ab":null,"ac":null,"b":"x"}'],
      ['{"ab":1}', '{"ac":"x"}', '{"b":null}'],
    ],
    [
      "a finite class of keys",
      { patternProperties: { "^(y|n)$": true }, additionalProperties: false },
      ['{"y":1}'],
      ['{"m":1}'],
    ],
    ["names of keys", { propertyNames: { maxLength: 1 }, minProperties: 1 }, ['{"a":1}'], ['{"ab":1}', "{}"]],
    [
      "names of keys and a schema for values",
      { propertyNames: { type: "string" }, additionalProperties: { type: "integer" } },
      ['{"a":1}'],
      ['{"a":"s"}'],
    ],
    ["one item that fits", { contains: { const: 1 }, maxContains: 1 }, ["[0,1]"], ["[]", "[1,1]", "[0]"]],
    ["different items", { items: { type: "integer" }, uniqueItems: true }, ["[1,2]"], ["[1,1.0]"]],
    [
      "unevaluated members",
      { anyOf: [{ properties: { a: true } }, { properties: { b: true } }], unevaluatedProperties: false },
      ['{"a":1}', '{"a":1,"b":1}'],
      ['{"c":1}'],
    ],
  ];
  test.each(cases)("%s", (_, schema, accepted, rejected) => {
    const lowered = lower(schema);
    expect([...accepted, ...rejected].filter((text) => accepts(lowered, text))).toEqual(accepted);
  });
});

describe("the policy for objects", () => {
  const cases: [name: string, schema: unknown, accepted: string[], rejected: string[]][] = [
    ["closes where properties are declared", { properties: { a: true } }, ["{}", '{"a":1}'], ['{"b":1}']],
    ["closes without any property", { type: "object", properties: {} }, ["{}"], ['{"a":1}']],
    ["leaves a bare object open", { type: "object" }, ['{"b":1}'], ["[]"]],
    ["leaves what speaks open", { properties: { a: true }, additionalProperties: true }, ['{"b":1}'], []],
    [
      "keeps required names",
      { properties: { a: true }, required: ["b"] },
      ['{"b":1}', '{"a":1,"b":2}'],
      ["{}", '{"b":1,"c":1}'],
    ],
    [
      "unites the names of a case",
      { allOf: [{ properties: { a: true } }, { properties: { b: true } }] },
      ['{"a":1,"b":1}'],
      ['{"c":1}'],
    ],
    [
      "goes by case",
      { anyOf: [{ properties: { a: true } }, { properties: { b: true } }] },
      ['{"a":1}', '{"b":1}'],
      ['{"a":1,"b":1}'],
    ],
    [
      "hears any schema of the case",
      { properties: { a: true }, allOf: [{ additionalProperties: { type: "null" } }] },
      ['{"b":null}'],
      ['{"b":1}', '{"a":1}'],
    ],
    [
      "keeps keys that patterns name",
      { properties: { a: true }, patternProperties: { "^x": { type: "null" } } },
      ['{"a":1,"xy":null}'],
      ['{"b":1}', '{"xy":1}'],
    ],
    [
      "closes nothing for a condition, whose names are allowed where it holds",
      '{"properties":{"a":true},"if":{"properties":{"b":{"const":1}},"required":["b"]},"then":{"required":["c"]}}',
      ['{"a":1}', '{"b":1,"c":1}'],
      ['{"b":1}', '{"b":2}', '{"d":1}'],
    ],
    [
      "opens nothing for what has to fail",
      { properties: { b: true }, anyOf: [{ required: ["b"] }, { not: { properties: { a: { const: 1 } } } }] },
      ['{"b":1}'],
      ['{"a":2}', '{"a":2,"b":1}'],
    ],
    [
      "closes nothing inside a negation",
      { type: "object", not: { properties: { a: { properties: { b: { const: 1 } } } } } },
      ['{"a":{"b":2,"c":1},"d":1}'],
      ['{"a":{"b":1}}', '{"a":{"c":1}}'],
    ],
    [
      "closes each part of a choice",
      {
        oneOf: [
          { properties: { a: true }, required: ["a"] },
          { properties: { b: true }, required: ["b"] },
        ],
      },
      ['{"a":1}', '{"b":1}'],
      ['{"a":1,"c":1}', '{"a":1,"b":1}', "{}"],
    ],
    [
      "leaves what unevaluatedProperties speaks of",
      { properties: { a: true }, unevaluatedProperties: { type: "null" } },
      ['{"b":null}'],
      ['{"b":1}'],
    ],
    ["reaches nested objects", { items: { properties: { a: true } } }, ['[{"a":1}]'], ['[{"b":1}]']],
  ];
  test.each(cases)("%s", (_, schema, accepted, rejected) => {
    const lowered = lower(schema, { closed: true });
    // "hears any schema" demands null of `a` too: additionalProperties of a schema that does not declare it.
    expect([...accepted, ...rejected].filter((text) => accepts(lowered, text))).toEqual(accepted);
  });

  test("orders members as the schema does, undeclared required names after them, others last", () => {
    const schema = { properties: { b: true, a: true }, required: ["z"], additionalProperties: true };
    const lowered = lower(schema, { ordered: true });
    expect(accepts(lowered, '{"b":1,"a":1,"z":1,"c":1}')).toBe(true);
    expect(accepts(lowered, '{"a":1,"z":1}')).toBe(true);
    expect(accepts(lowered, '{"a":1,"b":1,"z":1}')).toBe(false);
    expect(accepts(lowered, '{"c":1,"z":1}')).toBe(false);
  });

  test("names that are listed are members like others, after those that are declared", () => {
    const listed = Array.from({ length: 600 }, (_, i) => `name ${i}`);
    const schema = {
      type: "object",
      properties: { b: { type: "null" }, x: true, a: true },
      patternProperties: { "^name": { type: "integer" }, "5$": { minimum: 3 } },
      propertyNames: { anyOf: [{ enum: [...listed, "a"] }, { const: "b" }] },
    };
    const lowered = lower(schema, { ordered: true });
    expect(accepts(lowered, '{"b":null,"a":"","name 5":3,"name 6":2}')).toBe(true);
    expect(accepts(lowered, '{"a":"","b":null}')).toBe(false);
    for (const text of ['{"x":1}', '{"name 5":2}', '{"name 6":""}', '{"name":1}', '{"name 600":1}']) {
      expect([text, accepts(lowered, text)]).toEqual([text, false]);
    }
    // No key is followed letter by letter through a regex.
    if ("reason" in lowered) throw new Error(lowered.reason);
    expect(lowered.ir.regexes).toEqual([]);
  });

  test("takes only objects where an object is asked for", () => {
    const lowered = lower({}, { objectsOnly: true });
    expect(accepts(lowered, '{"a":[1]}')).toBe(true);
    expect(accepts(lowered, "[1]")).toBe(false);
  });
});

describe("refuses by pointer and keyword", () => {
  const cases: [name: string, schema: unknown, refusal: Refusal][] = [
    [
      "what is no regular language",
      { properties: { "a/b": { type: "string", pattern: "(x)\\1" } } },
      {
        pointer: "/properties/a~1b",
        keyword: "pattern",
        reason: "\"(x)\\\\1\" refers back to a group ('\\1'), which is no regular language",
      },
    ],
    [
      "items that may be arrays and have to differ",
      { properties: { a: { uniqueItems: true } } },
      { pointer: "/properties/a", keyword: "uniqueItems", reason: "is enforced only where every item is a scalar" },
    ],
    [
      "equal items",
      { not: { uniqueItems: true } },
      { pointer: "/not", keyword: "uniqueItems", reason: "cannot be negated: two items would have to be equal" },
    ],
    [
      "a type nobody knows",
      { items: { type: "any" } },
      { pointer: "/items", keyword: "type", reason: '"any" is no JSON type' },
    ],
    [
      "required as in draft 3",
      { required: true },
      { pointer: "", keyword: "required", reason: "has to be an array of strings" },
    ],
    [
      "a count that is none",
      { minItems: 1.5 },
      { pointer: "", keyword: "minItems", reason: "has to be a whole number, zero or more" },
    ],
    [
      "a reference to the outside",
      { $ref: "other.json#/a" },
      { pointer: "", keyword: "$ref", reason: '"other.json#/a" leads to no schema that is given' },
    ],
    [
      "a reference to nothing",
      { $ref: "#/$defs/x" },
      { pointer: "", keyword: "$ref", reason: '"#/$defs/x" leads to no schema that is given' },
    ],
    [
      "a schema that is none",
      { properties: { a: 1 } },
      { pointer: "/properties/a", keyword: "", reason: "has to be an object or a boolean" },
    ],
    [
      "a schema that refers to itself",
      { $ref: "#/$defs/n", $defs: { n: { $ref: "#/$defs/n" } } },
      { pointer: "", keyword: "", reason: "accepts no value at all" },
    ],
    ["nothing", false, { pointer: "", keyword: "", reason: "accepts no value at all" }],
    [
      "contradictions",
      { allOf: [{ type: "string" }, { type: "null" }] },
      { pointer: "", keyword: "", reason: "accepts no value at all" },
    ],
    [
      "no whole number between",
      { type: "integer", minimum: 1.2, maximum: 1.8 },
      { pointer: "", keyword: "", reason: "accepts no value at all" },
    ],
    [
      "a required key that must be absent",
      { type: "object", properties: { a: false }, required: ["a"] },
      { pointer: "", keyword: "", reason: "accepts no value at all" },
    ],
    [
      "more items than there can be",
      { type: "array", prefixItems: [true], items: false, minItems: 2 },
      { pointer: "", keyword: "", reason: "accepts no value at all" },
    ],
    [
      "draft 3",
      { $schema: "http://json-schema.org/draft-03/schema#" },
      { pointer: "", keyword: "$schema", reason: "names a draft older than 4" },
    ],
    [
      "doubled keys",
      '{"type":"null","type":"null"}',
      { pointer: "", keyword: "", reason: 'is no JSON: the key "type" occurs twice in one object, line 1 column 16' },
    ],
    [
      "numbers with too many digits",
      { minimum: 1 },
      { pointer: "", keyword: "minimum", reason: "is a number with too many digits" },
    ],
  ];
  test.each(cases)("%s", (name, schema, refusal) => {
    const text = name === "numbers with too many digits" ? '{"minimum":1e5000}' : schema;
    expect(lower(text)).toEqual(refusal);
  });

  test("a product of choices beyond the budget", () => {
    const choice = (i: number) => ({ anyOf: [{ required: [`a${i}`] }, { required: [`b${i}`] }] });
    const small = lower({ type: "object", allOf: Array.from({ length: 6 }, (_, i) => choice(i)) });
    expect("ir" in small && small.ir.values[small.value]?.cases.length).toBe(64);
    expect(lower({ type: "object", allOf: Array.from({ length: 40 }, (_, i) => choice(i)) })).toMatchObject({
      keyword: "allOf",
      reason: "makes the schema too large to enforce",
    });
  });

  test("long lists stay within the budget, unless every pair of them has to be compared", () => {
    const list = (item: (i: number) => unknown) => lower({ enum: Array.from({ length: 6000 }, (_, i) => item(i)) });
    expect("ir" in list((i) => i)).toBe(true);
    expect("ir" in list((i) => `text ${i}`)).toBe(true);
    expect(list((i) => ({ i }))).toMatchObject({ keyword: "enum", reason: "makes the schema too large to enforce" });
  });

  test("a chain of references that is too long, not a stack that ends", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`d${i}`, i === 4999 ? {} : { $ref: `#/$defs/d${i + 1}` }]),
    );
    expect(lower({ $defs, $ref: "#/$defs/d0" })).toMatchObject({ keyword: "$ref", reason: "is nested too deeply" });
  });
});

describe("schemas that say the same are one value", () => {
  const cases: [name: string, a: unknown, b: unknown][] = [
    ["but for annotations", { type: "string", title: "A" }, { description: "B", type: "string" }],
    ["but for names", { type: "string", $anchor: "a", $defs: { x: {} } }, { type: "string" }],
    ["inside others", { items: { enum: [1, "a"], title: "A" } }, { items: { enum: [1, "a"], default: 1 } }],
    ["under a name of an annotation", { properties: { title: { const: 1 } } }, { properties: { title: { const: 1 } } }],
  ];
  test.each(cases)("%s", (_, a, b) => {
    const places = (b: unknown) => {
      const lowered = lower({ type: "object", properties: { a, b }, additionalProperties: false });
      return "ir" in lowered ? lowered.places : lowered;
    };
    expect(places(b)).toEqual(places(a));
  });

  const x = { type: "null" };
  const ref = { $ref: "#/$defs/x" };
  const own = { $id: "http://x.test/own", $defs: { x: { type: "boolean" } } };
  const old = { $schema: "http://json-schema.org/draft-04/schema#", id: "http://x.test/old" };
  test.each<[name: string, a: unknown, b: unknown, accepted: string, rejected: string]>([
    [
      "the name of a property",
      { properties: { title: x } },
      { properties: { titles: x } },
      '{"a":{"titles":1},"b":{"title":1}}',
      '{"b":{"titles":1}}',
    ],
    [
      "the resource of a reference",
      { ...own, items: ref },
      { items: ref },
      '{"a":[true],"b":[null]}',
      '{"a":[true],"b":[true]}',
    ],
    ["the draft", { ...old, items: { const: 1 } }, { items: { const: 1 } }, '{"a":[2],"b":[1]}', '{"a":[2],"b":[2]}'],
    ["a literal's type", { const: "1" }, { const: 1 }, '{"a":"1","b":1}', '{"a":1,"b":1}'],
    ["a text that looks like two", { enum: ["a,b"] }, { enum: ["a", "b"] }, '{"a":"a,b","b":"b"}', '{"a":"b"}'],
  ])("but not where they differ in %s", (_, a, b, accepted, rejected) => {
    const lowered = lower({ properties: { a, b }, $defs: { x } });
    expect([accepted, rejected].map((text) => accepts(lowered, text))).toEqual([true, false]);
  });

  test("and what is no schema is none beside one that says nothing", () => {
    expect(lower({ properties: { a: {}, b: 0 } })).toMatchObject({ pointer: "/properties/b", keyword: "" });
  });
});

test("values report the place they come from", () => {
  const lowered = lower({ properties: { a: { type: "null" } } }, { closed: true, originFirst: 5 });
  if ("reason" in lowered) throw new Error("refused");
  const places = lowered.ir.values.map((value) => [value.cases.length, lowered.places[value.origin - 5]]);
  // Beside the root and its member, the items of an array, which may be anything.
  expect(places).toEqual([
    [7, ""],
    [7, ""],
    [1, "/properties/a"],
  ]);
});
