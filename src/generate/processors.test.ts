import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProcessors } from "./processors.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-processors-"));
  await Bun.write(join(folder, "ban.ts"), "export default (logits: Float32Array): void => { logits[3] = -Infinity; };");
  await Bun.write(join(folder, "named.ts"), "export const processor = () => {};");
  await Bun.write(join(folder, "broken.ts"), "export default (");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("modules are loaded in their order, and work on the memory that they are given", async () => {
  const loaded = await loadProcessors([join(folder, "ban.ts"), join(folder, "ban.ts")]);
  if (!loaded.ok) throw new Error(loaded.failure);
  const logits = new Float32Array(8);
  for (const processor of loaded.value) processor(logits, new Uint32Array(1), new Uint32Array(2));
  expect([...logits]).toEqual([0, 0, 0, -Infinity, 0, 0, 0, 0]);
});

test.each([
  ["missing.ts", "cannot be loaded"],
  ["broken.ts", "cannot be loaded"],
  ["named.ts", "does not export a function by default"],
])("%s is refused by name", async (name, reason) => {
  const loaded = await loadProcessors([join(folder, name)]);
  expect(loaded).toMatchObject({ ok: false });
  if (!loaded.ok) for (const part of [name, reason]) expect(loaded.failure).toContain(part);
});
