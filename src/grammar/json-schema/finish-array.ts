import { bare, type Case, type Counter, type Options } from "../ir.ts";
import type { Cases } from "./cases.ts";
import { canCount, countersMax, freely, type Places, type Way } from "./places.ts";
import type { SchemaReader } from "./read.ts";
import type { ArrayLayer, Conjunct, Contains } from "./schema.ts";
import type { ArrayDemand } from "./shape.ts";
import { anySize, maxOf, meetRanges } from "./texts.ts";

type Tools = { readonly reader: SchemaReader; readonly cases: Cases; readonly places: Places };

/** A case of arrays, item by item; undefined where nothing fits after all. */
export function finishArray(demand: ArrayDemand, pointer: string, tools: Tools): Case | undefined {
  const { reader, cases, places } = tools;
  const { layers, broken } = demand;
  const tallies = talliesOf(demand.contains, reader);
  const counted = tallies.flatMap(({ count }) => (count === undefined ? [] : [count]));
  const counters: Counter[] = [...counted, ...broken.map(() => ({ min: 1, max: undefined }))];
  if (counters.length > countersMax) {
    reader.refuse(pointer, "contains", "makes the schema too large to enforce");
    return undefined;
  }
  const waysAt = (i: number): readonly Way[] => {
    let bit = 1;
    const lists: (readonly Way[])[] = layers.map((layer) => layerWays(layer, i));
    for (const tally of tallies) {
      lists.push(tally.ways(bit));
      if (tally.count !== undefined) bit <<= 1;
    }
    for (const layer of broken) {
      lists.push(brokenWays(layer, i, bit, tools));
      bit <<= 1;
    }
    return places.combine(lists, pointer, "items");
  };

  const size = meetRanges(demand.size, anySize) ?? demand.size;
  const listed = Math.max(0, ...[...layers, ...broken].map(({ prefix }) => prefix.length));
  const prefixMax = Math.min(listed, maxOf(size));
  const all: (readonly Way[])[] = [];
  const prefix: Options[] = [];
  let itemsMax = size.max;
  for (let i = 0; i < prefixMax; i++) {
    if (!cases.spend(layers.length, pointer, "prefixItems")) return undefined;
    const ways = waysAt(i);
    // Where an item fits nothing, the array has to end before it.
    if (ways.length === 0) itemsMax = i;
    if (ways.length === 0) break;
    all.push(ways);
    prefix.push(places.options(ways, counters, pointer));
  }
  const ends = itemsMax !== undefined && itemsMax <= prefix.length;
  const ways = ends ? [] : waysAt(Math.max(listed, prefix.length));
  if (ways.length === 0) itemsMax = Math.min(itemsMax ?? prefix.length, prefix.length);
  else all.push(ways);
  const rest = places.options(ways, counters, pointer);
  if (size.min > (itemsMax ?? size.min) || !canCount(counters, [...prefix, rest])) return undefined;
  const unique = demand.unique !== undefined && (itemsMax ?? 2) > 1;
  if (unique && !all.every((list) => list.every((way) => isScalar(way, cases)))) {
    reader.refuse(demand.unique ?? pointer, "uniqueItems", "is enforced only where every item is a scalar");
  }
  return { ...bare.array, prefix, rest, itemsMin: size.min, itemsMax, counters, unique };
}

/** What a `contains` asks of each item, and the counter it needs, if any. */
type Tally = { readonly count: Counter | undefined; ways(bit: number): readonly Way[] };

function talliesOf(contains: readonly Contains[], reader: SchemaReader): readonly Tally[] {
  return contains.flatMap(({ item, count }): readonly Tally[] => {
    const { min, max } = count;
    const counted = (bit: number): Way => ({ conjuncts: [item], counts: bit });
    const uncounted: Way = { conjuncts: [reader.not(item)], counts: 0 };
    if (max === 0) return [{ count: undefined, ways: () => [uncounted] }];
    if (max === undefined && min === 0) return [];
    // An item that fits need not be counted where only a minimum is asked for, and one that does not may be where only a maximum is.
    if (max === undefined) return [{ count, ways: (bit) => [freely, counted(bit)] }];
    if (min === 0) return [{ count, ways: (bit) => [uncounted, { conjuncts: [], counts: bit }] }];
    return [{ count, ways: (bit) => [uncounted, counted(bit)] }];
  });
}

function layerWays({ prefix, rest }: ArrayLayer, i: number): readonly Way[] {
  const own = prefix[i];
  if (own !== undefined) return [{ conjuncts: [own], counts: 0 }];
  return rest === undefined ? [freely] : rest.map((conjunct) => ({ conjuncts: [conjunct], counts: 0 }));
}

/** An item may fit the layer or not; where it does not, it is counted. */
function brokenWays({ prefix, rest }: ArrayLayer, i: number, bit: number, { reader, places }: Tools): readonly Way[] {
  const own = prefix[i];
  if (own !== undefined) return places.failing([], [own], bit);
  const failing: readonly Conjunct[] | undefined = rest;
  if (failing === undefined) return [freely];
  // All of what the rest may be has to fail.
  return [freely, { conjuncts: failing.map((conjunct) => reader.not(conjunct)), counts: bit }];
}

function isScalar({ conjuncts }: Way, cases: Cases): boolean {
  return cases.expand(conjuncts).every(({ type }) => type !== "array" && type !== "object");
}
