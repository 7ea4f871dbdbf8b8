import { describe, expect, test } from "bun:test";
import { grammarIr, refusalOf } from "../../../tests/fixtures/grammar.ts";
import { accepts, type OutputSymbol, symbolsOf, tokenSymbol } from "../../../tests/oracle/ir-acceptor.ts";

const lark = (text: string) => ({ syntax: "lark", text }) as const;
const special = new Map([
  ["<|x|>", 7],
  ["<think>", 8],
]);
/** `⟨…⟩` is the token of what it encloses. */
function output(text: string): OutputSymbol[] {
  return text
    .split(/(⟨[^⟩]*⟩)/)
    .flatMap((part) => (part.startsWith("⟨") ? [tokenSymbol(special.get(part.slice(1, -1)) ?? 99)] : symbolsOf(part)));
}

type Case = readonly [grammar: string, accepted: readonly string[], rejected: readonly string[]];
const cases: readonly Case[] = [
  ['start: "a" | "b" "c"', ["a", "bc"], ["", "ab"]],
  ['start: A b?\nA: "x"+ // some\n# and\nb: "y"', ["x", "xxy"], ["y", ""]],
  ['start: "a"\n  | "b" -> other\n\n  | "c"\nx: "d"', ["a", "b", "c"], ["d"]],
  [
    '?start: expr\n!expr: expr "+" term | term\nterm: term "*" "1" | "1" | "(" expr ")"',
    ["1", "1+1*1+(1+1)"],
    ["1+", "(1"],
  ],
  ['start: "a"i "Bc"i "É"i', ["abcé", "ABCÉ"], ["abce"]],
  ['start: "a".."c" "0".."9"', ["a0", "c9"], ["d0", "a"]],
  ["start: /[a-c]+d?/ /E/i /./s", ["abdex", "cE\n"], ["dex"]],
  ["start: /a\\/b/ /[\\/]/", ["a/b/"], ["a\\/b/"]],
  ['start: "\\"\\\\\\n\\u00e9\\x41\\ud83d\\ude00"', ['"\\\néA😀'], ["A"]],
  ['start: "a"~2 "b"~1..2 "c"{2} "d"{,1} "e"{1,} ["f"]', ["aabcce", "aabbccdeef"], ["abcce", "aabcc"]],
  ['start: ("a" | "b" "c")+ "d"*', ["a", "bcad"], ["d"]],
  ["start: INT _EXP?\n%import common.INT\n%import common._EXP", ["12", "1e-5"], ["e5"]],
  [
    "start: N [S]\n%import common.SIGNED_NUMBER -> N\n%import common (ESCAPED_STRING)\nS: ESCAPED_STRING",
    ["-1.5", '2"a\\"b"'],
    ['1"'],
  ],
  [
    'start: "a" NAME\nNAME: /[a-z]+/\n%import common.WS\n%ignore WS\n%ignore /#[^\\n]*/',
    ["a b", "ab ", "a # x\n b"],
    [" a b", "a"],
  ],
  ['start: "a"\n%ignore " "\n%llguidance {"allow_initial_skip": true, "no_forcing": true}', ["a", "  a "], ["b"]],
  ["start: W\nW: /[a-z]+/ & ~/x.*/ & /.../", ["abc"], ["xbc", "ab"]],
  ['start: T\nT: A | B\nA: "1" B\nB: "2"~1..2', ["12", "2", "122"], ["1"]],
  ['start: x "!"\nx[lazy]: /[ab]*b/', ["aab!", "b!"], ["bb!", "a!"]],
  ['start: x "!"\nx[suffix="</a>", capture="y"]: /.*/', ["a<b</a>!", "</a>!"], ["</a></a>!", "a!"]],
  [
    'start: "v=" %json {"type": "object", "properties": {"a": {"enum": ["}", 1]}}, "required": ["a"]} ";"',
    ['v={"a": 1};', 'v={"a":"}"};'],
    ["v=1;"],
  ],
  ['start: %regex {"substring_words": "the quick fox"} "."', ["quick fox.", ".", "the.", " ."], ["the fox.", "qu."]],
  ['start: %regex {"substring_chars": "abc"}', ["", "b", "bc", "abc"], ["ac"]],
  ['start: %regex {"substring_chunks": ["a b", "c"]}', ["a b", "a bc", "c"], ["a"]],
  ['start: "[" %lark { start: x "2"\n x: "1" } "]" x\nx: "3"', ["[12]3"], ["[32]3", "[12]1"]],
  ["start: <|x|> <[7]> <think>", ["⟨<|x|>⟩⟨<|x|>⟩⟨<think>⟩"], ["<|x|>⟨<|x|>⟩⟨<think>⟩"]],
  ["start: <[7-8]> <[^7]> <[*]>", ["⟨<think>⟩⟨<think>⟩⟨<|x|>⟩"], ["⟨<|x|>⟩⟨<|x|>⟩⟨<|x|>⟩"]],
  ['start: a\na: a b | b b |\nb: a? "x"', ["", "xx", "xxx"], ["y"]],
  ['start: "a" b ( | "d")\nb: | "c"', ["a", "ac", "ad", "acd"], ["", "c"]],
  ['start: "a" b\nb:\n  | "c"\n  | "d"', ["a", "ac", "ad"], ["cd"]],
  ["%import common (INT,\n  WS)\n%import common.INT\nstart: INT WS INT", ["1 2"], ["12"]],
];

test.each(cases)("%s", (text, accepted, rejected) => {
  const built = grammarIr(lark(text), special);
  if (!built.ok) throw new Error(JSON.stringify(built.failure));
  expect([...accepted, ...rejected].filter((item) => accepts(built.value, output(item)))).toEqual([...accepted]);
});

describe("refuses by name and place", () => {
  test.each<[text: string, refusal: string]>([
    ['a: "x"', " start: is not defined, and the grammar begins with it"],
    ['start: a B\na: "x"', "1:10 B: is a terminal that is not defined"],
    ["start: a", "1:8 a: is a rule that is not defined"],
    ['start: "a"\nstart: "b"', "2:1 start: is defined twice"],
    ['start: A\nA: "a" B\nB: A', "3:4 A: is a terminal that is part of itself"],
    ['start{x}: "a"', "1:1 start: is a template, which is not supported"],
    ["start: sep{A, B}", "1:8 sep: is a template, which is not supported"],
    ['start: A\nA.2: "a"', "2:1 A: has a priority, which is not supported"],
    ['start::_: "a"', "1:1 start: has a parameter, which is not supported"],
    ["%declare A", "1:1 %declare: is not supported"],
    ['%override start: "a"', "1:1 %override: is not supported"],
    ["%import python.NAME", "1:1 python.NAME: is not imported from 'common', and nothing else can be"],
    ["%import common.NOPE", "1:1 NOPE: is no terminal of 'common'"],
    ['INT: "x"\n%import common.INT', "2:1 INT: is defined twice"],
    ["%import common (INT, WS) -> X", "1:1 X: is one name for a list of terminals"],
    ["%import common", "1:1 : is no terminal of 'common'"],
    ['%llguidance {"allow_initial_skip": 1}', "1:1 allow_initial_skip: is an option that is not true or false"],
    ['%llguidance {"unheard_of": 1}', "1:1 unheard_of: is an option that is not true or false"],
    ["start: <[1-1000]>", "1:8 <[1-1000]>: names a token that this model does not have"],
    ["start: <[^1000]>", "1:8 <[^1000]>: names a token that this model does not have"],
    ["start: /[[:alpha:]]/", "1:8 /[[:alpha:]]/: has '[:alpha:]' in a class, which ECMAScript does not know"],
    ["start: /a/x", "1:8 x: is a flag that is not supported"],
    ["start: /(a/", "1:8 /(a/: is no regular expression of ECMAScript: Unterminated group"],
    ['start[max_tokens=3]: "a"', "1:1 start: has the attribute 'max_tokens', which is not supported"],
    ['%llguidance {"allow_invalid_utf8": true}', "1:1 allow_invalid_utf8: is an option that is not supported"],
    ['start: ~A\nA: "a"', "1:8 ~: can stand in terminals only"],
    ["start: A\nA: <|x|>", "2:4 <|x|>: is 5 tokens of this model, not one"],
    ['start: %json {"type": "x"}', '1:8 type: "x" is no JSON type'],
    ['start: "a', "1:10 : cannot be read: a string has no end"],
    ['start: "\\q"', "1:11 : cannot be read: '\\q' is no escape"],
    ['start: "a"~2..1', "1:16 : cannot be read: a repetition's maximum is below its minimum"],
    ['start: ("a"', "1:12 : cannot be read: ')' was expected"],
    ['start: "a" )', "1:12 : cannot be read: an item or the end of the rule was expected"],
  ])("%s", (text, refusal) => {
    expect(refusalOf(lark(text))).toStartWith(refusal);
  });

  test("nested groups", () => {
    expect(refusalOf(lark(`start: ${"(".repeat(60_000)}`))).toContain("groups are nested deeper than 256");
  });
});
