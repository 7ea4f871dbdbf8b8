import type { LexiconWords } from "../../generation/event.ts";
import { separatorCharactersMax } from "../../limits.ts";
import { type Lexicon, separatorCharacters } from "./lexicon.ts";
import { consonants, folded, variants } from "./skeleton.ts";

/** What an output consists of; undefined for a text that is no output of the lexicon. */
export type LexiconReading = LexiconWords | undefined;

/**
 * Reads outputs of a lexicon. A list may be long, so that an index over it is made in steps, between which others get their turn, and kept as long
 * as the list: `entries` cuts an output into its words and names the entry of each, the longest words first where there is a choice.
 */
export function* readLexicon(lexicon: Lexicon, output: string): Generator<undefined, LexiconReading> {
  const index = yield* indexOf(lexicon);
  return yield* cut(output, index);
}

/** The same at once, and `nearest`: the entries that sound like a word of another list. */
export function lexiconIndex(lexicon: Lexicon): {
  readonly entries: (output: string) => LexiconReading;
  readonly nearest: (word: string) => readonly string[];
} {
  let near: ReturnType<typeof sounds> | undefined;
  return {
    entries: (output) => finished(readLexicon(lexicon, output)),
    nearest(word) {
      near ??= sounds(lexicon.words);
      const same = near.bySkeleton.get(folded(word));
      return same === undefined ? (near.byConsonants.get(consonants(word)) ?? []) : [same];
    },
  };
}

type Index = {
  readonly lengthMax: number;
  readonly entryOf: (text: string) => string | undefined;
};

const indexes = new WeakMap<readonly string[], { exact?: Index; folding?: Index }>();

function* indexOf({ words, fold }: Lexicon): Generator<undefined, Index> {
  const known = indexes.get(words) ?? {};
  indexes.set(words, known);
  if (fold) {
    known.folding ??= yield* foldingIndex(words);
    return known.folding;
  }
  known.exact ??= exactIndex(words);
  return known.exact;
}

function exactIndex(words: readonly string[]): Index {
  const exact = new Set(words);
  let lengthMax = 0;
  for (const word of words) lengthMax = Math.max(lengthMax, word.length);
  return { lengthMax, entryOf: (text) => (exact.has(text) ? text : undefined) };
}

function* foldingIndex(words: readonly string[]): Generator<undefined, Index> {
  const exact = new Set(words);
  const bySkeleton = new Map<string, string[]>();
  let lengthMax = 0;
  let steps = 0;
  for (const word of words) {
    // Of some letters the spellings have several skeletons: a capital may have its mark as a letter of its own.
    const spellings = isAscii(word) ? [word] : [...variants(word)];
    for (const spelling of spellings) lengthMax = Math.max(lengthMax, spelling.length);
    for (const key of new Set(spellings.map(folded))) {
      const known = bySkeleton.get(key);
      if (known === undefined) bySkeleton.set(key, [word]);
      else known.push(word);
    }
    if (++steps % stepWords === 0) yield;
  }
  return {
    lengthMax,
    entryOf: (text) =>
      exact.has(text) ? text : bySkeleton.get(folded(text))?.find((word) => variants(word).has(text)),
  };
}

function sounds(words: readonly string[]) {
  const bySkeleton = new Map<string, string>();
  const byConsonants = new Map<string, string[]>();
  for (const word of words) {
    const same = folded(word);
    if (!bySkeleton.has(same)) bySkeleton.set(same, word);
    const key = consonants(word);
    const known = byConsonants.get(key);
    if (known === undefined) byConsonants.set(key, [word]);
    else known.push(word);
  }
  return { bySkeleton, byConsonants };
}

/** Words and separators in turn, found from the end, so that nothing is tried twice. */
function* cut(output: string, { lengthMax, entryOf }: Index): Generator<undefined, LexiconReading> {
  const { length } = output;
  /** At an offset: the word that begins there and leads to the end. */
  const words: (LexiconWords[number] | undefined)[] = Array.from({ length: length + 1 });
  /** After a word that ends at an offset: where the next one begins, or the length of the output at its end. */
  const nexts: (number | undefined)[] = Array.from({ length: length + 1 });
  let steps = 0;
  for (let at = length; at >= 0; at--) {
    nexts[at] =
      separated(output, at, 1).find((next) => words[next] !== undefined) ?? (endsAt(output, at) ? length : undefined);
    // A word stands at the start or behind a separator.
    if (at > 0 && !isSeparator(output, at - 1)) continue;
    for (let end = Math.min(length, at + lengthMax); end > at; end--) {
      if (nexts[end] === undefined) continue;
      if (++steps % stepWords === 0) yield;
      const text = output.slice(at, end);
      const entry = entryOf(text);
      if (entry === undefined) continue;
      words[at] = { text, entry };
      break;
    }
  }
  const start = separated(output, 0, 0).find((next) => words[next] !== undefined);
  if (start === undefined) return undefined;
  const out: LexiconWords[number][] = [];
  for (let at = start; at < length; ) {
    const word = words[at];
    if (word === undefined) break;
    out.push(word);
    at = nexts[at + word.text.length] ?? length;
  }
  return out;
}

/** The offsets after a separator of at least so many characters, the shortest first. */
function separated(output: string, start: number, least: number): readonly number[] {
  const out = least === 0 ? [start] : [];
  for (let at = start; at < output.length && at - start < separatorCharactersMax && isSeparator(output, at); at++)
    out.push(at + 1);
  return out;
}

/** Whether nothing but a separator is left. */
function endsAt(output: string, start: number): boolean {
  return start === output.length || separated(output, start, 1).at(-1) === output.length;
}

function isSeparator(output: string, at: number): boolean {
  return separatorCharacters.includes(output.charAt(at));
}

function isAscii(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (word.charCodeAt(at) > 0x7f) return false;
  return true;
}

function finished<Value>(steps: Generator<undefined, Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Words that are folded in one step: about a millisecond. */
const stepWords = 128;
