import type { AST } from "@eslint-community/regexpp";
import { type CodePoints, codePoints, contains, invert, unite } from "./code-points.ts";

/** What ECMAScript's classes and escapes stand for. */
export function setOf(node: AST.CharacterSet | AST.CharacterClassElement, dotAll: boolean): CodePoints {
  switch (node.type) {
    case "Character":
      return codePoints([[node.value, node.value]]);
    case "CharacterClassRange":
      return codePoints([[node.min.value, node.max.value]]);
    case "CharacterSet": {
      const set = node.kind === "any" ? (dotAll ? invert([]) : invert(lineEnds)) : escapeSet(node);
      return "negate" in node && node.negate ? invert(set) : set;
    }
    default:
      throw new Error(`${node.type} needs the v flag, which is never given`);
  }
}

export const wordPoints: CodePoints = codePoints([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]);

/** White space and line ends (ECMA-262, 12.2 and 12.3). */
const spacePoints: CodePoints = codePoints([
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]);

/** With every code point that is equal but for its case, as flag `i` compares them under `u`. */
export function foldCase(set: CodePoints): CodePoints {
  const added: number[] = [];
  for (const [point, others] of caseClasses()) if (contains(set, point)) added.push(...others);
  return unite(set, codePoints(added.map((point) => [point, point])));
}

/** What the dot leaves out. */
export const lineEnds: CodePoints = codePoints([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]);

function escapeSet(node: Exclude<AST.CharacterSet, AST.AnyCharacterSet>): CodePoints {
  switch (node.kind) {
    case "digit":
      return codePoints([[0x30, 0x39]]);
    case "word":
      return wordPoints;
    case "space":
      return spacePoints;
    case "property":
      return byExpression(`\\p{${node.key}${node.value === null ? "" : `=${node.value}`}}`);
    default:
      return node satisfies never;
  }
}

const expressionSets = new Map<string, CodePoints>();

/** The runtime's own Unicode tables, asked once for each class: all runs of code points that its expression matches. */
function byExpression(source: string): CodePoints {
  const known = expressionSets.get(source);
  if (known !== undefined) return known;
  const ranges: [number, number][] = [];
  const runs = new RegExp(`${source}+`, "gu");
  for (const { first, units, text } of everyCharacter()) {
    for (const { 0: run, index } of text.matchAll(runs)) {
      const start = first + index / units;
      ranges.push([start, start + run.length / units - 1]);
    }
  }
  const single = new RegExp(source, "u");
  for (const [first, last] of emptyRanges) if (single.test(String.fromCodePoint(first))) ranges.push([first, last]);
  const set = codePoints(ranges);
  expressionSets.set(source, set);
  return set;
}

/**
 * Planes in which Unicode has no characters and never will before others are full. Each is all in a class or not at all, but for the two code
 * points at its end, which are no characters.
 */
const emptyRanges: CodePoints = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16].flatMap((plane) => [
  [plane << 16, (plane << 16) + 0xfffd] as const,
  [(plane << 16) + 0xfffe, (plane << 16) + 0xffff] as const,
]);

type Stretch = { readonly first: number /** UTF-16 units of each. */; readonly units: 1 | 2; readonly text: string };

/** The characters of all other planes, in stretches of one width. */
function everyCharacter(): readonly Stretch[] {
  stretches ??= (
    [
      [0, 0xd7ff],
      [0xe000, 0xffff],
      [0x10000, 0x3ffff],
      [0xe0000, 0xeffff],
    ] as const
  ).map(([first, last]) => {
    const parts: string[] = [];
    for (let at = first; at <= last; at += 0x1000) {
      const end = Math.min(at + 0xfff, last);
      parts.push(String.fromCodePoint(...Array.from({ length: end - at + 1 }, (_, i) => at + i)));
    }
    return { first, units: first < 0x10000 ? 1 : 2, text: parts.join("") };
  });
  return stretches;
}
let stretches: readonly Stretch[] | undefined;

let caseClassesKnown: ReadonlyMap<number, readonly number[]> | undefined;

/** Code points that are not alone in their class of simple case folding, each with the whole class. */
function caseClasses(): ReadonlyMap<number, readonly number[]> {
  if (caseClassesKnown !== undefined) return caseClassesKnown;
  const classes = new Map<number, Set<number>>();
  const join = (a: number, b: number) => {
    const both = new Set([...(classes.get(a) ?? [a]), ...(classes.get(b) ?? [b])]);
    for (const point of both) classes.set(point, both);
  };
  // Only what the runtime itself takes for equal; its tables have the exceptions.
  const twice = /^(.)\1$/isu;
  for (const [first, last] of byExpression("[\\p{Changes_When_Casemapped}\\p{Changes_When_Casefolded}]")) {
    for (let point = first; point <= last; point++) {
      const text = String.fromCodePoint(point);
      for (const other of [text.toLowerCase(), text.toUpperCase(), text.toLowerCase().toUpperCase()]) {
        if (other !== text && twice.test(text + other)) join(point, other.codePointAt(0) ?? 0);
      }
    }
  }
  caseClassesKnown = new Map([...classes].map(([point, others]) => [point, [...others]]));
  return caseClassesKnown;
}
