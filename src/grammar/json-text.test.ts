import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { atPointer, type JsonText, pointerTo, pointerTokens, readJson, sliceByPointer } from "./json-text.ts";

const bounds = { charactersMax: 10_000, depthMax: 8, duplicateKeys: "refuse" } as const;

describe("readJson", () => {
  const refused: [text: string, message: string][] = [
    ["", "a value was expected, line 1 column 1"],
    ["[1,]", "a value was expected, line 1 column 4"],
    ['{"a":1,}', "a key was expected, line 1 column 8"],
    ['{"a" 1}', "a colon was expected, line 1 column 6"],
    ["[1 2]", "a comma or the end of the array was expected, line 1 column 4"],
    ["[1}", "a comma or the end of the array was expected, line 1 column 3"],
    ["[1", "a comma or the end of the array was expected, line 1 column 3"],
    ["{}\n {}", "text after the value, line 2 column 2"],
    ["// c\n1", "comments are not JSON, line 1 column 1"],
    ["[1, /* c */ 2]", "comments are not JSON, line 1 column 5"],
    ["01", "text after the value, line 1 column 2"],
    ["+1", "a value was expected, line 1 column 1"],
    ["1.", "number without its digits, line 1 column 1"],
    ["-", "a value was expected, line 1 column 1"],
    ["nul", "a value was expected, line 1 column 1"],
    ["'a'", "a value was expected, line 1 column 1"],
    ['"a', "string without an end, line 1 column 1"],
    ['"\t"', "control character inside a string, line 1 column 1"],
    ['"\\x41"', "invalid escape, line 1 column 1"],
    ['"\\u12"', "invalid \\u escape, line 1 column 1"],
    ['"\\ud800"', "a string with half a surrogate pair, line 1 column 1"],
    ['{"\\ud800":1}', "a key with half a surrogate pair, line 1 column 2"],
    ['{"a":1,\n"b":{"a":1,"\\u0061":2}}', 'the key "a" occurs twice in one object, line 2 column 12'],
    ["[[[[[[[[[1]]]]]]]]]", "arrays and objects nested deeper than 8, line 1 column 9"],
    ["\u00a01", "a value was expected, line 1 column 1"],
  ];
  test.each(refused)("refuses %j", (text, message) => {
    const result = readJson(text, bounds);
    expect(result.ok ? "accepted" : result.failure.message).toBe(message);
  });

  test("has no stack to exhaust", () => {
    const depth = 100_000;
    const text = "[".repeat(depth) + "]".repeat(depth);
    const deep = readJson(text, { ...bounds, charactersMax: text.length, depthMax: depth });
    expect(deep.ok).toBe(true);
    expect(readJson(text, bounds).ok).toBe(false);
  });

  test("keeps the order of keys and the text of numbers", () => {
    const result = readJson('{"b":1.50,"10":1e400,"2":-0,"__proto__":12345678901234567890}', bounds);
    if (!result.ok || result.value.root.kind !== "object") throw new Error("refused");
    const entries = [...result.value.root.entries].map(([key, value]) => [key, value.kind === "number" && value.text]);
    expect(entries).toEqual([
      ["b", "1.50"],
      ["10", "1e400"],
      ["2", "-0"],
      ["__proto__", "12345678901234567890"],
    ]);
  });

  test("lets the last of two keys win where that is asked for", () => {
    const result = readJson('{"a":1,"a":2}', { ...bounds, duplicateKeys: "last" });
    expect(result.ok && plain(result.value.root)).toEqual({ a: 2 });
  });

  test("reads what JSON.stringify writes, with any indentation", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(3), (value, indent) => {
        const result = readJson(JSON.stringify(value, undefined, indent), { ...bounds, charactersMax: 1e9 });
        return result.ok && JSON.stringify(plain(result.value.root)) === JSON.stringify(value);
      }),
    );
  });

  test("agrees with JSON.parse on what is JSON", () => {
    const piece = fc.constantFrom(...'[]{},:"\\-+.eE019 \n\tau', "null", "true", '"a"', '"b":', "1.5", "\u0000");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        return readJson(text, { ...bounds, duplicateKeys: "last", depthMax: 100 }).ok === parses(text);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("pointers", () => {
  const document = readJson('{ "a/b": [ {"m~n": 1.0 }, [] ], "": {"": "x"} }', bounds);
  const cases: [pointer: string, source: string | undefined][] = [
    ["/a~1b/0", '{"m~n": 1.0 }'],
    ["/a~1b/0/m~0n", "1.0"],
    ["/a~1b/1", "[]"],
    ["/a~1b/2", undefined],
    ["/a~1b/00", undefined],
    ["/a~1b/-", undefined],
    ["//", '"x"'],
    ["/nothing/there", undefined],
    ["a", undefined],
    ["/~2", undefined],
  ];
  test.each(cases)("%j", (pointer, source) => {
    if (!document.ok) throw new Error("refused");
    expect(sliceByPointer(document.value, pointer)).toBe(source);
  });

  test("the empty pointer is the document", () => {
    if (!document.ok) throw new Error("refused");
    expect(atPointer(document.value.root, "")).toBe(document.value.root);
  });

  test("escapes round", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (tokens) => {
        const pointer = tokens.reduce<string>(pointerTo, "");
        expect(pointerTokens(pointer)).toEqual(tokens);
      }),
    );
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return !/\\u[dD][89a-fA-F]/.test(text);
  } catch {
    return false;
  }
}

function plain(value: JsonText): unknown {
  switch (value.kind) {
    case "null":
      return null;
    case "number":
      return Number(value.text);
    case "boolean":
    case "string":
      return value.value;
    case "array":
      return value.items.map(plain);
    case "object":
      return Object.fromEntries([...value.entries].map(([key, item]) => [key, plain(item)]));
    default:
      return value satisfies never;
  }
}
