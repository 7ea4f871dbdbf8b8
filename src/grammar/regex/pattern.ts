import { type AST, RegExpParser } from "@eslint-community/regexpp";
import { fail, ok, type Result } from "../../generation/result.ts";
import { patternCharactersMax, patternDepthMax, patternRoundsMax } from "../../limits.ts";
import {
  behindOf,
  boundsOf,
  classOf,
  collectAssertions,
  collectBehind,
  modified,
  NotRegular,
  temperedRound,
  wordSet,
} from "./assertions.ts";
import { type CodePoints, everyPoint, intersect, invert } from "./code-points.ts";
import type { Language, Languages } from "./language.ts";
import { lineEnds } from "./sets.ts";

export type PatternFlags = { readonly ignoreCase: boolean; readonly multiline: boolean; readonly dotAll: boolean };
export const noFlags: PatternFlags = { ignoreCase: false, multiline: false, dotAll: false };

/**
 * The texts in which an ECMAScript regular expression (ECMA-262, flag `u`) finds a match, or, `whole`, those that it matches from end to
 * end. An expression that is none under `u` is read without the flag, as its authors do; its code points stay whole then. The failure says
 * what is no regular language here, as a predicate.
 *
 * Read from the end: an element in front of what may follow it. What follows depends on what stands before only through `^`, `\b` and
 * look-behind, which see one character back: `Follow` has a language for each class of that character. Look-ahead intersects.
 */
export function patternLanguage(
  languages: Languages,
  source: string,
  flags: PatternFlags,
  extent: "search" | "whole",
): Result<Language, string> {
  if (source.length > patternCharactersMax) return fail(`has more than ${patternCharactersMax} characters`);
  if (groupDepth(source) > patternDepthMax) return fail(`nests groups deeper than ${patternDepthMax}`);
  const parsed = parse(source);
  if (!parsed.ok) return parsed;
  try {
    return ok(new Translation(languages, parsed.value, flags).run(extent));
  } catch (error) {
    if (error instanceof NotRegular) return fail(error.message);
    throw error;
  }
}

function parse(source: string): Result<AST.Pattern, string> {
  const parser = new RegExpParser({ ecmaVersion: 2025 });
  const read = (unicode: boolean) => parser.parsePattern(source, 0, source.length, { unicode });
  try {
    return ok(read(true));
  } catch (error) {
    try {
      if (!escapesLetters(source) && source.isWellFormed() && !/[\u{10000}-\u{10ffff}]/u.test(source))
        return ok(read(false));
    } catch {
      // The first message says what is wrong.
    }
    const message = error instanceof Error ? error.message.replace(/^Invalid regular expression: .*: /s, "") : "";
    return fail(`is no regular expression of ECMAScript: ${message}`);
  }
}

/**
 * Whether letters or digits are escaped that have no meaning in ECMAScript. Without the flag they would silently stand for themselves,
 * and hardly any author means that: `\\A`, `\\Z` and `\\h` are other dialects' anchors and classes.
 */
function escapesLetters(source: string): boolean {
  const known = /\\(?:[dDwWsSbBfnrtv]|0(?![0-9])|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^A-Za-z0-9])/g;
  return /\\[A-Za-z0-9]/.test(source.replace(known, ""));
}

/** Groups that are open at once, counting some that are escaped or inside classes; the parser is recursive. */
function groupDepth(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of source) {
    if (character === "(") deepest = Math.max(deepest, ++depth);
    else if (character === ")") depth = Math.max(0, depth - 1);
  }
  return deepest;
}

/** What may follow, by what stands before: [0] at the start of the text, [1 + i] after a code point of `classes[i]`. */
type Follow = readonly Language[];

class Translation {
  readonly #languages: Languages;
  readonly #pattern: AST.Pattern;
  readonly #flags: PatternFlags;
  /** Disjoint, and together every code point: what look-behind, `\b` and multi-line `^` tell apart. */
  readonly #classes: readonly CodePoints[];

  constructor(languages: Languages, pattern: AST.Pattern, flags: PatternFlags) {
    this.#languages = languages;
    this.#pattern = pattern;
    this.#flags = flags;
    const seen: CodePoints[] = [];
    collectBehind(pattern, flags, seen);
    this.#classes = seen.reduce<readonly CodePoints[]>(
      (classes, set) =>
        classes
          .flatMap((one) => [intersect(one, set), intersect(one, invert(set))])
          .filter((points) => points.length > 0),
      [everyPoint],
    );
  }

  run(extent: "search" | "whole"): Language {
    const { all, empty } = this.#languages;
    const search = extent === "search";
    const found = this.#choice(this.#pattern.alternatives, this.#always(search ? all : empty), this.#flags);
    return (search ? this.#after(all, found) : found)[0] ?? this.#languages.none;
  }

  #always(language: Language): Follow {
    return [language, ...this.#classes.map(() => language)];
  }

  #choice(alternatives: readonly AST.Alternative[], follow: Follow, flags: PatternFlags): Follow {
    const plain = alternatives.map((alternative) => this.#plain(alternative, flags));
    if (plain.every((language) => language !== undefined)) {
      return this.#after(this.#languages.union(plain), follow);
    }
    const ways = alternatives.map((alternative) => this.#sequence(alternative.elements, follow, flags));
    return this.#unite(ways);
  }

  #unite(ways: readonly Follow[]): Follow {
    return this.#always(this.#languages.none).map((_, context) =>
      this.#languages.union(ways.flatMap((way) => way[context] ?? [])),
    );
  }

  #sequence(elements: readonly AST.Element[], follow: Follow, flags: PatternFlags): Follow {
    return elements.reduceRight<Follow>((after, element) => this.#element(element, after, flags), follow);
  }

  #element(element: AST.Element, follow: Follow, flags: PatternFlags): Follow {
    const plain = this.#plain(element, flags);
    if (plain !== undefined) return this.#after(plain, follow);
    switch (element.type) {
      case "Group":
      case "CapturingGroup":
        return this.#choice(element.alternatives, follow, modified(flags, element));
      case "Quantifier":
        return this.#rounds(element, follow, flags);
      case "Assertion":
        return this.#assertion(element, follow, flags);
      default:
        throw new Error(`${element.type} is always plain`);
    }
  }

  /** The language of what asserts nothing; undefined for other elements. */
  #plain(node: AST.Element | AST.Alternative, flags: PatternFlags): Language | undefined {
    switch (node.type) {
      case "Alternative":
        return this.#joined(
          node.elements.map((element) => this.#plain(element, flags)),
          (parts) => this.#languages.concat(parts),
        );
      case "Group":
      case "CapturingGroup": {
        const inner = modified(flags, node);
        return this.#joined(
          node.alternatives.map((alternative) => this.#plain(alternative, inner)),
          (parts) => this.#languages.union(parts),
        );
      }
      case "Character":
      case "CharacterSet":
      case "CharacterClass":
        return this.#languages.class(classOf(node, flags));
      case "Quantifier": {
        const item = this.#plain(node.element, flags);
        return item && this.#languages.repeat(item, ...boundsOf(node));
      }
      case "Assertion":
        return undefined;
      case "Backreference":
        throw new NotRegular(`refers back to a group ('${node.raw}'), which is no regular language`);
      case "ExpressionCharacterClass":
        throw new Error("set notation needs the v flag, which is never given");
      default:
        return node satisfies never;
    }
  }

  #joined(parts: readonly (Language | undefined)[], join: (parts: readonly Language[]) => Language) {
    const known = parts.filter((part) => part !== undefined);
    return known.length === parts.length ? join(known) : undefined;
  }

  /** A plain language in front. */
  #after(language: Language, follow: Follow): Follow {
    const make = this.#languages;
    const [, ...behind] = follow;
    const [same] = behind;
    if (same !== undefined && follow.every((next) => next === same)) return this.#always(make.concat([language, same]));
    // Where it is not empty its last character decides what may follow.
    const some = make.nonEmpty(language);
    const consumed = behind.every((next) => next === same)
      ? make.concat([some, same ?? make.none])
      : make.union(this.#classes.map((points, i) => make.concat([this.#ending(some, points), behind[i] ?? make.none])));
    return follow.map((next) => (language.nullable ? make.union([consumed, next]) : consumed));
  }

  /** The texts of a language that end in one of the code points. */
  #ending(language: Language, points: CodePoints): Language {
    const make = this.#languages;
    if (language.kind === "class") return make.class(intersect(language.points, points));
    return make.intersection([language, make.concat([make.all, make.class(points)])]);
  }

  #rounds({ element, min, max, raw }: AST.Quantifier, follow: Follow, flags: PatternFlags): Follow {
    const once = (after: Follow) => this.#element(element, after, flags);
    let rounds: Follow = follow;
    if (max === Number.POSITIVE_INFINITY) rounds = this.#anyRounds(element, raw, follow, flags);
    else {
      if (max > patternRoundsMax)
        throw new NotRegular(`repeats an assertion more than ${patternRoundsMax} times ('${raw}')`);
      for (let round = max; round > min; round--) rounds = this.#unite([follow, once(rounds)]);
    }
    if (min > patternRoundsMax)
      throw new NotRegular(`repeats an assertion more than ${patternRoundsMax} times ('${raw}')`);
    for (let round = 0; round < min; round++) rounds = once(rounds);
    return rounds;
  }

  /**
   * Any number of rounds of something that asserts. Expressible where the assertion is `$`, which only the last round can meet, and where
   * each round is one character with look-ahead in front, up to the end of the text: no position may break it.
   */
  #anyRounds(element: AST.QuantifiableElement, raw: string, follow: Follow, flags: PatternFlags): Follow {
    const make = this.#languages;
    const kinds = new Set<string>();
    collectAssertions(element, kinds);
    if (kinds.size === 1 && kinds.has("end") && !flags.multiline) {
      const last = this.#unite([follow, this.#element(element, follow, flags)]);
      const plain = this.#withoutEnds(element, flags);
      return this.#after(make.repeat(plain, 0, undefined), last);
    }
    const tempered = temperedRound(element);
    if (tempered !== undefined && follow.every((next) => next === make.empty)) {
      const step = this.#plain(tempered.character, flags) ?? make.none;
      const holds = tempered.aheads.map((ahead) => this.#assertion(ahead, this.#always(make.all), flags));
      const held = holds.map(([first, ...others]) => (others.every((other) => other === first) ? first : undefined));
      if (held.every((language) => language !== undefined)) {
        const broken = make.nonEmpty(make.union(held.map((language) => make.complement(language))));
        const steps = make.repeat(step, 0, undefined);
        return this.#always(make.intersection([steps, make.complement(make.concat([make.all, broken]))]));
      }
    }
    throw new NotRegular(`asserts something inside a repetition ('${raw}')`);
  }

  /** The language of an element on the ways that meet no `$`. */
  #withoutEnds(node: AST.Element | AST.Alternative, flags: PatternFlags): Language {
    const make = this.#languages;
    switch (node.type) {
      case "Assertion":
        return make.none;
      case "Alternative":
        return make.concat(node.elements.map((element) => this.#withoutEnds(element, flags)));
      case "Group":
      case "CapturingGroup": {
        const inner = modified(flags, node);
        return make.union(node.alternatives.map((alternative) => this.#withoutEnds(alternative, inner)));
      }
      case "Quantifier":
        return make.repeat(this.#withoutEnds(node.element, flags), ...boundsOf(node));
      default:
        return this.#plain(node, flags) ?? make.none;
    }
  }

  #assertion(assertion: AST.Assertion, follow: Follow, flags: PatternFlags): Follow {
    const make = this.#languages;
    switch (assertion.kind) {
      case "start":
        return follow.map((next, context) => {
          const after = this.#classes[context - 1];
          const isStart = after === undefined || (flags.multiline && intersect(after, lineEnds).length > 0);
          return isStart ? next : make.none;
        });
      case "end": {
        const end = flags.multiline
          ? make.union([make.empty, make.concat([make.class(lineEnds), make.all])])
          : make.empty;
        return follow.map((next) => make.intersection([next, end]));
      }
      case "word": {
        const word = make.class(wordSet(flags));
        const wordNext = make.concat([word, make.all]);
        return follow.map((next, context) => {
          const after = this.#classes[context - 1];
          const wordBefore = after !== undefined && intersect(after, wordSet(flags)).length > 0;
          // A boundary wants the other kind next, its negation the same kind.
          const wantsWord = wordBefore === assertion.negate;
          return make.intersection([next, wantsWord ? wordNext : make.complement(wordNext)]);
        });
      }
      case "lookahead": {
        const ahead = this.#choice(assertion.alternatives, this.#always(make.all), flags);
        return follow.map((next, context) => {
          const language = ahead[context] ?? make.none;
          return make.intersection([next, assertion.negate ? make.complement(language) : language]);
        });
      }
      case "lookbehind": {
        const behind = behindOf(assertion, flags);
        return follow.map((next, context) => {
          const after = this.#classes[context - 1];
          const holds = after === undefined ? behind.start : intersect(after, behind.points).length > 0;
          return holds === assertion.negate ? make.none : next;
        });
      }
      default:
        return assertion satisfies never;
    }
  }
}
