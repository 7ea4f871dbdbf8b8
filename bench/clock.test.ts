import { expect, test } from "bun:test";
import { moment, since } from "./clock.ts";

test("time off the processor does not count", () => {
  const start = moment();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  expect(since(start)).toBeLessThan(40_000);
});

test("time on the processor counts, in small parts, too", () => {
  const start = moment();
  let sum = 0;
  while (process.cpuUsage().user + process.cpuUsage().system < start.processorUs + 20_000) {
    const part = moment();
    for (let end = part.processorUs + 100; process.cpuUsage().user + process.cpuUsage().system < end; );
    sum += since(part);
  }
  expect(sum).toBeGreaterThan(10_000);
  expect(since(start)).toBeGreaterThanOrEqual(10_000);
});
