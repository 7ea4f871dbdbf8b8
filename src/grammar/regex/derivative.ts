import { derivativeStepsMax } from "../../limits.ts";
import { type CodePoints, contains, everyPoint, intersect, invert, sizeOf } from "./code-points.ts";
import { type Language, type Languages, partsOf } from "./language.ts";

/**
 * What languages contain, by Brzozowski's derivatives ("Derivatives of regular expressions", 1964): the derivative of a language by a
 * code point is what may follow it. Each language is a state of its own automaton, made as far as it is asked for.
 */
export class Derivatives {
  /** Work so far: derivatives that were made, each by the number of its parts. */
  steps = 0;
  readonly #languages: Languages;
  readonly #next = new Map<Language, Map<number, Language>>();
  readonly #partitions = new Map<Language, readonly CodePoints[]>();
  readonly #emptiness = new Map<Language, boolean>();
  readonly #shortest = new Map<Language, string | undefined>();
  /** Of the classes that were met, by bit. */
  readonly #sets: CodePoints[] = [];
  readonly #classes = new Map<Language, bigint>();
  /** By the bits of classes. */
  readonly #points = new Map<bigint, readonly number[]>();

  constructor(languages: Languages) {
    this.#languages = languages;
  }

  matches(language: Language, text: string): boolean {
    let rest = language;
    for (const character of text) {
      rest = this.derive(rest, character.codePointAt(0) ?? 0);
      if (rest === this.#languages.none) return false;
    }
    return rest.nullable;
  }

  /** Whether there is no text in it; a language too large to be explored is taken for one with texts. */
  isEmpty(language: Language): boolean {
    if (language.positive || language.nullable) return language === this.#languages.none;
    const known = this.#emptiness.get(language);
    if (known !== undefined) return known;
    const empty = this.#explore(language);
    this.#emptiness.set(language, empty);
    return empty;
  }

  #explore(language: Language): boolean {
    const { none } = this.#languages;
    const seen = new Set([language]);
    const stepsMax = this.steps + derivativeStepsMax;
    let states = 0;
    for (const state of seen) {
      if (state.nullable || this.steps > stepsMax) return false;
      // What has nothing in common mostly shows so soon.
      if (++states === statesBeforeGuess && this.#hasLikely(language)) return false;
      for (const point of this.#pointsOf(state)) {
        const next = this.derive(state, point);
        if (next !== none) seen.add(next);
      }
    }
    return true;
  }

  /** Whether an intersection has one of a few likely texts: the shortest one of a part, or those of two in a row. */
  #hasLikely(language: Language): boolean {
    if (language.kind !== "intersection") return false;
    const texts = language.items
      .filter((item) => item.positive)
      .slice(0, likelyPartsMax)
      .flatMap((item) => this.#shortestOf(item) ?? []);
    const joined = texts.flatMap((one) => texts.filter((other) => other !== one).map((other) => one + other));
    return [...texts, ...joined].some((text) => this.matches(language, text));
  }

  /** The shortest text of a language without intersection and complement, unless it is long. */
  #shortestOf(language: Language): string | undefined {
    if (this.#shortest.has(language)) return this.#shortest.get(language);
    const text = this.#makeShortest(language);
    const kept = text !== undefined && text.length <= likelyLengthMax ? text : undefined;
    this.#shortest.set(language, kept);
    return kept;
  }

  #makeShortest(language: Language): string | undefined {
    if (language.nullable) return "";
    switch (language.kind) {
      case "class": {
        const point = language.points[0]?.[0];
        return point === undefined ? undefined : String.fromCodePoint(point);
      }
      case "concat": {
        const parts = language.items.map((item) => this.#shortestOf(item));
        return parts.reduce((all, part) => (all === undefined || part === undefined ? undefined : all + part), "");
      }
      case "union":
        return language.items
          .flatMap((item) => this.#shortestOf(item) ?? [])
          .reduce<string | undefined>((a, b) => (a !== undefined && a.length <= b.length ? a : b), undefined);
      case "repeat": {
        const item = this.#shortestOf(language.item);
        return item === undefined || item.length * language.min > likelyLengthMax
          ? undefined
          : item.repeat(language.min);
      }
      default:
        return undefined;
    }
  }

  /** Code points that stand for all: whatever can be read next, one of them is in the same classes. */
  #pointsOf(language: Language): readonly number[] {
    const bits = this.#classesOf(language);
    const known = this.#points.get(bits);
    if (known !== undefined) return known;
    const sets = this.#sets.filter((_, i) => ((bits >> BigInt(i)) & 1n) === 1n);
    const points = new Map<string, number>();
    // Where a class begins, and where it has ended.
    for (const point of new Set([0, ...sets.flat().flatMap(([first, last]) => [first, pointAfter(last)])])) {
      if (point > 0x10ffff) continue;
      const sides = sets.map((set) => (contains(set, point) ? "1" : "0")).join("");
      if (!points.has(sides)) points.set(sides, point);
    }
    const found = [...points.values()];
    this.#points.set(bits, found);
    return found;
  }

  /** The classes that the first code point may be of, as bits. */
  #classesOf(language: Language): bigint {
    const known = this.#classes.get(language);
    if (known !== undefined) return known;
    let bits = 0n;
    if (language.kind === "class") bits = 1n << BigInt(this.#sets.push(language.points) - 1);
    else {
      const parts = language.kind === "concat" ? firstOf(language.items) : partsOf(language);
      for (const part of parts) bits |= this.#classesOf(part);
    }
    this.#classes.set(language, bits);
    return bits;
  }

  /** All texts, in no particular order; undefined where there are more than `countMax`, or the language is too large to be explored. */
  texts(language: Language, countMax: number): Iterable<string> | undefined {
    const listed = this.#listed(language, countMax);
    return listed !== undefined || language.positive ? listed : this.#walked(language, countMax);
  }

  /** The texts as far as they follow from those of the parts, as they do without intersection and complement. */
  #listed(language: Language, countMax: number): ReadonlySet<string> | undefined {
    switch (language.kind) {
      case "class":
        return sizeOf(language.points) > countMax ? undefined : new Set(charactersOf(language.points));
      case "concat": {
        let texts: ReadonlySet<string> | undefined = onlyEmpty;
        for (const item of language.items) texts = texts && joined(texts, this.#listed(item, countMax), countMax);
        return texts;
      }
      case "union": {
        const texts = new Set<string>();
        for (const item of language.items) {
          const more = this.#listed(item, countMax);
          for (const text of more ?? []) texts.add(text);
          if (more === undefined || texts.size > countMax) return undefined;
        }
        return texts;
      }
      case "repeat": {
        const { item, min, max } = language;
        if (max === undefined || min > listedRoundsMax) return undefined;
        const each = this.#listed(item, countMax);
        // In every round beyond the least, an item may be missing.
        const optional = each && new Set([...each, ""]);
        let texts: ReadonlySet<string> | undefined = onlyEmpty;
        for (let i = 0; i < max && texts !== undefined; i++) texts = joined(texts, i < min ? each : optional, countMax);
        return texts;
      }
      case "intersection": {
        // Those of one part that are texts of the others.
        const stepsMax = this.steps + derivativeStepsMax;
        for (const item of language.items) {
          const texts = this.#listed(item, countMax);
          if (texts === undefined) continue;
          const others = language.items.filter((other) => other !== item);
          const isOfAll = (text: string) =>
            this.steps <= stepsMax && others.every((other) => this.matches(other, text));
          const common = new Set([...texts].filter(isOfAll));
          return this.steps > stepsMax ? undefined : common;
        }
        return undefined;
      }
      case "complement":
        return undefined;
      default:
        return language satisfies never;
    }
  }

  #walked(language: Language, countMax: number): readonly string[] | undefined {
    const found: string[] = [];
    let level: readonly (readonly [text: string, rest: Language])[] = [["", language]];
    const stepsMax = this.steps + derivativeStepsMax;
    while (level.length > 0) {
      const next: (readonly [string, Language])[] = [];
      for (const [text, rest] of level) {
        if (rest.nullable) found.push(text);
        if (found.length > countMax || this.steps > stepsMax) return undefined;
        for (const [points, after] of this.#moves(rest)) {
          if (this.isEmpty(after)) continue;
          // Each code point leads to another text, since what follows is not empty.
          if (sizeOf(points) + next.length > countMax) return undefined;
          for (const character of charactersOf(points)) next.push([text + character, after]);
        }
      }
      level = next;
    }
    return found;
  }

  /** One code point of each class that the language tells apart, with what follows it. */
  #moves(language: Language): readonly (readonly [CodePoints, Language])[] {
    const { none } = this.#languages;
    return this.#partition(language).flatMap((points) => {
      const next = this.derive(language, points[0]?.[0] ?? 0);
      return next === none ? [] : [[points, next] as const];
    });
  }

  derive(language: Language, point: number): Language {
    let row = this.#next.get(language);
    if (row === undefined) {
      row = new Map();
      this.#next.set(language, row);
    }
    const known = row.get(point);
    if (known !== undefined) return known;
    const next = this.#derive(language, point);
    row.set(point, next);
    return next;
  }

  #derive(language: Language, point: number): Language {
    const make = this.#languages;
    this.steps += "items" in language ? language.items.length : 1;
    switch (language.kind) {
      case "class":
        return contains(language.points, point) ? make.empty : make.none;
      case "concat": {
        const ways: Language[] = [];
        for (const [i, item] of language.items.entries()) {
          ways.push(make.concat([this.derive(item, point), ...language.items.slice(i + 1)]));
          if (!item.nullable) break;
        }
        return make.union(ways);
      }
      case "union":
        return make.union(language.items.map((item) => this.derive(item, point)));
      case "intersection":
        return make.intersection(language.items.map((item) => this.derive(item, point)));
      case "complement":
        return make.complement(this.derive(language.item, point));
      case "repeat": {
        const { item, min, max } = language;
        const others = make.repeat(item, Math.max(0, min - 1), max === undefined ? undefined : max - 1);
        return make.concat([this.derive(item, point), others]);
      }
      default:
        return language satisfies never;
    }
  }

  /** Disjoint classes that together hold every code point; those in one class have the same derivative. */
  #partition(language: Language): readonly CodePoints[] {
    const known = this.#partitions.get(language);
    if (known !== undefined) return known;
    const partition = this.#partitionOf(language);
    this.#partitions.set(language, partition);
    return partition;
  }

  #partitionOf(language: Language): readonly CodePoints[] {
    switch (language.kind) {
      case "class":
        return [language.points, invert(language.points)].filter((points) => points.length > 0);
      case "concat": {
        const first = firstOf(language.items);
        return first.map((item) => this.#partition(item)).reduce(refine, [everyPoint]);
      }
      case "union":
      case "intersection":
        return language.items.map((item) => this.#partition(item)).reduce(refine, [everyPoint]);
      case "complement":
      case "repeat":
        return this.#partition(language.item);
      default:
        return language satisfies never;
    }
  }
}

const onlyEmpty: ReadonlySet<string> = new Set([""]);

/** Every text of one list with every text of another; undefined where those are too many, or together too long. */
function joined(
  starts: ReadonlySet<string>,
  ends: ReadonlySet<string> | undefined,
  countMax: number,
): ReadonlySet<string> | undefined {
  if (ends === undefined) return undefined;
  const texts = new Set<string>();
  let length = 0;
  for (const start of starts) {
    for (const end of ends) {
      length += start.length + end.length;
      texts.add(start + end);
      if (texts.size > countMax || length > listedLengthMax) return undefined;
    }
  }
  return texts;
}

function charactersOf(points: CodePoints): readonly string[] {
  const characters: string[] = [];
  for (const [first, last] of points) {
    for (let point = first; point <= last; point++) characters.push(String.fromCodePoint(point));
  }
  return characters;
}

/** Surrogates are no code points. */
function pointAfter(point: number): number {
  return point === 0xd7ff ? 0xe000 : point + 1;
}

/** The items of a concatenation that the first code point may belong to. */
function firstOf(items: readonly Language[]): readonly Language[] {
  const end = items.findIndex((item) => !item.nullable);
  return end === -1 ? items : items.slice(0, end + 1);
}

/** States that are looked at before texts are guessed. */
const statesBeforeGuess = 4;
/** Parts of an intersection whose texts are tried, and UTF-16 units of one: what is longer is not found by guessing. */
const likelyPartsMax = 4;
const likelyLengthMax = 1024;
/** Rounds of a repetition whose texts are listed, and UTF-16 units of all texts together. */
const listedRoundsMax = 1024;
const listedLengthMax = 65_536;

function refine(a: readonly CodePoints[], b: readonly CodePoints[]): readonly CodePoints[] {
  if (a.length === 1) return b;
  if (b.length === 1) return a;
  return a.flatMap((one) => b.map((other) => intersect(one, other)).filter((points) => points.length > 0));
}
