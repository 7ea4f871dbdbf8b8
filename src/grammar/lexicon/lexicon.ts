import { fail, ok, type Result } from "../../generation/result.ts";
import { separatorCharactersMax } from "../../limits.ts";
import type { IrBuilder, NodeId } from "../ir.ts";
import type { Refusal } from "../json-schema/schema.ts";
import { consonants, folded, variants } from "./skeleton.ts";

/** Words of a list; `fold` accepts their `variants` as well. */
export type Lexicon = { readonly words: readonly string[]; readonly fold: boolean };

/**
 * Words of the list with separators between them, and maybe one before the first and after the last, so that an output may end as
 * soon as a word is complete. A separator is a few of `separatorCharacters`; a word may hold some, too.
 */
export function lowerLexicon(builder: IrBuilder, { words, fold }: Lexicon): Result<NodeId, Refusal> {
  const broken = words.findIndex((word) => word === "" || !word.isWellFormed());
  if (broken >= 0)
    return fail({ pointer: `/${broken}`, keyword: "", reason: "is no word: it is empty, or half a surrogate pair" });
  if (words.length === 0) return fail({ pointer: "", keyword: "", reason: "has no words" });
  const texts = fold ? new Set(words.flatMap((word) => [...variants(word)])) : new Set(words);
  const word = builder.node({ kind: "texts", texts: [...texts].map((text) => utf8.encode(text)) });
  const separator = builder.node({ kind: "texts", texts: [...separatorCharacters].map((text) => utf8.encode(text)) });
  const some = (min: number) => builder.node({ kind: "repeat", item: separator, min, max: separatorCharactersMax });
  const further = builder.node({ kind: "sequence", items: [some(1), word] });
  const more = builder.node({ kind: "repeat", item: further, min: 0, max: undefined });
  return ok(builder.node({ kind: "sequence", items: [some(0), word, more, some(0)] }));
}

/** A word of an output and the entry of the list that it is, or is a spelling of. */
export type LexiconEntry = { readonly text: string; readonly entry: string };

/**
 * Reads outputs of a lexicon: `entries` cuts one into its words and names the entry of each, the longest words first where there is a
 * choice; undefined for a text that is no output of it. `nearest` are the entries that sound like a word of another list.
 */
export function lexiconIndex({ words, fold }: Lexicon): {
  readonly entries: (output: string) => readonly LexiconEntry[] | undefined;
  readonly nearest: (word: string) => readonly string[];
} {
  const exact = new Set(words);
  const bySkeleton = new Map<string, string>();
  const byConsonants = new Map<string, string[]>();
  const byVariant = new Map<string, string>();
  for (const word of words) {
    const skeleton = folded(word);
    if (!bySkeleton.has(skeleton)) bySkeleton.set(skeleton, word);
    const key = consonants(word);
    const known = byConsonants.get(key);
    if (known === undefined) byConsonants.set(key, [word]);
    else known.push(word);
    if (fold) for (const variant of variants(word)) if (!byVariant.has(variant)) byVariant.set(variant, word);
  }
  const entryOf = (text: string) => (exact.has(text) ? text : byVariant.get(text));
  const lengthMax = Math.max(0, ...lengths(fold ? byVariant.keys() : words));
  return {
    entries: (output) => cut(output, lengthMax, entryOf),
    nearest: (word) => {
      const same = bySkeleton.get(folded(word));
      return same === undefined ? (byConsonants.get(consonants(word)) ?? []) : [same];
    },
  };
}

/** Words and separators in turn, found from the end, so that nothing is tried twice. */
function cut(
  output: string,
  lengthMax: number,
  entryOf: (text: string) => string | undefined,
): readonly LexiconEntry[] | undefined {
  const { length } = output;
  /** At an offset: the word that begins there and leads to the end. */
  const words: (LexiconEntry | undefined)[] = Array.from({ length: length + 1 });
  /** After a word that ends at an offset: where the next one begins, or the length of the output at its end. */
  const nexts: (number | undefined)[] = Array.from({ length: length + 1 });
  for (let at = length; at >= 0; at--) {
    nexts[at] =
      separated(output, at, 1).find((next) => words[next] !== undefined) ?? (endsAt(output, at) ? length : undefined);
    for (let end = Math.min(length, at + lengthMax); end > at; end--) {
      if (nexts[end] === undefined) continue;
      const text = output.slice(at, end);
      const entry = entryOf(text);
      if (entry === undefined) continue;
      words[at] = { text, entry };
      break;
    }
  }
  const start = separated(output, 0, 0).find((next) => words[next] !== undefined);
  if (start === undefined) return undefined;
  const out: LexiconEntry[] = [];
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

function* lengths(texts: Iterable<string>): Generator<number, void> {
  for (const text of texts) yield text.length;
}

/** White space, ASCII punctuation, and the quotes and dashes of typography; each one UTF-16 unit. */
const separatorCharacters = " \t\n\r!\"'(),-./:;?[]{}«»‐‑–—‘’‚“”„…¡¿、。";

const utf8 = new TextEncoder();
