import type { Result } from "../generation/result.ts";
import type { Language, Languages } from "./regex/language.ts";
import { type PatternFlags, patternLanguage } from "./regex/pattern.ts";

/**
 * The texts that a regular expression of a grammar matches from end to end: ECMAScript's, in which groups may also be named as Python and
 * Rust do, since examples of custom tools are.
 */
export function wholePattern(languages: Languages, source: string, flags: PatternFlags): Result<Language, string> {
  const pieces = /\\.|\[(?:\\.|[^\]\\])*\]|\(\?P</gs;
  const named = source.replaceAll(pieces, (piece) => (piece === "(?P<" ? "(?<" : piece));
  return patternLanguage(languages, named, flags, "whole");
}
