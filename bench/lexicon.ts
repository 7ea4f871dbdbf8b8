/**
 * Answers held to the words of a large list: what compiling it costs, what masks cost along sequences of its words as a tokenizer writes
 * them and along walks through the masks at random, and whether each walk ends in a sequence of words.
 */
import { defineCommand } from "citty";
import { type Compiled, lexiconReader, tokensIn, Vocabulary } from "../src/constraint.ts";
import { oneOf, type Random, randomFrom } from "../tests/fixtures/random.ts";
import { wholeNumber } from "./arguments.ts";
import { moment, since } from "./clock.ts";
import { follow, upToFirstMask } from "./followed.ts";
import { openTokenizer, readText } from "./samples.ts";
import { distribution, leastOfEach, rounded } from "./statistics.ts";

export const lexicon = defineCommand({
  meta: { name: "lexicon", description: "Measure answers that are held to the words of a large list" },
  args: {
    text: {
      type: "string",
      description: "A text, gzipped or not: its runs of letters are the words",
      required: true,
      valueHint: "FILE",
    },
    vocabulary: { type: "string", description: "A tokenizer.json or a GGUF file", required: true, valueHint: "FILE" },
    words: { type: "string", description: "Different words of the list", default: "50000", valueHint: "N" },
    fold: { type: "boolean", description: "Take variants of the words as well" },
    outputs: { type: "string", description: "Sequences of words, and walks", default: "100", valueHint: "N" },
    length: { type: "string", description: "Words of a sequence, and tokens of a walk", default: "40", valueHint: "N" },
    repeat: {
      type: "string",
      description: "Runs, each from a fresh compilation; the least of each time counts",
      default: "3",
      valueHint: "N",
    },
    seed: { type: "string", description: "Of the sequences and walks", default: "1", valueHint: "N" },
  },
  run({ args }) {
    const words = wordsOf(args.text, wholeNumber("words", args.words));
    const source = { kind: "lexicon", words, fold: args.fold === true } as const;
    using vocabulary = Vocabulary.of(openTokenizer(args.vocabulary));
    const random = randomFrom(wholeNumber("seed", args.seed));
    const outputs = wholeNumber("outputs", args.outputs);
    const length = wholeNumber("length", args.length);
    const sequences = Array.from({ length: outputs }, () => {
      const text = Array.from({ length }, () => oneOf(random, words)).join(" ");
      return vocabulary.tokenizer.encode(text, { special: false });
    });
    let compileUs = Number.POSITIVE_INFINITY;
    let maskUs: readonly number[] | undefined;
    for (let round = 0; round < wholeNumber("repeat", args.repeat); round++) {
      const start = moment();
      using grammar = upToFirstMask(vocabulary, source);
      compileUs = Math.min(compileUs, since(start));
      maskUs = leastOfEach(
        maskUs,
        sequences.flatMap((tokens) => follow(grammar, tokens)),
      );
    }
    using grammar = upToFirstMask(vocabulary, source);
    const reader = lexiconReader(source);
    const walkUs: number[] = [];
    let notWords = 0;
    for (let walked = 0; walked < outputs; walked++) {
      const text = walk(grammar, vocabulary, { random, length, walkUs });
      if (reader.entries(text) === undefined) notWords++;
    }
    const report = {
      bench: "lexicon",
      vocabulary: vocabulary.count,
      words: words.length,
      fold: source.fold,
      seed: wholeNumber("seed", args.seed),
      compileUs: rounded(compileUs),
      maskUs: distribution(maskUs ?? []),
      walks: { count: outputs, notWords, maskUs: distribution(walkUs) },
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    if (notWords > 0) process.exitCode = 1;
  },
});

/** The first different words of a text. */
function wordsOf(path: string, count: number): readonly string[] {
  const words = [...new Set(readText(path).match(/[\p{L}\p{M}]+/gu))].slice(0, count);
  if (words.length < count) throw new Error(`${path} has ${words.length} different words only`);
  return words;
}

type Walking = { readonly random: Random; readonly length: number; readonly walkUs: number[] };

/** A text of random tokens, finished within a number of them. */
function walk(grammar: Compiled, vocabulary: Vocabulary, { random, length, walkUs }: Walking): string {
  using matcher = grammar.matcher();
  const written: number[] = [];
  while (written.length < length && !(matcher.acceptsEnd && written.length > length / 2)) {
    const start = moment();
    const mask = matcher.mask(length - written.length);
    const us = since(start);
    const token = oneOf(
      random,
      [...tokensIn(mask)].filter((allowed) => !vocabulary.tokenizer.stopTokens.includes(allowed)),
    );
    const accepting = moment();
    if (!matcher.accept(token)) throw new Error("a token of the mask is not accepted");
    walkUs.push(us + since(accepting));
    written.push(token);
  }
  if (!matcher.acceptsEnd) throw new Error("a walk did not end in time");
  return new TextDecoder().decode(vocabulary.tokenizer.decode(written, { special: false }));
}
