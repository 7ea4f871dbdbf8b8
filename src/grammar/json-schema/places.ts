import type { Counter, Options, ValueId } from "../ir.ts";
import type { Cases } from "./cases.ts";
import type { SchemaReader } from "./read.ts";
import type { Conjunct } from "./schema.ts";

/** One way to fill a place: the conjuncts that hold there, and the counters that it adds one to. */
export type Way = { readonly conjuncts: readonly Conjunct[]; readonly counts: number };

export const freely: Way = { conjuncts: [], counts: 0 };

/** What may stand in the places of arrays and objects. */
export class Places {
  readonly #reader: SchemaReader;
  readonly #cases: Cases;
  readonly #valueOf: (conjuncts: readonly Conjunct[], around: string) => ValueId;

  constructor(reader: SchemaReader, cases: Cases, value: (conjuncts: readonly Conjunct[], around: string) => ValueId) {
    this.#reader = reader;
    this.#cases = cases;
    this.#valueOf = value;
  }

  /** Every combination of one way out of each list that something may fit. */
  combine(lists: readonly (readonly Way[])[], pointer: string, keyword: string): readonly Way[] {
    let ways: readonly Way[] = [freely];
    for (const list of lists) {
      if (list.length === 1 && list[0] === freely) continue;
      // What holds already is looked through for each combination.
      const each = 1 + ((ways.at(-1)?.conjuncts.length ?? 0) >> 1);
      if (!this.#cases.spend(ways.length * list.length * each, pointer, keyword)) return [];
      const met: Way[] = [];
      for (const way of ways) {
        for (const more of list) {
          const both = way.conjuncts.length === 0 ? more.conjuncts : [...way.conjuncts, ...more.conjuncts];
          const conjuncts = this.simplified(both);
          if (conjuncts !== undefined) met.push({ conjuncts, counts: way.counts | more.counts });
        }
      }
      ways = met;
    }
    return ways;
  }

  /**
   * Ways in which one of the conjuncts fails, which counts, or not, beside a base that holds in any case. Where the base or the conjunct
   * has only a few values, each of them fails or does not: that is told apart, so that there are no more ways than values, and one more
   * for all others.
   */
  failing(base: readonly Conjunct[], conjuncts: readonly Conjunct[], counts: number): readonly Way[] {
    const { facts } = this.#cases;
    const fails = (one: Conjunct) => facts.exclude([...base, one]) || this.#cases.areDisjoint(base, one);
    if (conjuncts.some(fails)) return [{ conjuncts: [], counts }];
    const [only, ...others] = conjuncts;
    const split = only !== undefined && others.length === 0 && (facts.isFinite(base) || facts.isFinite([only]));
    const not = conjuncts.map((conjunct) => ({ conjuncts: [this.#reader.not(conjunct)], counts }));
    return [split ? { conjuncts: [this.#reader.not(this.#reader.not(only))], counts: 0 } : freely, ...not];
  }

  /** Without repetitions and without what accepts everything; undefined where it is plain that nothing fits. */
  simplified(conjuncts: readonly Conjunct[]): readonly Conjunct[] | undefined {
    const kept: Conjunct[] = [];
    for (const conjunct of conjuncts) {
      if (kept.length > 0 && kept.includes(conjunct)) continue;
      const verdict = this.#reader.verdict(conjunct);
      if (verdict === false) return undefined;
      if (verdict === true) continue;
      const same = kept.length === 0 ? -1 : kept.findIndex((one) => isSame(one, conjunct));
      const other = kept[same];
      if (other === undefined) kept.push(conjunct);
      else if (other.negated !== conjunct.negated) return undefined;
      // Of two that differ in closing objects, the one that does says more.
      else if (conjunct.closes) kept[same] = conjunct;
    }
    if (kept.length < 2) return kept;
    const { facts } = this.#cases;
    return facts.exclude(kept) ? undefined : facts.withoutIdle(kept, kept);
  }

  options(ways: readonly Way[], counters: readonly Counter[], around: string): Options {
    const [alone] = ways;
    if (alone !== undefined && ways.length === 1) {
      return [{ value: this.#valueOf(alone.conjuncts, around), counts: alone.counts }];
    }
    const bounded = counters.reduce((sum, { max }, i) => (max === undefined ? sum : sum | (1 << i)), 0);
    const options = ways.map(({ conjuncts, counts }) => ({ value: this.#valueOf(conjuncts, around), counts }));
    // Counting more is never worse where a counter has no upper bound.
    return options.filter(
      (option, i) =>
        !options.some((other, j) => {
          if (i === j || option.value !== other.value) return false;
          const more = other.counts & ~option.counts;
          if ((option.counts & ~other.counts) !== 0 || (more & bounded) !== 0) return false;
          return more !== 0 || j < i;
        }),
    );
  }
}

/** Whether every counter that wants something can be counted by one of the options. */
export function canCount(counters: readonly Counter[], places: readonly Options[]): boolean {
  const counted = places.flat().reduce((sum, { counts }) => sum | counts, 0);
  return counters.every(({ min }, i) => min === 0 || ((counted >> i) & 1) === 1);
}

/** Counters of one case that the intermediate form has bits for. */
export const countersMax = 32;

/** Whether two conjuncts are about one schema, negated or not. */
function isSame(a: Conjunct, b: Conjunct): boolean {
  return a.json === b.json && a.kind === b.kind && a.scope === b.scope;
}
