import type { AST } from "@eslint-community/regexpp";
import { repetitionMax } from "../../limits.ts";
import { type CodePoints, invert, unite } from "./code-points.ts";
import type { PatternFlags } from "./pattern.ts";
import { foldCase, lineEnds, setOf, wordPoints } from "./sets.ts";

/** What is no regular language, or not expressed as one here: a predicate. */
export class NotRegular extends Error {}

export function wordSet(flags: PatternFlags): CodePoints {
  return flags.ignoreCase ? foldCase(wordPoints) : wordPoints;
}

export function classOf(node: AST.Character | AST.CharacterSet | AST.CharacterClass, flags: PatternFlags): CodePoints {
  const fold = (set: CodePoints) => (flags.ignoreCase ? foldCase(set) : set);
  if (node.type !== "CharacterClass") return fold(setOf(node, flags.dotAll));
  // Elsewhere these are sets of their own; here they would silently be their characters, and the `]` behind them a text.
  const foreign = /\[:\^?[a-z]+:\]$|(?:&&|--)\[/.exec(node.raw);
  if (foreign !== null) throw new NotRegular(`has '${foreign[0]}' in a class, which ECMAScript does not know`);
  const set = fold(unite(...node.elements.map((element) => setOf(element, flags.dotAll))));
  return node.negate ? invert(set) : set;
}

export function modified(flags: PatternFlags, group: AST.Group | AST.CapturingGroup): PatternFlags {
  if (group.type === "CapturingGroup" || group.modifiers === null) return flags;
  const { add, remove } = group.modifiers;
  const set = (flag: "ignoreCase" | "multiline" | "dotAll") => (flags[flag] || add[flag]) && !(remove?.[flag] ?? false);
  return { ignoreCase: set("ignoreCase"), multiline: set("multiline"), dotAll: set("dotAll") };
}

/** How often a quantifier repeats; no more than an automaton's counter holds. */
export function boundsOf({ min, max, raw }: AST.Quantifier): readonly [min: number, max: number | undefined] {
  const last = max === Number.POSITIVE_INFINITY ? undefined : max;
  if (Math.max(min, last ?? 0) <= repetitionMax) return [min, last];
  throw new NotRegular(`repeats something more than ${repetitionMax} times ('${raw}')`);
}

/** The classes of the character before that some assertion inside asks for. */
export function collectBehind(
  node: AST.Pattern | AST.Alternative | AST.Element,
  flags: PatternFlags,
  seen: CodePoints[],
): void {
  switch (node.type) {
    case "Pattern":
      for (const alternative of node.alternatives) collectBehind(alternative, flags, seen);
      return;
    case "Group":
    case "CapturingGroup":
      for (const alternative of node.alternatives) collectBehind(alternative, modified(flags, node), seen);
      return;
    case "Alternative":
      for (const element of node.elements) collectBehind(element, flags, seen);
      return;
    case "Quantifier":
      return collectBehind(node.element, flags, seen);
    case "Assertion":
      if (node.kind === "word") seen.push(wordSet(flags));
      else if (node.kind === "start" && flags.multiline) seen.push(lineEnds);
      else if (node.kind === "lookbehind") seen.push(behindOf(node, flags).points);
      else if (node.kind === "lookahead") {
        for (const alternative of node.alternatives) collectBehind(alternative, flags, seen);
      }
      return;
    default:
  }
}

export function collectAssertions(node: AST.Alternative | AST.Element, kinds: Set<string>): void {
  switch (node.type) {
    case "Group":
    case "CapturingGroup":
      for (const alternative of node.alternatives) collectAssertions(alternative, kinds);
      return;
    case "Alternative":
      for (const element of node.elements) collectAssertions(element, kinds);
      return;
    case "Quantifier":
      return collectAssertions(node.element, kinds);
    case "Assertion":
      kinds.add(node.kind);
      return;
    default:
  }
}

/** A look-behind of one character or the start of the text. */
export function behindOf(
  assertion: AST.LookbehindAssertion,
  flags: PatternFlags,
): { readonly points: CodePoints; readonly start: boolean } {
  const sets: CodePoints[] = [];
  let start = false;
  for (const { elements } of assertion.alternatives) {
    const [only, ...others] = elements;
    if (only?.type === "Character" || only?.type === "CharacterSet" || only?.type === "CharacterClass") {
      sets.push(classOf(only, flags));
    } else if (only?.type === "Assertion" && only.kind === "start" && !flags.multiline) start = true;
    else throw new NotRegular(`looks back further than one character ('${assertion.raw}')`);
    if (others.length > 0) throw new NotRegular(`looks back further than one character ('${assertion.raw}')`);
  }
  return { points: unite(...sets), start };
}

/** `(?:(?!…).)`: look-ahead and one character. */
export function temperedRound(element: AST.QuantifiableElement) {
  if (element.type !== "Group" && element.type !== "CapturingGroup") return undefined;
  if (element.type === "Group" && element.modifiers !== null) return undefined;
  const elements = element.alternatives.length === 1 ? (element.alternatives[0]?.elements ?? []) : [];
  const aheads = elements.slice(0, -1).filter((one) => one.type === "Assertion" && one.kind === "lookahead");
  const last = elements.at(-1);
  const isOne = last?.type === "Character" || last?.type === "CharacterSet" || last?.type === "CharacterClass";
  return isOne && aheads.length === elements.length - 1 ? { aheads, character: last } : undefined;
}
