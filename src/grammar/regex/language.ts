import type { IrBuilder, RegexId } from "../ir.ts";
import { type CodePoints, everyPoint, intersect, unite } from "./code-points.ts";

/**
 * A regular language over code points, as the IR's Regex describes it. Equal descriptions are one object, and those that are equal by
 * simple laws (an empty union, a class inside a class …) are simplified on the way.
 */
export type Language = {
  /** Unique. */
  readonly id: number;
  /** Whether the empty text belongs to it. */
  readonly nullable: boolean;
  /** Without intersection and complement, every part of which is empty only if the whole is `none`. */
  readonly positive: boolean;
} & Shape;

type Shape =
  | { readonly kind: "class"; readonly points: CodePoints }
  | { readonly kind: "concat"; readonly items: readonly Language[] }
  | { readonly kind: "union"; readonly items: readonly Language[] }
  | { readonly kind: "intersection"; readonly items: readonly Language[] }
  | { readonly kind: "complement"; readonly item: Language }
  | { readonly kind: "repeat"; readonly item: Language; readonly min: number; readonly max: number | undefined };

type ClassLanguage = Extract<Language, { kind: "class" }>;

/** Makes languages and keeps them. Those of two makers mix only where one is the base of the other. */
export class Languages {
  /** No text at all. */
  readonly none: Language;
  /** The empty text. */
  readonly empty: Language;
  readonly anyPoint: Language;
  readonly all: Language;
  readonly #base: Languages | undefined;
  readonly #known = new Map<string, Language>();
  /** Classes of one code point, which literals are made of. */
  readonly #characters = new Map<string, Language>();
  readonly #emitted = new Map<Language, RegexId>();

  /** `base`: languages to share, which may grow later. */
  constructor(base?: Languages) {
    this.#base = base;
    this.none = base?.none ?? this.class([]);
    this.empty = base?.empty ?? this.#make("e", { kind: "concat", items: [] }, true, true);
    this.anyPoint = base?.anyPoint ?? this.class(everyPoint);
    this.all = base?.all ?? this.repeat(this.anyPoint, 0, undefined);
  }

  class(points: CodePoints): Language {
    let key = "[";
    for (const [first, last] of points) key += `${first}-${last};`;
    return this.#make(key, { kind: "class", points }, false, true);
  }

  literal(text: string): Language {
    const characters: Language[] = [];
    for (const character of text) {
      let known = this.#characters.get(character);
      if (known === undefined) {
        known = this.class([pointRange(character)]);
        this.#characters.set(character, known);
      }
      characters.push(known);
    }
    return this.concat(characters);
  }

  concat(parts: readonly Language[]): Language {
    const items: Language[] = [];
    for (const part of parts) {
      if (part === this.none) return this.none;
      // Any text after any text is any text.
      if (part === this.all && items.at(-1) === this.all) continue;
      if (part.kind === "concat") items.push(...part.items);
      else items.push(part);
    }
    const [first] = items;
    if (first === undefined) return this.empty;
    if (items.length === 1) return first;
    return this.#make(
      `.${ids(items)}`,
      { kind: "concat", items },
      items.every((item) => item.nullable),
      items.every((item) => item.positive),
    );
  }

  union(parts: readonly Language[]): Language {
    const classes: ClassLanguage[] = [];
    const found = new Set<Language>();
    for (const part of parts) {
      for (const item of part.kind === "union" ? part.items : [part]) {
        if (item === this.all) return this.all;
        if (item.kind === "class") classes.push(item);
        else found.add(item);
      }
    }
    const [one, another] = classes;
    const single = another === undefined ? one : this.class(unite(...classes.map(({ points }) => points)));
    if (single !== undefined && single !== this.none) found.add(single);
    if (found.has(this.empty) && [...found].some((item) => item.nullable && item !== this.empty)) {
      found.delete(this.empty);
    }
    const items = [...found].sort(byId);
    const [first] = items;
    if (first === undefined) return this.none;
    if (items.length === 1) return first;
    return this.#make(
      `|${ids(items)}`,
      { kind: "union", items },
      items.some((item) => item.nullable),
      items.every((item) => item.positive),
    );
  }

  intersection(parts: readonly Language[]): Language {
    const classes: ClassLanguage[] = [];
    const found = new Set<Language>();
    const excluded: Language[] = [];
    for (const part of parts) {
      for (const item of part.kind === "intersection" ? part.items : [part]) {
        if (item === this.none) return this.none;
        if (item === this.all) continue;
        if (item.kind === "class") classes.push(item);
        else if (item.kind === "complement") excluded.push(item.item);
        else found.add(item);
      }
    }
    const [one, another] = classes;
    const single = another === undefined ? one : this.class(classes.map(({ points }) => points).reduce(intersect));
    if (single !== undefined) found.add(single);
    // What is in none of several is not in their union, which is one language, however many there are.
    const outside = this.union(excluded);
    if (outside.kind === "union" ? outside.items.some((item) => found.has(item)) : found.has(outside)) return this.none;
    if (outside !== this.none) found.add(this.complement(outside));
    if (found.has(this.none)) return this.none;
    const items = [...found].sort(byId);
    const nullable = items.every((item) => item.nullable);
    if (found.has(this.empty)) return nullable ? this.empty : this.none;
    const [first] = items;
    if (first === undefined) return this.all;
    if (items.length === 1) return first;
    return this.#make(`&${ids(items)}`, { kind: "intersection", items }, nullable, false);
  }

  complement(item: Language): Language {
    if (item === this.none) return this.all;
    if (item === this.all) return this.none;
    if (item.kind === "complement") return item.item;
    return this.#make(`~${item.id}`, { kind: "complement", item }, !item.nullable, false);
  }

  repeat(item: Language, atLeast: number, max: number | undefined): Language {
    if (max === 0 || item === this.empty) return this.empty;
    if (item === this.none) return atLeast === 0 ? this.empty : this.none;
    const min = item.nullable ? 0 : atLeast;
    if (min === 1 && max === 1) return item;
    if (item.kind === "repeat" && item.max === undefined && item.min <= 1 && min <= 1 && max === undefined) {
      return this.repeat(item.item, Math.min(item.min, min), undefined);
    }
    const shape = { kind: "repeat", item, min, max } as const;
    return this.#make(`*${item.id},${min},${max ?? ""}`, shape, min === 0, item.positive);
  }

  /** Its texts but for the empty one. */
  nonEmpty(language: Language): Language {
    if (!language.nullable) return language;
    switch (language.kind) {
      case "union":
        return this.union(language.items.map((item) => this.nonEmpty(item)));
      case "repeat": {
        const { item, max } = language;
        return this.repeat(this.nonEmpty(item), 1, max);
      }
      case "concat":
        if (language.items.length === 0) return this.none;
        break;
      default:
    }
    return this.intersection([language, this.repeat(this.anyPoint, 1, undefined)]);
  }

  /** Writes a language into the IR, its parts first. */
  emit(builder: IrBuilder, language: Language): RegexId {
    const pending = [language];
    for (let next = pending.at(-1); next !== undefined; next = pending.at(-1)) {
      const missing = this.#emitted.has(next) ? [] : partsOf(next).filter((part) => !this.#emitted.has(part));
      if (missing.length > 0) {
        pending.push(...missing);
        continue;
      }
      pending.pop();
      if (!this.#emitted.has(next)) this.#emitted.set(next, this.#write(builder, next));
    }
    return this.#emittedId(language);
  }

  #write(builder: IrBuilder, language: Language): RegexId {
    switch (language.kind) {
      case "class":
        return builder.regex({ kind: "class", ranges: language.points });
      case "concat":
      case "union":
      case "intersection":
        return builder.regex({ kind: language.kind, items: language.items.map((item) => this.#emittedId(item)) });
      case "complement":
        return builder.regex({ kind: "complement", item: this.#emittedId(language.item) });
      case "repeat": {
        const { min, max } = language;
        return builder.regex({ kind: "repeat", item: this.#emittedId(language.item), min, max });
      }
      default:
        return language satisfies never;
    }
  }

  #emittedId(language: Language): RegexId {
    const id = this.#emitted.get(language);
    if (id === undefined) throw new Error("a part of a regex is written before the whole");
    return id;
  }

  #make(key: string, shape: Shape, nullable: boolean, positive: boolean): Language {
    const base = this.#base;
    const known = (base === undefined ? undefined : base.#known.get(key)) ?? this.#known.get(key);
    if (known !== undefined) return known;
    const language: Language = { id: count++, nullable, positive, ...shape };
    this.#known.set(key, language);
    return language;
  }
}

/** Languages so far, of all makers. */
let count = 0;

export function partsOf(language: Language): readonly Language[] {
  if (language.kind === "class") return [];
  return language.kind === "complement" || language.kind === "repeat" ? [language.item] : language.items;
}

function pointRange(character: string): readonly [number, number] {
  const point = character.codePointAt(0) ?? 0;
  return [point, point];
}

function ids(items: readonly Language[]): string {
  let key = "";
  for (const { id } of items) key += `${id},`;
  return key;
}

function byId(a: Language, b: Language): number {
  return a.id - b.id;
}
