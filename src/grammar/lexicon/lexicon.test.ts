import { expect, test } from "bun:test";
import { grammarIr, refusalOf } from "../../../tests/fixtures/grammar.ts";
import { oneOf, seededRandom } from "../../../tests/fixtures/random.ts";
import { accepts, symbolsOf } from "../../../tests/oracle/ir-acceptor.ts";
import { lexiconIndex, readLexicon } from "./reading.ts";
import { consonants, folded, variants } from "./skeleton.ts";

const words = ["Straße", "ice", "ice cream", "cream", "naïve", "don't", "İstanbul"];

function isOutput(text: string, fold: boolean): boolean {
  const built = grammarIr({ syntax: "lexicon", words, fold });
  if (!built.ok) throw new Error(JSON.stringify(built.failure));
  return accepts(built.value, symbolsOf(text));
}

test.each<[text: string, plain: string | undefined, fold: string | undefined]>([
  ["ice", "ice", "ice"],
  [" ice, cream!", "ice|cream", "ice|cream"],
  ["ice cream", "ice cream", "ice cream"],
  ["ice  cream.", "ice|cream", "ice|cream"],
  ["don't-ice", "don't|ice", "don't|ice"],
  ["Naive NAÏVE naïve", undefined, "naïve|naïve|naïve"],
  ["STRASSE straße", undefined, "Straße|Straße"],
  ["icecream", undefined, undefined],
  ["ic", undefined, undefined],
  ["", undefined, undefined],
  ["ice     cream", undefined, undefined],
  ["ice cream sundae", undefined, undefined],
])("%s", (text, plain, fold) => {
  for (const [folds, expected] of [
    [false, plain],
    [true, fold],
  ] as const) {
    expect(isOutput(text, folds)).toBe(expected !== undefined);
    const entries = lexiconIndex({ words, fold: folds }).entries(text);
    expect(entries?.map(({ entry }) => entry).join("|")).toBe(expected);
  }
});

test("the index reads exactly the outputs of the grammar", () => {
  const random = seededRandom();
  const index = lexiconIndex({ words, fold: true });
  let outputs = 0;
  for (let round = 0; round < 300; round++) {
    const pieces = Array.from({ length: 1 + random(5) }, () =>
      oneOf(random, [...words, "ICE", "Cream", " ", ", ", "-", "x"]),
    );
    const text = pieces.join("");
    const entries = index.entries(text);
    expect([text, entries !== undefined]).toEqual([text, isOutput(text, true)]);
    if (entries === undefined) continue;
    outputs++;
    expect(entries.every(({ text: part, entry }) => folded(part) === folded(entry) && words.includes(entry))).toBe(
      true,
    );
  }
  expect(outputs).toBeGreaterThan(20);
});

test("near spellings meet in their skeleton", () => {
  const index = lexiconIndex({ words, fold: false });
  expect(index.nearest("NAIVE")).toEqual(["naïve"]);
  expect(index.nearest("creeam")).toEqual(["cream"]);
  expect(index.nearest("strese")).toEqual(["Straße"]);
  expect(index.nearest("zebra")).toEqual([]);
  expect(consonants("Mississippi")).toBe("msp");
});

test("what is no word is refused", () => {
  expect(refusalOf({ syntax: "lexicon", words: [], fold: false })).toBe(" : has no words");
  expect(refusalOf({ syntax: "lexicon", words: ["a", ""], fold: false })).toMatch(/^\/1 : is no word/);
});

test("every spelling of every letter that has case is read as its entry", () => {
  const letters: string[] = [];
  for (let code = 0x21; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    const hasCase = character.toUpperCase() !== character || character.toLowerCase() !== character;
    if (hasCase && /\p{L}|\p{N}/u.test(character)) letters.push(`x${character}`);
  }
  const { entries } = lexiconIndex({ words: letters, fold: true });
  const lost = letters.flatMap((letter) =>
    [...variants(letter)].filter((variant) => {
      const [entry, ...others] = entries(variant) ?? [];
      return entry === undefined || others.length > 0 || !variants(entry.entry).has(variant);
    }),
  );
  expect(lost).toEqual([]);
});

test("a long list is folded in steps, once", () => {
  const words = Array.from({ length: 5000 }, (_, i) => `wört${i}`);
  const steps = () => {
    const reading = readLexicon({ words, fold: true }, "WORT7 wört4999");
    for (let count = 0; ; count++) {
      const step = reading.next();
      if (step.done === true) return { count, entries: step.value?.map(({ entry }) => entry) };
    }
  };
  const first = steps();
  expect(first.count).toBeGreaterThan(10);
  expect(first.entries).toEqual(["wört7", "wört4999"]);
  expect(steps()).toEqual({ count: 0, entries: ["wört7", "wört4999"] });
});
