import { expect, test } from "bun:test";
import { leastOfEach, median, quantile, rounded } from "./statistics.ts";

test("quantiles are numbers of the list", () => {
  const numbers = [5, 1, 4, 2, 3];
  expect([0, 0.5, 0.79, 0.8, 1].map((share) => quantile(numbers, share))).toEqual([1, 3, 4, 5, 5]);
  expect(numbers).toEqual([5, 1, 4, 2, 3]);
  expect(median([2])).toBe(2);
  expect(median([])).toBeNaN();
  expect(rounded(0.0123456)).toBe(0.01235);
});

test("the least of two runs is that of each time", () => {
  expect(leastOfEach(undefined, [2, 1])).toEqual([2, 1]);
  expect(leastOfEach([1, 3, 2], [2, 1, 2])).toEqual([1, 1, 2]);
});
