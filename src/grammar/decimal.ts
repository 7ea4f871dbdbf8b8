import { decimalDigitsMax } from "../limits.ts";

/** An exact decimal, digits × 10^exponent. Unique: the digits never end in zero, and zero has exponent 0. */
export type Decimal = { readonly digits: bigint; readonly exponent: number };

/** The value of a JSON number's text; `undefined` where it is written, or has to be, with more than `decimalDigitsMax` digits. */
export function readDecimal(text: string): Decimal | undefined {
  // Sign, point and an exponent of any sense fit into the difference; beyond it the expressions below would be slow.
  if (text.length > decimalDigitsMax + 32) return undefined;
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
  if (parts === null) throw new Error(`${text} is not a JSON number`);
  const [, sign = "", whole = "", fraction = "", power = "0"] = parts;
  const significant = (whole + fraction).replace(/^0+/, "");
  const stripped = significant.replace(/0+$/, "");
  if (stripped === "") return { digits: 0n, exponent: 0 };
  const exponent = Number(power) - fraction.length + (significant.length - stripped.length);
  const written = exponent >= 0 ? stripped.length + exponent : Math.max(stripped.length, 1 - exponent);
  if (written > decimalDigitsMax) return undefined;
  return { digits: BigInt(sign + stripped), exponent };
}

/** JSON's notation without exponent. */
export function writeDecimal({ digits, exponent }: Decimal): string {
  const sign = digits < 0n ? "-" : "";
  const text = (digits < 0n ? -digits : digits).toString();
  if (exponent >= 0) return sign + text + "0".repeat(exponent);
  const padded = text.padStart(1 - exponent, "0");
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** Negative, zero or positive, as a is below, equal to or above b. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const exponent = Math.min(a.exponent, b.exponent);
  const difference = scaled(a, exponent) - scaled(b, exponent);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function isWhole(decimal: Decimal): boolean {
  return decimal.exponent >= 0;
}

/** The largest whole number that is not above. */
export function floorDecimal(decimal: Decimal): Decimal {
  if (isWhole(decimal)) return decimal;
  const quotient = decimal.digits / 10n ** BigInt(-decimal.exponent);
  return wholeDecimal(decimal.digits < 0n ? quotient - 1n : quotient);
}

/** The smallest whole number that is not below. */
export function ceilDecimal(decimal: Decimal): Decimal {
  if (isWhole(decimal)) return decimal;
  const quotient = decimal.digits / 10n ** BigInt(-decimal.exponent);
  return wholeDecimal(decimal.digits < 0n ? quotient : quotient + 1n);
}

/** A whole decimal plus a small whole number. */
export function addWhole(decimal: Decimal, summand: bigint): Decimal {
  return wholeDecimal(scaled(decimal, 0) + summand);
}

/** Whether `a` is `b`, which is not zero, times a whole number. */
export function isMultipleOf(a: Decimal, b: Decimal): boolean {
  const exponent = Math.min(a.exponent, b.exponent);
  return scaled(a, exponent) % scaled(b, exponent) === 0n;
}

/** The smallest positive decimal that is a whole multiple of two positive ones. */
export function commonMultiple(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent);
  const [one, other] = [scaled(a, exponent), scaled(b, exponent)];
  let [divisor, rest] = [one, other];
  while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  return decimalOf((one / divisor) * other, exponent);
}

/** The smallest whole multiple of a positive decimal that is not below. */
export function multipleFrom(low: Decimal, factor: Decimal): Decimal {
  const exponent = Math.min(low.exponent, factor.exponent);
  const [least, step] = [scaled(low, exponent), scaled(factor, exponent)];
  const quotient = least / step;
  return decimalOf((quotient * step < least ? quotient + 1n : quotient) * step, exponent);
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent);
  return decimalOf(scaled(a, exponent) + scaled(b, exponent), exponent);
}

function decimalOf(digits: bigint, exponent: number): Decimal {
  const whole = wholeDecimal(digits);
  return digits === 0n ? whole : { digits: whole.digits, exponent: whole.exponent + exponent };
}

function wholeDecimal(value: bigint): Decimal {
  if (value === 0n) return { digits: 0n, exponent: 0 };
  const text = value.toString();
  const stripped = text.replace(/0+$/, "");
  return { digits: BigInt(stripped), exponent: text.length - stripped.length };
}

/** The digits of the same value at a smaller or equal exponent. */
function scaled(decimal: Decimal, exponent: number): bigint {
  return decimal.digits * 10n ** BigInt(decimal.exponent - exponent);
}
