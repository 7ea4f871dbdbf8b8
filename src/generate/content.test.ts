import { expect, test } from "bun:test";
import fc from "fast-check";
import type { TokenLogprob } from "../generation/event.ts";
import { Content } from "./content.ts";

type Run = { readonly text: string; readonly stoppedBy: string | undefined };

/** What comes out when `bytes` go in as these pieces. */
function run(pieces: readonly Uint8Array[], stop: readonly string[]): Run {
  const content = new Content(stop);
  let text = "";
  for (const bytes of pieces) {
    text += content.push([{ bytes, entry: undefined }]).text;
    if (content.stoppedBy !== undefined) return { text, stoppedBy: content.stoppedBy };
  }
  text += content.flush().text;
  return { text, stoppedBy: content.stoppedBy };
}

const utf8 = new TextEncoder();
const bytewise = (text: string) => [...utf8.encode(text)].map((byte) => Uint8Array.of(byte));

test.each([
  ["abc", [], "abc", undefined],
  ["abc", ["b"], "a", "b"],
  ["abcd", ["bcd", "c"], "ab", "c"],
  ["abcd", ["c", "bc"], "a", "bc"],
  ["aaab", ["aab"], "a", "aab"],
  ["ab\n\ncd", ["\n\n"], "ab", "\n\n"],
  ["ends with a prefix: EN", ["END"], "ends with a prefix: EN", undefined],
  ["é🌍ü", ["🌍"], "é", "🌍"],
  ["\uFEFFa", ["b"], "\uFEFFa", undefined],
  ["END", ["END"], "", "END"],
])("%j with the stop strings %j is %j", (text, stop, expected, stoppedBy) => {
  expect(run([utf8.encode(text)], stop)).toEqual({ text: expected, stoppedBy });
  expect(run(bytewise(text), stop)).toEqual({ text: expected, stoppedBy });
});

test("the same text comes out of any split of the bytes", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", "é", "🌍"), maxLength: 40 });
  const stops = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "🌍"), minLength: 1, maxLength: 4 }), {
    maxLength: 3,
  });
  fc.assert(
    fc.property(letters, stops, fc.array(fc.nat(160)), (text, stop, cuts) => {
      const bytes = utf8.encode(text);
      const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
      const pieces = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
      expect(run(pieces, stop)).toEqual(run(bytewise(text), stop));
    }),
  );
});

test("no piece ends inside a code point, and what is not UTF-8 becomes U+FFFD", () => {
  const content = new Content([]);
  const push = (...bytes: number[]) => content.push([{ bytes: Uint8Array.from(bytes), entry: undefined }]).text;
  expect([push(0xf0), push(0x9f, 0x8c), push(0x8d, 0x61), push(0xe2, 0x82), content.flush().text]).toEqual([
    "",
    "",
    "🌍a",
    "",
    "\uFFFD",
  ]);
  expect(push(0x62)).toBe("b");
});

test("the start of a stop string is held back, and no more than that", () => {
  const content = new Content(["stop", "top!"]);
  const push = (text: string) => content.push([{ bytes: utf8.encode(text), entry: undefined }]).text;
  expect([push("a st"), push("o"), push("x to"), push("p"), push("s")]).toEqual([
    "a ",
    "",
    "stox ",
    "",
    "tops".slice(0, 3),
  ]);
  expect(content.flush().text).toBe("s");
});

test("a log-probability comes with the text in which its token begins, and none after the stop", () => {
  const entry = (token: number): TokenLogprob => ({ token, bytes: new Uint8Array(), logprob: -token, top: [] });
  const content = new Content(["END"]);
  const push = (token: number, text: string | Uint8Array) => {
    const bytes = typeof text === "string" ? utf8.encode(text) : text;
    const piece = content.push([{ bytes, entry: entry(token) }]);
    return [piece.text, piece.logprobs.map((each) => each.token)];
  };
  expect([
    push(1, "a"),
    push(2, Uint8Array.of(0xf0, 0x9f)),
    push(3, Uint8Array.of(0x8c, 0x8d)),
    push(4, "bE"),
    push(5, "N"),
    push(6, "O"),
    push(7, "cEND"),
  ]).toEqual([
    ["a", [1]],
    ["", []],
    ["🌍", [2, 3]],
    ["b", [4]],
    ["", []],
    ["ENO", [5, 6]],
    ["c", [7]],
  ]);
});
