import { expect, test } from "bun:test";
import { join } from "node:path";
import { engineMutations, mutatedText } from "./fixtures/engine-mutations.ts";

test.each(engineMutations)("can still be put into the engine: $what", async (mutation) => {
  const text = await Bun.file(join(import.meta.dir, "../zig", mutation.path)).text();
  expect(mutatedText(mutation, text)).not.toBe(text);
});
