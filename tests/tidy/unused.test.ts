import { describe, expect, test } from "bun:test";
import { sources } from "./source.ts";
import { unusedFindings } from "./unused.ts";

test("Zig files hold nothing that nobody uses", async () => {
  const files = await sources("zig/**/*.zig");
  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap(unusedFindings)).toEqual([]);
});

describe("the rule finds what breaks it", () => {
  const cases: readonly [text: string, message: string | undefined][] = [
    ['const ir = @import("ir.zig");\nconst none = ir.none;\nconst x = none;', "zig/x.zig:3: nothing uses x"],
    ['const words = @import("words.zig");\nfn f(v: V) u32 {\n    return v.words();\n}\ntest { _ = f(v); }', "words"],
    ["fn f() void {}\n", "nothing uses f"],
    ["const S = struct {\n    fn f(s: S) void {}\n};\npub const T = S;", "zig/x.zig:2: nothing uses f"],
    ["const S = struct {\n    fn f(s: S) void {}\n    pub fn g(s: S) void { s.f(); }\n};\npub const T = S;", undefined],
    ["const s = b[0..n];\nconst n = 3;\npub const c = s;", undefined],
    ["// f() is gone\nfn f() void {}", "nothing uses f"],
    ["pub const a = 1;\npub fn f() void {}", undefined],
  ];
  test.each(cases)("case %#", (text, message) => {
    const findings = unusedFindings({ path: "zig/x.zig", text });
    if (message === undefined) expect(findings).toEqual([]);
    else expect(findings).toEqual([expect.stringContaining(message)]);
  });
});
