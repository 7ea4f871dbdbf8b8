import { describe, expect, test } from "bun:test";
import { grammarIr, refusalOf } from "../../../tests/fixtures/grammar.ts";
import { accepts, type OutputSymbol, symbolsOf, tokenSymbol } from "../../../tests/oracle/ir-acceptor.ts";
import type { GrammarSource } from "../../generation/grammar-source.ts";

const special = new Map([
  ["<call>", 7],
  ["</call>", 8],
  ["<x>", 9],
]);
/** A text in which `⟨…⟩` is the token of what it encloses. */
function output(text: string): OutputSymbol[] {
  return text
    .split(/(⟨[^⟩]*⟩)/)
    .flatMap((part) => (part.startsWith("⟨") ? [tokenSymbol(special.get(part.slice(1, -1)) ?? 99)] : symbolsOf(part)));
}

const source = (value: unknown) => ({ syntax: "structural_tag", text: JSON.stringify(value) }) as const;
const formatOf = (format: unknown) => source({ type: "structural_tag", format });
const text = (value: string) => ({ type: "const_string", value });
const anyText = { type: "any_text" };
const integer = { type: "json_schema", json_schema: { type: "integer", minimum: 0, maximum: 9 } };
const tag = (begin: unknown, content: unknown, end: unknown) => ({ type: "tag", begin, content, end });
const tags = [tag("<f=a>", integer, "</f>"), tag("<f=b>", anyText, ["</f>", "</b>"])];
const token = (name: string | number) => ({ type: "token", token: name });

type Case = readonly [source: unknown, accepted: readonly string[], rejected: readonly string[]];
const formats: readonly Case[] = [
  [text("a"), ["a"], ["", "ab"]],
  [integer, ["7"], ["10", "x"]],
  [{ type: "grammar", grammar: 'root ::= root "+" root | "1"' }, ["1", "1+1+1"], ["", "1+"]],
  [anyText, ["", "a<é"], ["⟨<x>⟩"]],
  [{ ...anyText, excludes: ["ab", "c"] }, ["", "a", "ba"], ["ab", "xc"]],
  [{ ...anyText, max_chars: 2, excludes: ["ab"] }, ["", "ba", "éé"], ["ab", "aaa"]],
  [{ type: "sequence", elements: [text("a"), integer] }, ["a1"], ["a", "1"]],
  [{ type: "or", elements: [text("a"), integer] }, ["a", "1"], ["a1"]],
  [{ type: "optional", content: text("a") }, ["", "a"], ["aa"]],
  [{ type: "star", content: text("a") }, ["", "aaa"], ["b"]],
  [{ type: "plus", content: text("a") }, ["a", "aaa"], [""]],
  [{ type: "repeat", min: 2, max: 3, content: text("a") }, ["aa", "aaa"], ["a", "aaaa"]],
  [{ type: "repeat", min: 1, max: -1, content: text("a") }, ["a", "aaaa"], [""]],
  [tags[0], ["<f=a>1</f>"], ["<f=a>x</f>", "<f=a>1"]],
  [tags[1], ["<f=b></f>", "<f=b>x</b>"], ["<f=b>x</f>y</b>", "<f=b>x"]],
  [
    tag("<call>", anyText, "</call>"),
    ["<call>x</call>", "⟨<call>⟩x⟨</call>⟩", "⟨<call>⟩x</call>"],
    ["⟨<call>⟩⟨<x>⟩</call>"],
  ],
  [
    tag("<a>", { type: "sequence", elements: [anyText, text("!")] }, "</a>"),
    ["<a>x!</a>", "<a>!!</a>"],
    ["<a></a>!</a>"],
  ],
  [
    { type: "triggered_tags", triggers: ["<f="], tags },
    ["", "x<f", "x<f=a>1</f>y<f=b>2</f>"],
    ["<f=c>1</f>", "<f=a>x</f>", "x<f="],
  ],
  [
    { type: "triggered_tags", triggers: ["<f="], tags, at_least_one: true },
    ["<f=a>1</f>", "<f=a>1</f>x<f=b>2</f>"],
    ["", "x<f=a>1</f>"],
  ],
  [
    { type: "triggered_tags", triggers: ["<f="], tags, stop_after_first: true, excludes: ["no"] },
    ["", "x<f=a>1</f>"],
    ["<f=a>1</f>x", "no"],
  ],
  [
    { type: "triggered_tags", triggers: ["<f="], tags, at_least_one: true, stop_after_first: true },
    ["<f=a>1</f>"],
    ["", "<f=a>1</f><f=a>1</f>"],
  ],
  [{ type: "tags_with_separator", tags, separator: ";" }, ["", "<f=a>1</f>;<f=a>2</f>"], ["<f=a>1</f>;", ";"]],
  [{ type: "tags_with_separator", tags, separator: "", at_least_one: true }, ["<f=a>1</f><f=a>2</f>"], [""]],
  [
    { type: "tags_with_separator", tags, separator: ";", stop_after_first: true },
    ["", "<f=a>1</f>"],
    ["<f=a>1</f>;<f=a>1</f>"],
  ],
  [
    {
      type: "dispatch",
      rules: [
        ["#", integer],
        ["@", text("me")],
      ],
    },
    ["", "a#1 @me", "#1#2"],
    ["#", "@you"],
  ],
  [{ type: "dispatch", rules: [["#", integer]], loop: false, excludes: ["!"] }, ["a#1"], ["#1#2", "!"]],
  [token("<x>"), ["⟨<x>⟩"], ["<x>", ""]],
  [{ type: "exclude_token", exclude_tokens: ["<x>", 3] }, ["⟨<call>⟩", "a"], ["⟨<x>⟩", ""]],
  [{ type: "any_tokens", exclude_tokens: ["<x>"], max_tokens: 2 }, ["", "a⟨<call>⟩"], ["⟨<x>⟩", "aaa"]],
  [
    tag(token("<call>"), { type: "any_tokens" }, token(8)),
    ["⟨<call>⟩a⟨<x>⟩⟨</call>⟩"],
    ["⟨<call>⟩⟨</call>⟩⟨</call>⟩", "<call>⟨</call>⟩"],
  ],
  [
    {
      type: "token_triggered_tags",
      trigger_tokens: ["<call>"],
      tags: [tag(token("<call>"), integer, token("</call>"))],
    },
    ["", "a⟨<x>⟩⟨<call>⟩1⟨</call>⟩b"],
    ["⟨<call>⟩x⟨</call>⟩", "⟨<call>⟩"],
  ],
  [
    { type: "token_dispatch", rules: [["<x>", integer]], exclude_tokens: [7] },
    ["a⟨<x>⟩1b⟨<x>⟩2"],
    ["⟨<x>⟩", "⟨<call>⟩"],
  ],
];

function check(grammar: ReturnType<typeof source>, accepted: readonly string[], rejected: readonly string[]): void {
  const built = grammarIr(grammar, special);
  if (!built.ok) throw new Error(JSON.stringify(built.failure));
  expect([...accepted, ...rejected].filter((item) => accepts(built.value, output(item)))).toEqual([...accepted]);
}

test.each(formats.map((item) => [JSON.stringify(item[0]), ...item] as const))(
  "%.100s",
  (_, format, accepted, rejected) => {
    check(formatOf(format), accepted, rejected);
  },
);

test("the older form", () => {
  const structures = [
    { begin: "<f=a>", schema: { type: "null" }, end: "</f>" },
    { begin: "<f=b>", schema: { enum: ["x"] }, end: "</f>" },
  ];
  const grammar = source({ type: "structural_tag", structures, triggers: ["<f="] });
  check(grammar, ["", "Hm. <f", '<f=a>null</f> and <f=b>"x"</f>'], ["<f=", "<f=a>1</f>", "<f=b>null</f>"]);
});

describe("refuses by place and name", () => {
  test.each<[value: GrammarSource, refusal: string]>([
    [formatOf({ type: "nope" }), "/format nope: is no format that is known here"],
    [formatOf({ type: "sequence" }), "/format elements: is missing"],
    [
      formatOf({ type: "sequence", elements: [text("a"), { type: "regex" }] }),
      "/format/elements/1 pattern: is missing",
    ],
    [formatOf({ ...text("a"), valu: 1 }), "/format valu: is not known here"],
    [formatOf(tag({ ...token(3), toke: 1 }, integer, "x")), "/format/begin toke: is not known here"],
    [formatOf({ type: "dispatch", rules: [["<a>", integer, 1]] }), "/format rules: has to list pairs"],
    [formatOf(token(1000)), "/format token: names 1000, which is no token of this model"],
    [
      formatOf({ type: "exclude_token", exclude_tokens: [1000] }),
      "/format exclude_tokens: names 1000, which is no token of this model",
    ],
    [formatOf({ ...integer, style: "qwen_xml" }), "/format style: 'qwen_xml' cannot be enforced; only 'json' can"],
    [formatOf({ ...anyText, max_tokens: 3 }), "/format max_tokens: cannot be enforced for text; 'max_chars' can"],
    [formatOf({ type: "repeat", min: 3, max: 2, content: text("a") }), "/format max: is below 'min'"],
    [
      formatOf({ type: "triggered_tags", triggers: ["<f=", "<"], tags }),
      '/format triggers: has 2 triggers that begin "<f=a>"; each tag needs one',
    ],
    [formatOf(token("ab")), '/format token: names "ab", which is 2 tokens of this model, not one'],
    [formatOf({ type: "grammar", grammar: "root ::= x" }), "/format/grammar 1:10 x: is a rule that is not defined"],
    [formatOf({ type: "tag", begin: "a", content: anyText, end: [] }), "/format end: has to say how the tag ends"],
    [source({ type: "other" }), " type: has to be 'structural_tag'"],
    [source([]), " : has to be an object"],
    [{ syntax: "structural_tag", text: "{" }, " : is no JSON: a key was expected, line 1 column 2"],
  ])("%j", (value, refusal) => {
    expect(refusalOf(value)).toBe(refusal);
  });
});
