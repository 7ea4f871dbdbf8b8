import { expect, test } from "bun:test";
import { must } from "../bench/samples.ts";
import { createMatcher } from "../src/engine/matcher.ts";
import { encodeIr } from "../src/grammar/encode.ts";
import type { Tokenizer } from "../src/tokenizer/tokenizer.ts";
import { grammarIr } from "./fixtures/grammar.ts";
import { oneOf, seededRandom } from "./fixtures/random.ts";
import { allowedTokens, realVocabulary } from "./fixtures/single-tokens.ts";

/** What is read of a long list is kept for wherever the list begins; single tokens are read byte by byte, and know nothing of it. */
test("masks of a list as long as a dictionary are the tokens that are allowed one by one", () => {
  const random = seededRandom();
  using real = realVocabulary("qwen3");
  const { tokenizer, native } = real;
  const words = manyWords(tokenizer);
  const ir = must(grammarIr({ syntax: "lexicon", words, fold: false }));
  using grammar = must(native.compile(encodeIr(ir)));
  using matcher = must(createMatcher(native, grammar, []));
  const text = Array.from({ length: 4 }, () => oneOf(random, words)).join(" ");
  let several = 0;
  for (const next of tokenizer.encode(text, { special: false })) {
    for (const left of [undefined, matcher.cost(), matcher.cost() + 1]) {
      if (allowedTokens(matcher, tokenizer, left).length > 1000) several++;
    }
    expect(matcher.accept(next)).toBe(true);
  }
  // The list has begun more than once.
  expect(several).toBeGreaterThan(3);
}, 60_000);

/** Of small letters: those that are one token, and as many of two. */
function manyWords({ vocabulary: { bytes, offsets, count } }: Tokenizer): readonly string[] {
  const texts = Array.from({ length: count }, (_, token) =>
    new TextDecoder().decode(bytes.subarray(offsets[token], offsets[token + 1])),
  );
  const short = texts.filter((text) => /^[a-z]{2,}$/.test(text));
  return [...short, ...short.map((text, index) => text + (short[(index * 7) % short.length] ?? ""))];
}
