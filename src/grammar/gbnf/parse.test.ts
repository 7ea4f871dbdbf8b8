import { describe, expect, test } from "bun:test";
import { grammarIr, refusalOf } from "../../../tests/fixtures/grammar.ts";
import { accepts, symbolsOf, tokenSymbol } from "../../../tests/oracle/ir-acceptor.ts";

const gbnf = (text: string) => ({ syntax: "gbnf", text }) as const;

type Case = readonly [grammar: string, accepted: readonly string[], rejected: readonly string[]];
const cases: readonly Case[] = [
  ["root ::= \"a\" | 'b'".replaceAll("'", '"'), ["a", "b"], ["", "ab"]],
  ['root ::= # nothing\n  one |\r\n two # or\none ::= "1"\rtwo::="2"', ["1", "2"], ["", "12"]],
  ['root ::= | "x"', ["", "x"], ["xx"]],
  ['root ::= "x" |', ["", "x"], ["xx"]],
  ['root ::= ("a"\n "b"\n)\n', ["ab"], ["a"]],
  ['root ::= "\\x41\\u00e9\\U0001F600\\t\\r\\n\\\\\\"\\[\\]"', ['Aé😀\t\r\n\\"[]'], ["A"]],
  ['root ::= "é😀"', ["é😀"], ["é"]],
  ["root ::= [a-cx-]", ["a", "b", "c", "x", "-"], ["d", "", "ab"]],
  ["root ::= [^a-c\\]\\\\]", ["d", "\n", "é", "😀"], ["a", "]", "\\", "", "dd"]],
  ["root ::= .", ["a", "\n", "😀", "\0"], ["", "ab"]],
  ['root ::= "a"{2} "b"{ 1 , 2 } "c"{2,}', ["aabcc", "aabbccc"], ["abcc", "aabc", "aabbbcc"]],
  ['root ::= "a"{0}"b"{0,1}', ["", "b"], ["a", "bb"]],
  ['root ::= "a"{0,2147483648} "b"', ["b", "aab"], ["a"]],
  ['root ::= "a"{3,2000000000} "b"', ["aaab", "aaaaab"], ["b", "aab"]],
  ['root ::= "a"?* "b"+', ["b", "aab", "abb"], ["a"]],
  ['root ::= (("a" | "") "b")* "c"', ["c", "abbc"], ["a"]],
  ['root ::= a\na ::= "(" a ")" | "x"', ["x", "((x))"], ["(x", "()"]],
  ['root ::= "1"\nroot ::= "2"', ["2"], ["1"]],
  ["root-1_x ::= [0-9]\nroot ::= root-1_x", ["7"], ["x"]],
];

test.each(cases)("%s", (text, accepted, rejected) => {
  const built = grammarIr(gbnf(text));
  if (!built.ok) throw new Error(JSON.stringify(built.failure));
  expect([...accepted, ...rejected].filter((item) => accepts(built.value, symbolsOf(item)))).toEqual([...accepted]);
});

test("tokens stand for themselves, by number and by text", () => {
  const built = grammarIr(gbnf("root ::= <[3]> !<think>* <think>"), new Map([["<think>", 7]]));
  if (!built.ok) throw new Error(JSON.stringify(built.failure));
  const [three, think, other] = [tokenSymbol(3), tokenSymbol(7), tokenSymbol(8)];
  expect(accepts(built.value, [three, think])).toBe(true);
  expect(accepts(built.value, [three, other, ...symbolsOf("ab"), think])).toBe(true);
  expect(accepts(built.value, [three, think, think])).toBe(false);
  expect(accepts(built.value, symbolsOf("<think>"))).toBe(false);
});

describe("refuses by name and place", () => {
  test.each<[text: string, refusal: string]>([
    ['a ::= "x"', " root: is not defined, and the grammar begins with it"],
    ["root ::= a b\nb ::= c", "1:10 a: is a rule that is not defined"],
    ['root ::= a\na ::= a "x" | "y"', "2:1 a: begins with itself (left recursion)"],
    ['root ::= "x"\na ::= b? "y"*\nb ::= (c a)\nc ::= "z"?', "2:1 a: begins with itself (left recursion)"],
    ['root ::= "\\-"', "1:13 : cannot be read: '\\-' is no escape"],
    ['root ::= "\\uD800"', "1:17 : cannot be read: an escape is no code point"],
    ['root ::= "\\x4"', "1:14 : cannot be read: an escape needs 2 hexadecimal digits"],
    ['root ::= "a', "1:12 : cannot be read: a literal has no end"],
    ["root ::= [a", "1:12 : cannot be read: a class has no end"],
    ["root ::= []", "1:12 : cannot be read: a class has no members"],
    ["root ::= [^]", "1:13 : cannot be read: a class has no members"],
    ["root ::= [z-a]", "1:14 : cannot be read: a range ends before it begins"],
    ['root ::= ("a"', "1:14 : cannot be read: ')' was expected"],
    ['root ::= "a")', "1:13 : cannot be read: an item or the end of the rule was expected"],
    ['root ::= "a"{,2}', "1:14 : cannot be read: a repetition begins with a number"],
    ['root ::= "a"{2,1}', "1:18 : cannot be read: a repetition's maximum is below its minimum"],
    ['root ::= "a"{2147483649}', "1:24 : cannot be read: 2147483649 is above 2147483648"],
    ["root ::= <abc>", "1:10 <abc>: is 5 tokens of this model, not one"],
    ["root ::= <[1000]>", "1:10 <[1000]>: is no token of this model"],
    ["root ::= !<[1000]>", "1:10 <[1000]>: is no token of this model"],
    ["root ::= <[x]>", "1:12 : cannot be read: a token is written '<[id]>'"],
    ["root = 1", "1:6 : cannot be read: '::=' was expected"],
    ["", " root: is not defined, and the grammar begins with it"],
  ])("%.40s", (text, refusal) => {
    expect(refusalOf(gbnf(text))).toBe(refusal);
  });
});

test("nested groups are refused, not survived", () => {
  const refusal = refusalOf(gbnf(`root ::= ${"(".repeat(60_000)}`));
  expect(refusal).toBe("1:267 : cannot be read: groups are nested deeper than 256");
});

test("a long chain of rules and a long alternation are no deeper than one", () => {
  const rules = Array.from({ length: 10_000 }, (_, i) => `r${i} ::= r${i + 1} "x"`);
  expect(grammarIr(gbnf(`root ::= r0\n${rules.join("\n")}\nr10000 ::= "y"`)).ok).toBe(true);
  expect(grammarIr(gbnf(`root ::= ${'"x" | '.repeat(20_000)} "y"`)).ok).toBe(true);
});
