import { addWhole, ceilDecimal, compareDecimals, type Decimal, floorDecimal, isWhole } from "../decimal.ts";
import {
  type ArrayLayer,
  type Finite,
  type Limit,
  type ObjectLayer,
  type Range,
  type Schema,
  types,
} from "./schema.ts";

/**
 * A case while it grows: everything that the conjuncts met so far demand of a value of one JSON type. Members and items are
 * kept as layers, one for each schema, and come together when the case is finished.
 */
export type Shape = {
  /** Every conjunct that holds here; one met again adds nothing. */
  readonly met: readonly number[];
  /** Those of `met` that demand something by themselves. Fewer of them is the wider case. */
  readonly atoms: readonly number[];
} & Demand;

export type Demand =
  | { readonly type: "null" | "true" | "false" }
  | NumberDemand
  | StringDemand
  | { readonly type: "array"; readonly layers: readonly ArrayLayer[]; readonly size: Range }
  | { readonly type: "object"; readonly layers: readonly ObjectLayer[]; readonly required: readonly string[] };

export type NumberDemand = {
  readonly type: "number";
  readonly whole: boolean;
  /** Written in plain digits, as draft 4 wants its integers. */
  readonly plain: boolean;
  readonly low: Limit | undefined;
  readonly high: Limit | undefined;
};

/** With `among`, the length is already part of the list. */
export type StringDemand = {
  readonly type: "string";
  readonly length: Range;
  readonly among: ReadonlySet<string> | undefined;
};

const anySize: Range = { min: 0, max: undefined };

/** Every JSON value: one case for each type, nothing demanded. */
export const everything: readonly Shape[] = [
  { type: "null" } as const,
  { type: "true" } as const,
  { type: "false" } as const,
  { type: "number", whole: false, plain: false, low: undefined, high: undefined } as const,
  { type: "string", length: anySize, among: undefined } as const,
  { type: "array", layers: [], size: anySize } as const,
  { type: "object", layers: [], required: [] } as const,
].map((demand) => ({ ...demand, met: [], atoms: [] }));

/** What is left of one type under a schema's own keywords except `enum` and `const`. */
export function narrow(demand: Demand, schema: Schema): Demand | undefined {
  if ((types[demand.type] & schema.types) === 0) return undefined;
  switch (demand.type) {
    case "null":
    case "true":
    case "false":
      return demand;
    case "number": {
      const low = tighter(demand.low, schema.low, 1);
      const high = tighter(demand.high, schema.high, -1);
      return between({
        type: "number",
        whole: demand.whole || schema.whole,
        plain: demand.plain || schema.plain,
        low,
        high,
      });
    }
    case "string": {
      const length = both(demand.length, schema.length);
      return length && withLength(demand, length);
    }
    case "array": {
      const size = both(demand.size, schema.items);
      const layers = schema.array === undefined ? demand.layers : [...demand.layers, schema.array];
      return size && { type: "array", layers, size };
    }
    case "object": {
      const layers = schema.object === undefined ? demand.layers : [...demand.layers, schema.object];
      const required = schema.required.length === 0 ? demand.required : [...demand.required, ...schema.required];
      return { type: "object", layers, required };
    }
    default:
      return demand satisfies never;
  }
}

/** The scalars of a finite set that fit; its arrays and objects are schemas of their own. */
export function select(demand: Demand, finite: Finite): readonly Demand[] {
  switch (demand.type) {
    case "null":
    case "true":
    case "false":
      return (types[demand.type] & finite.types) === 0 ? [] : [demand];
    case "number":
      return finite.numbers.map((value) => exactly(value, demand.plain)).filter((point) => numberWithin(point, demand));
    case "string": {
      const among = new Set(
        [...finite.strings].filter((text) => demand.among?.has(text) ?? hasLength(text, demand.length)),
      );
      return among.size === 0 ? [] : [{ type: "string", length: anySize, among }];
    }
    case "array":
    case "object":
      return [];
    default:
      return demand satisfies never;
  }
}

/** Whether every value of `a` is one of `b`. */
export function numberWithin(a: NumberDemand, b: NumberDemand): boolean {
  if ((b.whole && !a.whole) || (b.plain && !a.plain)) return false;
  return limitWithin(a.low, b.low, 1) && limitWithin(a.high, b.high, -1);
}

export function stringWithin(a: StringDemand, b: StringDemand): boolean {
  const { among } = b;
  if (a.among !== undefined) {
    return [...a.among].every((text) => (among === undefined ? hasLength(text, b.length) : among.has(text)));
  }
  return among === undefined && a.length.min >= b.length.min && maxOf(a.length) <= maxOf(b.length);
}

export function isPoint({ low, high }: NumberDemand): boolean {
  return low !== undefined && high !== undefined && compareDecimals(low.value, high.value) === 0;
}

/** Whole numbers get limits that are values themselves; undefined if nothing lies between the limits. */
function between(demand: NumberDemand): NumberDemand | undefined {
  const low = demand.whole && demand.low !== undefined ? wholeLow(demand.low) : demand.low;
  const high = demand.whole && demand.high !== undefined ? wholeHigh(demand.high) : demand.high;
  if (low === undefined || high === undefined) return { ...demand, low, high };
  const order = compareDecimals(low.value, high.value);
  if (order > 0 || (order === 0 && (low.exclusive || high.exclusive))) return undefined;
  return order === 0 ? exactly(low.value, demand.plain) : { ...demand, low, high };
}

function wholeLow({ value, exclusive }: Limit): Limit {
  const open = exclusive && isWhole(value);
  return { value: open ? addWhole(value, 1n) : ceilDecimal(value), exclusive: false };
}

function wholeHigh({ value, exclusive }: Limit): Limit {
  const open = exclusive && isWhole(value);
  return { value: open ? addWhole(value, -1n) : floorDecimal(value), exclusive: false };
}

/** The stricter of two limits; `direction` is 1 for lower and -1 for upper ones. */
function tighter(a: Limit | undefined, b: Limit | undefined, direction: 1 | -1): Limit | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return limitWithin(a, b, direction) ? a : b;
}

/** Whether limit `a` leaves nothing that `b` forbids. */
function limitWithin(a: Limit | undefined, b: Limit | undefined, direction: 1 | -1): boolean {
  if (b === undefined) return true;
  if (a === undefined) return false;
  const order = compareDecimals(a.value, b.value) * direction;
  return order > 0 || (order === 0 && (a.exclusive || !b.exclusive));
}

function exactly(value: Decimal, plain: boolean): NumberDemand {
  const limit = { value, exclusive: false };
  return { type: "number", whole: isWhole(value), plain, low: limit, high: limit };
}

function both(a: Range, b: Range | undefined): Range | undefined {
  if (b === undefined) return a;
  const min = Math.max(a.min, b.min);
  const max = Math.min(maxOf(a), maxOf(b));
  if (min > max) return undefined;
  return { min, max: max === Number.POSITIVE_INFINITY ? undefined : max };
}

function withLength(demand: StringDemand, length: Range): StringDemand | undefined {
  if (demand.among === undefined) return { ...demand, length };
  const among = new Set([...demand.among].filter((text) => hasLength(text, length)));
  return among.size === 0 ? undefined : { ...demand, among };
}

/** Lengths are counted in code points. */
function hasLength(text: string, range: Range): boolean {
  if (range === anySize) return true;
  const length = [...text].length;
  return range.min <= length && length <= maxOf(range);
}

function maxOf(range: Range): number {
  return range.max ?? Number.POSITIVE_INFINITY;
}
