import { expect, test } from "bun:test";
import { grammarIr, refusalOf } from "../../tests/fixtures/grammar.ts";
import { accepts, symbolsOf } from "../../tests/oracle/ir-acceptor.ts";

test("one of the texts and nothing else", () => {
  const texts = ["yes", "no", "yes, sir", "", "é"];
  const built = grammarIr({ syntax: "choice", texts });
  if (!built.ok) throw new Error(JSON.stringify(built.failure));
  const tried = [...texts, "ye", "yes,", "yesno", "e", "no "];
  expect(tried.filter((text) => accepts(built.value, symbolsOf(text)))).toEqual(texts);
});

test("what fits nothing is refused", () => {
  expect(refusalOf({ syntax: "choice", texts: [] })).toBe(" : has no texts, so nothing fits it");
  expect(refusalOf({ syntax: "choice", texts: ["a", "\ud800"] })).toBe("/1 : has half a surrogate pair");
});
