import { expect, test } from "bun:test";
import { bunFailures, bunOutcome, zigOutcome } from "./outcome.ts";

test.each([
  ["Build Summary: 5/5 steps succeeded; 12/12 tests passed\ntest success", 0, 12, 0],
  ["Build Summary: 5/5 steps succeeded; 4/5 tests passed (1 skipped)\n", 0, 4, 0],
  ["Build Summary: 2/6 steps succeeded (2 failed); 3/6 tests passed (1 skipped, 1 failed, 1 crashed)\n", 1, 3, 2],
  ["a.zig:5:8: error: use of undeclared identifier\nBuild Summary: 1/5 steps succeeded (2 failed)\n", 1, 0, 1],
  ["Build Summary: 3/5 steps succeeded (1 failed); 7/7 tests passed\n", 1, 7, 1],
])("zig's summary, case %#", (output, code, passed, failed) => {
  expect(zigOutcome({ output, code })).toEqual({ name: "Zig tests", passed, failed });
});

test.each([
  [" 36 pass\n 0 fail\n 55 expect() calls\nRan 36 tests across 2 files. [67.00ms]", 0, 36, 0],
  ["(skip) c\n\n 1 pass\n 1 skip\n 1 todo\n 2 fail\n 1 error\nRan 5 tests across 2 files.", 1, 1, 2],
  ["a test prints\n 9 pass\n\n 3 pass\n 1 fail\n", 1, 3, 1],
  ["panic: Segmentation fault at address 0x0\noh no: Bun has crashed.", 139, 0, 1],
])("bun's closing lines, case %#", (output, code, passed, failed) => {
  expect(bunOutcome({ output, code })).toEqual({ name: "Bun tests", passed, failed });
});

test("what bun printed for a failed test is told again", () => {
  const output =
    "a.test.ts:\n(pass) one\nseed 7\nerror: expected 1\n(fail) two [1ms]\n(pass) three\n\n1 tests failed:\n(fail) two [1ms]\n";
  expect(bunFailures(output)).toEqual(["seed 7\nerror: expected 1\n(fail) two [1ms]"]);
  expect(bunFailures("seed 1\n(pass) one\n 1 pass\n 0 fail\n")).toEqual([]);
  expect(bunFailures(`${"x\n".repeat(100)}(fail) one`)[0]?.split("\n")).toHaveLength(30);
});
