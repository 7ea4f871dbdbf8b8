import { describe, expect, test } from "bun:test";
import { sources } from "./source.ts";
import { textFindings } from "./text.ts";

test("the project's files keep to the style", async () => {
  const files = await sources(
    "{src,tests,bench,scripts}/**/*.ts",
    "zig/**/*.zig",
    "kernels/**/*.{metal,h,cpp}",
    "docs/**/*.md",
    "*.{md,json,zig}",
    ".{ci,githooks}/*",
  );
  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap(textFindings)).toEqual([]);
});

describe("the rules find what breaks them", () => {
  const path = ["", "work", "x"].join("/");
  const cases: readonly [path: string, text: string, message: string | undefined][] = [
    ["src/prompt/run.ts", `const data = "${path}/y";`, "a path of one machine"],
    ["src/prompt/run.ts", 'const data = "src/work/y";', undefined],
    ["zig/grammar/mask.zig", `// ${"TO"}DO`, "unfinished"],
    ["zig/grammar/mask.zig", "fn f() anyerror!void", "name the error set"],
    ["zig/grammar/mask.zig", "// no anyerror here", undefined],
    ["zig/grammar/mask.zig", "\nf() catch unreachable;", "mask.zig:2: `catch unreachable`"],
    ["zig/grammar/mask.zig", "f() catch {};", "swallowed"],
    ["zig/grammar/mask.zig", "f() catch |err| { };", "swallowed"],
    ["zig/grammar/mask.zig", "f() catch |err| { log(err); };", undefined],
    ["zig/grammar/mask.zig", "const a = std.heap.c_allocator;", "allocators are parameters"],
    ["zig/grammar/maskMemo.zig", "", "snake_case"],
    ["src/grammar/jsonText.ts", "", "kebab-case"],
    ["src/grammar/helpers.ts", "", "says nothing"],
    ["src/limits.ts", "/** One chat. */\nexport const bytesMax = 1;\n", undefined],
    ["src/limits.ts", "/** One chat. */\nexport const a = 1;\n\nexport const bytesMax = 1;\n", "limits.ts:4: a limit"],
    ["zig/limits.zig", "pub const queue = struct {\n    pub const a = 1;\n};\n", "limits.zig:2: a limit"],
    ["zig/limits.zig", "/// One chat.\npub const a = 1;\n\npub const b = 1;\n", "limits.zig:4: a limit"],
    ["src/grammar/ir.ts", "\n".repeat(700), "find its second job"],
  ];
  test.each(cases)("%s, case %#", (path, text, message) => {
    const findings = textFindings({ path, text });
    if (message === undefined) expect(findings).toEqual([]);
    else expect(findings).toEqual([expect.stringContaining(message)]);
  });
});
