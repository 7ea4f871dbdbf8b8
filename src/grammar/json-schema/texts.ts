import { Derivatives } from "../regex/derivative.ts";
import { type Language, Languages } from "../regex/language.ts";
import { formatLanguages } from "./formats.ts";
import type { Range, Text } from "./schema.ts";

/** What is demanded of a string. With `among`, everything else is already part of the list. */
export type StringDemand = {
  readonly type: "string";
  readonly length: Range;
  readonly among: ReadonlySet<string> | undefined;
  /** Languages that the text belongs to. */
  readonly languages: readonly Language[];
};

export const anySize: Range = { min: 0, max: undefined };
export const anyString: StringDemand = { type: "string", length: anySize, among: undefined, languages: [] };

/** The languages of one schema, and what is asked of strings. */
export class Texts {
  readonly languages = new Languages(formatLanguages);
  readonly derivatives = new Derivatives(this.languages);

  /** Both demands; undefined where it is plain that no text meets them. */
  meet(a: StringDemand, b: StringDemand): StringDemand | undefined {
    if (a === anyString || a === b) return b;
    if (b === anyString) return a;
    if (a.among !== undefined || b.among !== undefined) {
      const [list, other] = a.among === undefined ? [b, a] : [a, b];
      const among = new Set([...(list.among ?? [])].filter((text) => this.holds(text, other)));
      return among.size === 0 ? undefined : { ...anyString, among };
    }
    const length = meetRanges(a.length, b.length);
    const languages = [...new Set([...a.languages, ...b.languages])];
    if (length === undefined) return undefined;
    const added = languages.length > Math.max(a.languages.length, b.languages.length);
    if (added && this.derivatives.isEmpty(this.languages.intersection(languages))) return undefined;
    return { type: "string", length, among: undefined, languages };
  }

  holds(text: string, { length, among, languages }: StringDemand): boolean {
    if (among !== undefined) return among.has(text);
    return hasLength(text, length) && languages.every((language) => this.derivatives.matches(language, text));
  }

  /** The same texts, with one demand for each length: those that differ only in their patterns are one, whose pattern is any of theirs. */
  joined(demands: readonly StringDemand[]): readonly StringDemand[] {
    const { languages: make } = this;
    const byLength = Map.groupBy(demands, ({ among, length }) => (among ? "" : `${length.min},${length.max}`));
    return [...byLength].flatMap(([length, alike]): readonly StringDemand[] => {
      const [first] = alike;
      if (first === undefined || alike.length === 1 || length === "") return alike;
      const language = make.union(alike.map(({ languages }) => make.intersection(languages)));
      return [{ ...first, languages: language === make.all ? [] : [language] }];
    });
  }

  /** Whether every text of `a` is one of `b`, as far as that is plain. */
  within(a: StringDemand, b: StringDemand): boolean {
    if (a.among !== undefined) return [...a.among].every((text) => this.holds(text, b));
    return (
      b.among === undefined &&
      a.length.min >= b.length.min &&
      maxOf(a.length) <= maxOf(b.length) &&
      b.languages.every((language) => a.languages.includes(language))
    );
  }

  of({ language, lengthMax }: Text): StringDemand {
    return { ...anyString, languages: [language], length: { min: 0, max: lengthMax } };
  }

  /** The texts that are not of that kind. */
  notOf({ language, lengthMax }: Text): readonly StringDemand[] {
    const others: StringDemand = { ...anyString, languages: [this.languages.complement(language)] };
    if (lengthMax === undefined) return [others];
    return [others, { ...anyString, length: { min: lengthMax + 1, max: undefined } }];
  }

  /** Every text but these. */
  except(texts: ReadonlySet<string>): StringDemand {
    const { languages } = this;
    const listed = languages.union([...texts].map((text) => languages.literal(text)));
    return { ...anyString, languages: [languages.complement(listed)] };
  }

  /**
   * The same texts, with those demands joined that keep the same patterns apart, as the parts of a `oneOf` do: to follow one of them takes as
   * many states as to follow all.
   */
  united(demands: readonly StringDemand[]): readonly StringDemand[] {
    return [...Map.groupBy(demands, keptApart)].flatMap(([key, alike]) => (key === "" ? alike : this.joined(alike)));
  }

  /** All of a demand as one language. */
  language({ length, among, languages }: StringDemand): Language {
    const make = this.languages;
    if (among !== undefined) return make.union([...among].map((text) => make.literal(text)));
    const sized = make.repeat(make.anyPoint, length.min, length.max);
    return make.intersection([...languages, sized]);
  }
}

/** The languages that a demand asks for or excludes, as a key; empty where these are not several. */
function keptApart({ among, languages }: StringDemand): string {
  if (among !== undefined || languages.length < 2) return "";
  const ids = languages.map((language) => (language.kind === "complement" ? language.item.id : language.id));
  return ids.sort((a, b) => a - b).join();
}

export function meetRanges(a: Range, b: Range | undefined): Range | undefined {
  if (b === undefined || b === anySize) return a;
  const min = Math.max(a.min, b.min);
  const max = Math.min(maxOf(a), maxOf(b));
  if (min > max) return undefined;
  return { min, max: max === Number.POSITIVE_INFINITY ? undefined : max };
}

/** The counts outside of a range. */
export function outside(range: Range): readonly Range[] {
  return [
    ...(range.min > 0 ? [{ min: 0, max: range.min - 1 }] : []),
    ...(range.max === undefined ? [] : [{ min: range.max + 1, max: undefined }]),
  ];
}

export function maxOf(range: Range): number {
  return range.max ?? Number.POSITIVE_INFINITY;
}

/** Lengths are counted in code points. */
function hasLength(text: string, range: Range): boolean {
  if (range === anySize) return true;
  const length = [...text].length;
  return range.min <= length && length <= maxOf(range);
}
