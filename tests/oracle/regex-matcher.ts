import type { Regex, RegexId } from "../../src/grammar/ir.ts";

/** Whether a regex of the IR matches a whole text: its definition, by trying every way to cut the text. Slow, and sharing no code. */
export function regexMatches(regexes: readonly Regex[], root: RegexId, text: string): boolean {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  const memo = new Map<string, boolean>();

  function matches(id: RegexId, from: number, to: number): boolean {
    const key = `${id} ${from} ${to}`;
    const known = memo.get(key);
    if (known !== undefined) return known;
    const found = tries(id, from, to);
    memo.set(key, found);
    return found;
  }

  function tries(id: RegexId, from: number, to: number): boolean {
    const regex = regexes[id];
    if (regex === undefined) throw new Error(`no regex ${id}`);
    switch (regex.kind) {
      case "class": {
        const point = points[from] ?? -1;
        return to === from + 1 && regex.ranges.some(([first, last]) => first <= point && point <= last);
      }
      case "concat":
        return [...regex.items.reduce((ends, item) => step(ends, item, to), new Set([from]))].includes(to);
      case "union":
        return regex.items.some((item) => matches(item, from, to));
      case "intersection":
        return regex.items.every((item) => matches(item, from, to));
      case "complement":
        return !matches(regex.item, from, to);
      case "repeat": {
        let ends = new Set([from]);
        if (regex.min === 0 && from === to) return true;
        // More rounds than characters only repeat the empty text.
        const needed = Math.min(regex.min, to - from + 1);
        const rounds = Math.min(regex.max ?? Number.POSITIVE_INFINITY, needed + to - from);
        for (let round = 1; round <= rounds; round++) {
          ends = step(ends, regex.item, to);
          if (round >= needed && ends.has(to)) return true;
          if (ends.size === 0) return false;
        }
        return false;
      }
      default:
        return regex satisfies never;
    }
  }

  function step(starts: ReadonlySet<number>, item: RegexId, to: number): Set<number> {
    const ends = new Set<number>();
    for (const start of starts) for (let end = start; end <= to; end++) if (matches(item, start, end)) ends.add(end);
    return ends;
  }

  return matches(root, 0, points.length);
}
