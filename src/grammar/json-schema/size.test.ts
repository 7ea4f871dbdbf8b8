/** What would multiply, and stays small. */
import { expect, test } from "bun:test";
import { accepts, lower } from "../../../tests/fixtures/lowered.ts";

test("equal sets of conjuncts are one value, so a recursive schema stays small", () => {
  const tree = { type: "object", properties: { l: { $ref: "#/$defs/t" }, r: { $ref: "#/$defs/t" } } };
  const lowered = lower({ $defs: { t: tree }, $ref: "#/$defs/t" }, { closed: true });
  // The reference and its target, twice: at the root and as a member.
  expect("ir" in lowered && lowered.ir.values.length).toBeLessThanOrEqual(3);
});

test("parts that are told apart by a name each, which may all be there, stay a few cases", () => {
  const part = (key: string) => ({ properties: { [key]: { type: "string" } }, required: [key] });
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const lowered = lower({ type: "object", oneOf: names.map(part) });
  if ("reason" in lowered) throw new Error("refused");
  expect(lowered.ir.values[lowered.value]?.cases.length).toBe(names.length);
  const texts = ['{"a":"x"}', '{"a":"x","b":1}', '{"h":"x","z":[]}', '{"a":"x","b":"x"}', '{"a":1}', "{}"];
  expect(texts.filter((text) => accepts(lowered, text))).toEqual(texts.slice(0, 3));
});

test("a member that lists tell apart has no more ways than there are texts, and one for all others", () => {
  const part = (i: number) => ({ properties: { a: { enum: [`x${i}`, `x${i + 1}`] }, b: { const: i } } });
  const parts = [0, 1, 2, 3, 4, 5, 6, 7].map(part);
  const lowered = lower({ type: "object", oneOf: [...parts, { properties: { b: { const: 8 } } }] });
  if ("reason" in lowered) throw new Error("refused");
  const ways = lowered.ir.values[lowered.value]?.cases.flatMap((one) =>
    one.type === "object" ? one.properties.filter(({ key }) => key === "a").map(({ options }) => options.length) : [],
  );
  expect(ways?.length).toBeGreaterThan(0);
  expect(Math.max(...(ways ?? []))).toBeLessThanOrEqual(10);
  const texts = [
    '{"a":"x3","b":3}',
    '{"a":"y","b":8}',
    '{"a":"x3","b":8}',
    "{}",
    '{"a":"x3"}',
    '{"a":"y"}',
    '{"a":"y","b":1}',
  ];
  expect(texts.filter((text) => accepts(lowered, text))).toEqual([...texts.slice(0, 3), '{"a":"y"}']);
});

test("a choice sees a name that is required around it, before it or after", () => {
  const kind = (i: number) => ({ properties: { kind: { const: i }, value: { minimum: i } }, required: ["value"] });
  const choice = { $ref: "#/$defs/choice" };
  const $defs = { choice: { allOf: [{ oneOf: Array.from({ length: 30 }, (_, i) => kind(i)) }] } };
  const around = { type: "object", properties: { name: { type: "string" } }, required: ["kind", "name"] };
  for (const schema of [{ ...around, allOf: [choice] }, { allOf: [choice, around] }, { ...around, ...choice }]) {
    const lowered = lower({ $defs, ...schema });
    if ("reason" in lowered) throw new Error("refused");
    expect(lowered.ir.values[lowered.value]?.cases.length).toBe(30);
    const texts = ['{"kind":7,"name":"a","value":7}', '{"kind":7,"name":"a","value":6}', '{"name":"a","value":7}'];
    expect(texts.map((text) => accepts(lowered, text))).toEqual([true, false, false]);
  }
});

test("conditions that one member tells apart are as many cases, one without it and one for all others", () => {
  const condition = (i: number) =>
    `{"if":{"properties":{"kind":{"const":"k${i}"}}},"then":{"properties":{"v${i}":{"type":"null"}}}}`;
  const conditions = Array.from({ length: 40 }, (_, i) => condition(i)).join();
  const lowered = lower(`{"type":"object","properties":{"kind":{"type":"string"}},"allOf":[${conditions}]}`);
  if ("reason" in lowered) throw new Error("refused");
  expect(lowered.ir.values[lowered.value]?.cases.length).toBe(42);
  const texts = [
    '{"kind":"k7","v7":null,"v8":1}',
    '{"kind":"z","v7":1}',
    '{"v7":null}',
    '{"v7":1}',
    '{"kind":"k7","v7":1}',
  ];
  expect(texts.map((text) => accepts(lowered, text))).toEqual([true, true, true, false, false]);
});

test("hundreds of conditions on one member are within the budget", () => {
  const condition = (i: number) => `{"if":{"properties":{"kind":{"const":${i}}}},"then":{"required":["v${i}"]}}`;
  const conditions = Array.from({ length: 250 }, (_, i) => condition(i)).join();
  const lowered = lower(`{"type":"object","required":["kind"],"allOf":[${conditions}]}`);
  if ("reason" in lowered) throw new Error("refused");
  const texts = ['{"kind":249,"v249":1}', '{"kind":250}', '{"kind":249}', '{"kind":0,"v249":1}'];
  expect(texts.map((text) => accepts(lowered, text))).toEqual([true, true, false, false]);
});

test("a part without the name that tells the others apart is a few cases for each of them, not a product", () => {
  const part = (i: number) => ({
    properties: { kind: { const: i }, [`a${i}`]: { minimum: i }, [`b${i}`]: { minimum: i } },
    required: ["kind", `a${i}`, `b${i}`],
  });
  const parts = Array.from({ length: 12 }, (_, i) => part(i));
  const lowered = lower({ type: "object", oneOf: [...parts, { required: ["c"] }] });
  if ("reason" in lowered) throw new Error("refused");
  expect(lowered.ir.values[lowered.value]?.cases.length).toBeLessThanOrEqual(5 * 12);
  const accepted = ['{"c":1}', '{"c":1,"kind":3,"a3":3}', '{"c":1,"kind":3,"a3":3,"b3":2}', '{"kind":9,"a9":9,"b9":9}'];
  const rejected = ["{}", '{"c":1,"kind":3,"a3":3,"b3":3}', '{"kind":3,"a3":3}'];
  expect([...accepted, ...rejected].filter((text) => accepts(lowered, text))).toEqual(accepted);
});

test("choices of patterns do not multiply, since one pattern can choose", () => {
  const choice = (...patterns: readonly string[]) => ({ anyOf: patterns.map((pattern) => ({ pattern })) });
  const choices = [choice("^a", "^b", "^c"), choice("1", "2", "x$"), choice("y", "z$", "^.{3}$")];
  const lowered = lower({ type: "string", maxLength: 9, allOf: choices });
  if ("reason" in lowered) throw new Error("refused");
  expect(lowered.ir.values[lowered.value]?.cases.length).toBeLessThanOrEqual(3);
  const texts = ['"a1y"', '"b2yyz"', '"c.x"', '"a11"', '"d1y"', '"a.y"', '"a111"', '"a1yyyyyyyy"'];
  expect(texts.filter((text) => accepts(lowered, text))).toEqual(texts.slice(0, 4));
});

test("choices of lengths stay apart, each with its patterns", () => {
  const short = { maxLength: 2, pattern: "a" };
  const lowered = lower({
    type: "string",
    allOf: [
      { anyOf: [short, { pattern: "bb" }, { pattern: "^c" }, { const: "d" }] },
      { anyOf: [{ pattern: "^.b" }, { pattern: "e$" }, { const: "d" }] },
    ],
  });
  if ("reason" in lowered) throw new Error("refused");
  const texts = ['"ab"', '"abb"', '"ce"', '"d"', '"abc"', '"a"', '"c"'];
  expect(texts.filter((text) => accepts(lowered, text))).toEqual(texts.slice(0, 4));
});
