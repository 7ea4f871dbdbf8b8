import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  addDecimals,
  addWhole,
  ceilDecimal,
  commonMultiple,
  compareDecimals,
  floorDecimal,
  isMultipleOf,
  multipleFrom,
  readDecimal,
  writeDecimal,
} from "./decimal.ts";

function decimal(text: string) {
  const value = readDecimal(text);
  if (value === undefined) throw new Error(`${text} has too many digits`);
  return value;
}

test.each([
  ["0", "0"],
  ["-0.00e7", "0"],
  ["1.50", "1.5"],
  ["1e3", "1000"],
  ["1.5E+2", "150"],
  ["-12.340e-3", "-0.01234"],
  ["100e-2", "1"],
  ["123456789012345678901234567890", "123456789012345678901234567890"],
  ["0e99999999999", "0"],
])("%s is %s", (text, written) => {
  expect(writeDecimal(decimal(text))).toBe(written);
  expect(decimal(written)).toEqual(decimal(text));
});

test.each(["1e1200", "1e-1200", "1e99999999999999999999999", "1e-99999999999999999999999"])(
  "%s is too long",
  (text) => {
    expect(readDecimal(text)).toBeUndefined();
  },
);

test("a double's whole range fits", () => {
  for (const value of [Number.MAX_VALUE, Number.MIN_VALUE, -Number.MAX_VALUE]) {
    expect(Number(writeDecimal(decimal(String(value))))).toBe(value);
  }
});

test("order, floor and ceiling are those of the numbers", () => {
  // Quarters up to a million are exact as doubles too.
  const quarter = fc.integer({ min: -4_000_000, max: 4_000_000 }).map((value) => value / 4);
  fc.assert(
    fc.property(quarter, quarter, (a, b) => {
      expect(compareDecimals(decimal(String(a)), decimal(String(b)))).toBe(Math.sign(a - b));
      expect(writeDecimal(floorDecimal(decimal(String(a))))).toBe(String(Math.floor(a) + 0));
      expect(writeDecimal(ceilDecimal(decimal(String(a))))).toBe(String(Math.ceil(a) + 0));
      expect(writeDecimal(addWhole(decimal(String(Math.floor(a))), 1n))).toBe(String(Math.floor(a) + 1));
    }),
  );
});

test("multiples are those of the numbers", () => {
  // Eighths up to a thousand are exact as doubles too.
  const eighth = fc.integer({ min: -8000, max: 8000 }).map((value) => value / 8);
  const factor = fc.integer({ min: 1, max: 60 }).map((value) => value / 8);
  fc.assert(
    fc.property(eighth, factor, factor, (low, a, b) => {
      const [one, other] = [decimal(String(a)), decimal(String(b))];
      expect(isMultipleOf(decimal(String(low)), one)).toBe(Number.isInteger(low / a));
      expect(Number(writeDecimal(multipleFrom(decimal(String(low)), one)))).toBe(Math.ceil(low / a) * a + 0);
      expect(Number(writeDecimal(addDecimals(decimal(String(low)), one)))).toBe(low + a);
      const common = commonMultiple(one, other);
      expect([isMultipleOf(common, one), isMultipleOf(common, other)]).toEqual([true, true]);
      let least = a;
      while (!Number.isInteger(least / b)) least += a;
      expect(Number(writeDecimal(common))).toBe(least);
    }),
  );
});
