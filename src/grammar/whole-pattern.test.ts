import { expect, test } from "bun:test";
import { grammarIr, refusalOf } from "../../tests/fixtures/grammar.ts";
import { accepts, symbolsOf } from "../../tests/oracle/ir-acceptor.ts";

test.each<[pattern: string, accepted: readonly string[], rejected: readonly string[]]>([
  ["a|bc", ["a", "bc"], ["abc", "xa", ""]],
  ["^(?P<month>May|June) (?P<day>\\d{1,2})$", ["May 5", "June 12"], ["May 123", "May"]],
  ["[(?P<]\\(\\?P<", ["((?P<", "P(?P<"], ["(?P<"]],
  ["(?=.*\\d)[a-z\\d]{2}", ["a1", "11"], ["ab", "a1b"]],
])("%s", (text, accepted, rejected) => {
  const built = grammarIr({ syntax: "regex", text });
  if (!built.ok) throw new Error(JSON.stringify(built.failure));
  expect([...accepted, ...rejected].filter((item) => accepts(built.value, symbolsOf(item)))).toEqual([...accepted]);
});

test("what is not regular is refused", () => {
  expect(refusalOf({ syntax: "regex", text: "(a)\\1" })).toStartWith(" : ");
  expect(refusalOf({ syntax: "regex", text: "(" })).toStartWith(" : is no regular expression of ECMAScript");
});
