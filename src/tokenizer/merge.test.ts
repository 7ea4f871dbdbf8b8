import { expect, test } from "bun:test";
import { seededRandom } from "../../tests/fixtures/random.ts";
import { type Pairs, Symbols } from "./merge.ts";

/** Joins the best pair again and again, looking at all of them each time: the definition. */
function mergeSlowly(tokens: readonly number[], pairs: Pairs): number[] {
  const left = [...tokens];
  for (;;) {
    let best = { at: -1, handle: -1, priority: Number.POSITIVE_INFINITY };
    for (let at = 0; at + 1 < left.length; at++) {
      const handle = pairs.find(left[at] ?? -1, left[at + 1] ?? -1, new Uint8Array(0), 0, 0);
      if (handle >= 0 && pairs.priority(handle) < best.priority) {
        best = { at, handle, priority: pairs.priority(handle) };
      }
    }
    if (best.at < 0) return left;
    left.splice(best.at, 2, pairs.result(best.handle));
  }
}

test("merging by a heap is merging by definition", () => {
  const random = seededRandom();
  for (let round = 0; round < 2000; round++) {
    // Few letters and few priorities, so that pairs overlap and tie all the time.
    const letters = 1 + random(3);
    const rules = new Map<string, { priority: number; result: number }>();
    let known = letters;
    for (let rule = 0; rule < 12; rule++) {
      rules.set(`${random(known)} ${random(known)}`, { priority: random(6), result: known++ });
    }
    const handles = [...rules.values()];
    const keys = [...rules.keys()];
    const pairs: Pairs = {
      find: (left, right) => keys.indexOf(`${left} ${right}`),
      priority: (handle) => handles[handle]?.priority ?? 0,
      result: (handle) => handles[handle]?.result ?? -1,
    };
    const tokens = Array.from({ length: random(40) }, () => random(letters));
    const symbols = new Symbols();
    for (const [at, token] of tokens.entries()) symbols.push(token, at, at + 1);
    symbols.merge(new Uint8Array(tokens.length), pairs);
    const merged: number[] = [];
    let end = 0;
    for (let at = tokens.length > 0 ? 0 : -1; at >= 0; at = symbols.next[at] ?? -1) {
      merged.push(symbols.tokens[at] ?? -1);
      expect(symbols.starts[at]).toBe(end);
      end = symbols.ends[at] ?? 0;
    }
    expect(end).toBe(tokens.length);
    expect(merged).toEqual(mergeSlowly(tokens, pairs));
  }
});
