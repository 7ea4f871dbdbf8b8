import { expect, test } from "bun:test";
import type { ChannelName } from "../grammar/ir.ts";
import { ArgumentWriter } from "./arguments.ts";

type Write = readonly [ChannelName, string];

const utf8 = new TextEncoder();

function write(writes: readonly Write[]): string {
  const writer = new ArgumentWriter();
  return writes.map(([channel, text]) => writer.write(channel, utf8.encode(text))).join("") + writer.end();
}

function writeBytewise(writes: readonly Write[]): string {
  const writer = new ArgumentWriter();
  let text = "";
  for (const [channel, piece] of writes) {
    const bytes = utf8.encode(piece);
    if (bytes.length === 0) text += writer.write(channel, bytes);
    for (const byte of bytes) text += writer.write(channel, Uint8Array.of(byte));
  }
  return text + writer.end();
}

const cases: readonly (readonly [string, readonly Write[], string])[] = [
  ["no bytes at all", [], "{}"],
  [
    "an object with Python's names",
    [["argument_json", '{"None": [True,False , None,"True"], "a": None, "b":true}']],
    '{"None": [true,false , null,"True"], "a": null, "b":true}',
  ],
  ["a whole object", [["argument_json", '{"a": [1, "é}"]}']], '{"a": [1, "é}"]}'],
  [
    "an object in pieces",
    [
      ["argument_json", '{"a"'],
      ["argument_json", ":1}"],
    ],
    '{"a":1}',
  ],
  [
    "a text",
    [
      ["argument_key", "city"],
      ["argument_text", 'a "b"\n\\ é🌍'],
      ["value_end", "</p>"],
    ],
    '{"city":"a \\"b\\"\\n\\\\ é🌍"}',
  ],
  [
    "an empty text",
    [
      ["argument_key", "a"],
      ["value_end", "</p>"],
    ],
    '{"a":""}',
  ],
  [
    "a value as JSON",
    [
      ["argument_key", "n"],
      ["argument_json", "[1.50,2]"],
      ["value_end", ";"],
    ],
    '{"n":[1.50,2]}',
  ],
  [
    "a key with a quote",
    [
      ["argument_key", 'a"'],
      ["argument_json", "1"],
    ],
    '{"a\\"":1}',
  ],
  [
    "several, with and without an end of value",
    [
      ["argument_key", "a"],
      ["argument_text", "x"],
      ["value_end", "|"],
      ["argument_key", "b"],
      ["argument_json", "null"],
      ["argument_key", "c"],
      ["argument_text", "y"],
    ],
    '{"a":"x","b":null,"c":"y"}',
  ],
];

test.each(cases)("%s", (_, writes, expected) => {
  expect(write(writes)).toBe(expected);
  expect(writeBytewise(writes)).toBe(expected);
  expect(JSON.parse(expected)).toBeObject();
});

test.each([
  [[["argument_json", '{"a":{}']], false, false],
  [[["argument_json", '{"a":"}']], false, false],
  [[["argument_json", '{"a":"\\"}"']], false, false],
  [[["argument_json", "{}"]], true, true],
  [[], false, true],
  [[["argument_key", "a"]], false, false],
  [
    [
      ["argument_key", "a"],
      ["argument_text", "b"],
    ],
    false,
    false,
  ],
  [
    [
      ["argument_key", "a"],
      ["argument_text", "b"],
      ["value_end", "|"],
    ],
    false,
    true,
  ],
] satisfies readonly (readonly [readonly Write[], boolean, boolean])[])(
  "%j is complete: %j, and with its end written: %j",
  (writes, open, closed) => {
    const writer = new ArgumentWriter();
    for (const [channel, text] of writes) writer.write(channel, utf8.encode(text));
    expect([writer.isComplete(false), writer.isComplete(true)]).toEqual([open, closed]);
  },
);
