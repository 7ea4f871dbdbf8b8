import { expect, test } from "bun:test";
import { join } from "node:path";
import { diagnose } from "./doctor.ts";
import { libraryPath } from "./engine/library.ts";

const nowhere = join(import.meta.dir, "no-such-folder");

test("this machine computes right, and the reason why there is no Metal or no model is said", () => {
  const { text, healthy } = diagnose(libraryPath(), nowhere);
  expect(text).not.toContain("FAIL");
  expect(healthy).toBe(true);
  expect(text).toMatch(/^ok {4}CPU kernels \w+, in use: error /m);
  if (process.platform !== "darwin") expect(text).toContain("Metal: there is none here\n");
  expect(text).toEndWith(`Models in ${nowhere}: none\n`);
});

test("a library that is not there is a finding, not a crash", () => {
  const { text, healthy } = diagnose(join(nowhere, "libtenon.so"), nowhere);
  expect(healthy).toBe(false);
  expect(text).toContain("FAIL  Native library: ");
});
