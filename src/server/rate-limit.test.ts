import { expect, test } from "bun:test";
import { rateClientsMax } from "../limits.ts";
import { createRateLimit } from "./rate-limit.ts";

test("a minute's worth at once, then one by one; each client for itself", () => {
  const limit = createRateLimit(6);
  for (let request = 0; request < 6; request++) expect(limit.take("a", 1000)).toBeUndefined();
  expect(limit.take("a", 1000)).toBe(10);
  expect(limit.take("b", 1000)).toBeUndefined();
  expect(limit.take("a", 9500)).toBe(2);
  expect(limit.take("a", 11_000)).toBeUndefined();
  expect(limit.take("a", 11_000)).toBe(10);
  for (let request = 0; request < 6; request++) expect(limit.take("a", 200_000)).toBeUndefined();
  expect(limit.take("a", 200_000)).toBe(10);
});

test("one a minute, and many more", () => {
  const slow = createRateLimit(1);
  expect([slow.take("a", 0), slow.take("a", 0), slow.take("a", 60_000)]).toEqual([undefined, 60, undefined]);
  const fast = createRateLimit(60_000);
  for (let request = 0; request < 60_000; request++) expect(fast.take("a", 0)).toBeUndefined();
  expect(fast.take("a", 0)).toBe(1);
});

test("only so many clients are remembered, the latest ones", () => {
  const limit = createRateLimit(1);
  for (let client = 0; client <= rateClientsMax; client++) limit.take(String(client), 0);
  expect(limit.take("1", 0)).toBe(60);
  expect(limit.take("0", 0)).toBeUndefined();
});
