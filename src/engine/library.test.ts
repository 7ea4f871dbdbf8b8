import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { channels } from "../grammar/ir.ts";
import { tokenKinds } from "../tokenizer/tokenizer.ts";
import { enums, fingerprint, functions, structs } from "./abi.gen.ts";
import { installLibrary, libraryPath, openLibrary, statuses } from "./library.ts";
import { reportOf } from "./memory.ts";
import { openTestLibrary } from "./native-fixture.ts";

const folder = await mkdtemp(join(tmpdir(), "tenon-library-"));
afterAll(() => rm(folder, { recursive: true }));

test("a library of other sources is refused by its fingerprint", () => {
  const opened = openLibrary(libraryPath(), fingerprint ^ 1);
  expect(opened.ok).toBe(false);
  expect(opened.ok || opened.failure).toContain("was built from other sources");
});

test("what is no library is refused with its path", async () => {
  const path = join(folder, "text.so");
  await Bun.write(path, "no library");
  for (const missing of [path, join(folder, "missing.so")]) {
    const opened = openLibrary(missing);
    expect(opened.ok || opened.failure).toContain(`${missing} can't be loaded`);
  }
});

test("an embedded library is written once, for this user only, and again when it was damaged", async () => {
  const cache = join(folder, "cache");
  const bytes = await Bun.file(libraryPath()).bytes();
  const path = await installLibrary(bytes, cache);
  expect((await stat(cache)).mode & 0o777).toBe(0o700);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect(openLibrary(path).ok).toBe(true);
  const written = (await stat(path)).mtimeMs;
  expect(await installLibrary(bytes, cache)).toBe(path);
  expect((await stat(path)).mtimeMs).toBe(written);

  const other = new TextEncoder().encode("another one");
  const damaged = await installLibrary(other, cache);
  expect(damaged).not.toBe(path);
  await Bun.write(damaged, "cut");
  expect(await Bun.file(await installLibrary(other, cache)).text()).toBe("another one");
});

test("the numbers that both sides write by hand are the same", () => {
  expect<Record<string, number>>(enums.Channel).toEqual(channels);
  expect<Record<string, number>>(enums.TokenKind).toEqual(tokenKinds);
});

test("only numbers and pointers cross", () => {
  const crossing = Object.values(functions).flatMap(({ args, returns }) => [...args, returns]);
  expect(new Set<string>(crossing)).toEqual(new Set(["u32", "i32", "ptr"]));
});

test("null pointers, wild lengths and handles of nothing are answered, not followed", () => {
  const { calls, errorText } = openTestLibrary();
  const report = reportOf(structs.VocabularyReport).bytes;
  const cases: [string, number, number][] = [
    ["no report", calls.tenon_vocabulary_create(null, 0, null, null, 1, null), statuses.invalid],
    ["no bytes", calls.tenon_vocabulary_create(null, 4, null, null, 1, report), statuses.invalid],
    ["no offsets", calls.tenon_vocabulary_create(null, 0, null, new Uint8Array(1), 1, report), statuses.invalid],
    ["no tokens", calls.tenon_vocabulary_create(null, 0, null, null, 0, report), statuses.invalid],
    ["too many", calls.tenon_vocabulary_create(null, 0, null, null, 0xffffffff, report), statuses.invalid],
    ["no vocabulary", calls.tenon_vocabulary_destroy(0), statuses.stale],
    ["a wild handle", calls.tenon_grammar_destroy(0xffffffff), statuses.stale],
    ["no grammar", calls.tenon_matcher_create(5, null, 0, reportOf(structs.MatcherReport).bytes), statuses.stale],
    ["no matcher", calls.tenon_matcher_accept(1, 1), statuses.stale],
    ["no buffer", calls.tenon_model_drain(1, null, 0), statuses.invalid],
    ["a small buffer", calls.tenon_model_drain(1, new Uint8Array(8), 8), statuses.invalid],
    ["no model", calls.tenon_model_counts(1, reportOf(structs.ModelCounts).bytes), statuses.stale],
    ["no options", calls.tenon_request_submit(1, null, null, null, null, report), statuses.invalid],
    ["a request that is over", calls.tenon_request_cancel(77), statuses.ok],
    ["nothing to release", calls.tenon_request_release(77), statuses.stale],
  ];
  expect(cases.map(([name, found]) => [name, found])).toEqual(cases.map(([name, , expected]) => [name, expected]));
  expect(errorText()).toBe("the handle names nothing");
});
