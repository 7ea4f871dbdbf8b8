import { expect, test } from "bun:test";
import { moment, since } from "./clock.ts";

test("time off the processor does not count", () => {
  const start = moment();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  expect(since(start)).toBeLessThan(40_000);
});

test("time on the processor counts", () => {
  const start = moment();
  const end = performance.now() + 20;
  let steps = 0;
  while (performance.now() < end) steps++;
  const measured = since(start);
  expect(steps).toBeGreaterThan(0);
  expect(measured).toBeGreaterThan(0);
  expect(measured).toBeLessThan((performance.now() - end + 20) * 1000 + 1000);
});
