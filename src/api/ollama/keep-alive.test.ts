import { expect, test } from "bun:test";
import { decodeKeepAlive } from "./keep-alive.ts";

test.each([
  [undefined, undefined],
  [null, undefined],
  [0, 0],
  [300, 300],
  [-1, -1],
  ["0", 0],
  ["-1", -1],
  ["5m", 300],
  ["1h30m", 5400],
  ["1.5h", 5400],
  ["500ms", 0.5],
  ["250us", 0.00025],
  ["250µs", 0.00025],
  [" 2s ", 2],
  ["-1m", -60],
  ["+1m", 60],
  [".5s", 0.5],
] satisfies readonly (readonly [string | number | null | undefined, number | undefined])[])("%j", (given, seconds) => {
  expect(decodeKeepAlive(given)).toEqual({ ok: true, value: seconds });
});

test.each(["", "m", "5 m", "5x", "forever", "5m later", "1.2.3", "--1", Number.NaN, Number.POSITIVE_INFINITY])(
  "%j is no duration",
  (given) => {
    expect(decodeKeepAlive(given)).toMatchObject({ ok: false, failure: { kind: "invalid", param: "keep_alive" } });
  },
);
