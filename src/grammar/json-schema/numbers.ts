import {
  addDecimals,
  addWhole,
  ceilDecimal,
  commonMultiple,
  compareDecimals,
  type Decimal,
  floorDecimal,
  isMultipleOf,
  isWhole,
  multipleFrom,
} from "../decimal.ts";
import type { Limit } from "./schema.ts";

/** What is demanded of a number. */
export type NumberDemand = {
  readonly type: "number";
  readonly whole: boolean;
  /** Written in plain digits, as draft 4 wants its integers. */
  readonly plain: boolean;
  readonly low: Limit | undefined;
  readonly high: Limit | undefined;
  readonly multipleOf: Decimal | undefined;
  /** Not a multiple of any of these, all of them positive. */
  readonly multipleOfNone: readonly Decimal[];
  readonly except: readonly Decimal[];
};

export const anyNumber: NumberDemand = {
  type: "number",
  whole: false,
  plain: false,
  low: undefined,
  high: undefined,
  multipleOf: undefined,
  multipleOfNone: [],
  except: [],
};

export const one: Decimal = { digits: 1n, exponent: 0 };

/** Both demands; undefined where it is plain that no number meets them. */
export function meetNumbers(a: NumberDemand, b: NumberDemand): NumberDemand | undefined {
  if (a === anyNumber || a === b) return b;
  if (b === anyNumber) return a;
  return settle({
    type: "number",
    whole: a.whole || b.whole,
    plain: a.plain || b.plain,
    low: tighter(a.low, b.low, 1),
    high: tighter(a.high, b.high, -1),
    multipleOf:
      a.multipleOf === undefined || b.multipleOf === undefined
        ? (a.multipleOf ?? b.multipleOf)
        : commonMultiple(a.multipleOf, b.multipleOf),
    multipleOfNone: merged(a.multipleOfNone, b.multipleOfNone),
    except: merged(a.except, b.except),
  });
}

/** The demand in its simplest form; undefined where it is plain that no number meets it. */
export function settle(demand: NumberDemand): NumberDemand | undefined {
  let { whole, low, high, multipleOf } = demand;
  if (multipleOf !== undefined) {
    if (whole) multipleOf = commonMultiple(multipleOf, one);
    whole ||= isWhole(multipleOf);
    if (whole && compareDecimals(multipleOf, one) === 0) multipleOf = undefined;
  }
  if (whole && low !== undefined) low = wholeLow(low);
  if (whole && high !== undefined) high = wholeHigh(high);
  const step = multipleOf ?? (whole ? one : undefined);
  if (step !== undefined && demand.multipleOfNone.some((factor) => isMultipleOf(step, factor))) return undefined;
  const settled = { ...demand, whole, low, high, multipleOf };
  if (low === undefined || high === undefined) return settled;
  const order = compareDecimals(low.value, high.value);
  if (order > 0 || (order === 0 && (low.exclusive || high.exclusive))) return undefined;
  if (order === 0) return holds(low.value, settled) ? exactly(low.value, demand.plain) : undefined;
  if (multipleOf !== undefined && !hasMultiple(low, high, multipleOf)) return undefined;
  return settled;
}

/** Just this value. */
export function exactly(value: Decimal, plain: boolean): NumberDemand {
  const limit = { value, exclusive: false };
  return { ...anyNumber, whole: isWhole(value), plain: plain && isWhole(value), low: limit, high: limit };
}

/** Whether a number of this value meets the demand; how it is written is another matter. */
export function holds(value: Decimal, demand: NumberDemand): boolean {
  const { whole, low, high, multipleOf, multipleOfNone, except } = demand;
  const limit = { value, exclusive: false };
  return (
    (!whole || isWhole(value)) &&
    limitWithin(limit, low, 1) &&
    limitWithin(limit, high, -1) &&
    (multipleOf === undefined || isMultipleOf(value, multipleOf)) &&
    !multipleOfNone.some((factor) => isMultipleOf(value, factor)) &&
    !except.some((other) => compareDecimals(value, other) === 0)
  );
}

/** Whether every number of `a` is one of `b`, as far as that is plain. */
export function numberWithin(a: NumberDemand, b: NumberDemand): boolean {
  if (b.plain && !a.plain) return false;
  if (isPoint(a) && a.low !== undefined) return holds(a.low.value, b);
  if (b.whole && !a.whole) return false;
  const { multipleOf } = b;
  if (multipleOf !== undefined && (a.multipleOf === undefined || !isMultipleOf(a.multipleOf, multipleOf))) return false;
  if (!isSubset(b.multipleOfNone, a.multipleOfNone)) return false;
  if (!b.except.every((value) => !holds(value, a))) return false;
  return limitWithin(a.low, b.low, 1) && limitWithin(a.high, b.high, -1);
}

export function isPoint({ low, high }: NumberDemand): boolean {
  return low !== undefined && high !== undefined && compareDecimals(low.value, high.value) === 0;
}

/** Numbers below a lower limit, or above an upper one. */
export function beyond(limit: Limit): Limit {
  return { value: limit.value, exclusive: !limit.exclusive };
}

function hasMultiple(low: Limit, high: Limit, factor: Decimal): boolean {
  let least = multipleFrom(low.value, factor);
  if (low.exclusive && compareDecimals(least, low.value) === 0) least = addDecimals(least, factor);
  const order = compareDecimals(least, high.value);
  return order < 0 || (order === 0 && !high.exclusive);
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

function merged(a: readonly Decimal[], b: readonly Decimal[]): readonly Decimal[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  return [...a, ...b.filter((value) => !a.some((other) => compareDecimals(value, other) === 0))];
}

function isSubset(a: readonly Decimal[], b: readonly Decimal[]): boolean {
  return a.every((value) => b.some((other) => compareDecimals(value, other) === 0));
}
