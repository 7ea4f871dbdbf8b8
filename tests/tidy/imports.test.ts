import { describe, expect, test } from "bun:test";
import { packagesOf, typescriptFindings, zigFindings } from "./imports.ts";
import { sources } from "./source.ts";

test("TypeScript rooms import only what lies below them", async () => {
  const files = await sources("src/**/*.ts");
  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap(typescriptFindings)).toEqual([]);
});

test("Zig rooms import only what lies below them", async () => {
  const files = await sources("zig/**/*.zig");
  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap(zigFindings)).toEqual([]);
});

test("set-up needs nothing that it has to install first", async () => {
  for (const { path, text } of await sources("scripts/**/*.ts"))
    expect(
      packagesOf(text).filter((name) => !/^(node|bun):/.test(name)),
      path,
    ).toEqual([]);
});

describe("the rules find what breaks them", () => {
  const cases: readonly [path: string, text: string, message: string | undefined][] = [
    ["src/api/sse.ts", 'import type { Event } from "../generation/event.ts";', undefined],
    ["src/grammar/ir.ts", 'import { x } from "../engine/engine.ts";', "src/grammar may not import src/engine"],
    ["src/grammar/ir.ts", 'export {\n  x,\n} from "../engine/engine.ts";', "ir.ts:3: src/grammar may not import"],
    ["src/grammar/ir.ts", 'const m = await import("../engine/engine.ts");', "src/grammar may not import src/engine"],
    ["src/grammar/ir.ts", 'import { dlopen } from "bun:ffi";', "only src/engine may import bun:ffi"],
    ["src/api/ollama/decode.ts", 'import { x } from "../openai/error.ts";', "never imports another"],
    ["src/novel/x.ts", 'import { x } from "../limits.ts";', "src/novel is no room yet"],
    ["src/main.ts", 'import { setup } from "../scripts/setup.ts";', "lies outside src/"],
    ["src/generate.test.ts", 'import { x } from "../tests/fixture.ts";', undefined],
    ["zig/grammar/mask.zig", 'const v = @import("../vocabulary.zig");', undefined],
    ["zig/grammar/mask.zig", 'const m = @import("../model.zig");', "zig/grammar may not import zig/model"],
    ["zig/grammar.zig", 'const m = @import("model.zig");', "zig/grammar may not import zig/model"],
    ["zig/grammar/mask.zig", 'const t = @import("../vocabulary/trie.zig");', "private to its room"],
    ["zig/stdx/list.zig", 'const l = @import("../limits.zig");', "zig/stdx may not import zig/limits"],
  ];
  test.each(cases)("%s, case %#", (path, text, message) => {
    const findings = path.startsWith("zig/") ? zigFindings({ path, text }) : typescriptFindings({ path, text });
    if (message === undefined) expect(findings).toEqual([]);
    else expect(findings).toEqual([expect.stringContaining(message)]);
  });
});
