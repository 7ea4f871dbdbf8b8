import { lineOf, type Source } from "./source.ts";

/**
 * Imports at the top of a Zig file, and functions that it does not export, which nothing in it uses. Zig compiles nothing that is not
 * reached, and is silent about it.
 */
export function unusedFindings({ path, text }: Source): readonly string[] {
  const code = text.replace(/\/\/.*/g, "");
  return [...code.matchAll(privateName)].flatMap((match) => {
    const name = match[1] ?? match[2] ?? "";
    // An import is named by itself; a function may also be a method.
    const use = new RegExp(`${match[1] === undefined ? "" : "(?<!(?<![.])[.])"}(?<![\\w"@])${name}(?![\\w"])`, "g");
    const isUsed = [...code.matchAll(use)].length > 1;
    return isUsed ? [] : [`${path}:${lineOf(code, match.index)}: nothing uses ${name}; delete it`];
  });
}

const privateName = /^const (\w+) = .*;$|^ *(?:inline )?fn (\w+)\(/gm;
