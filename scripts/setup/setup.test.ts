import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./command.ts";
import { withLock } from "./lock.ts";

const folder = await mkdtemp(join(tmpdir(), "tenon-setup-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a lock is held by one process at a time, and dies with it", async () => {
  const log = join(folder, "log");
  // Appends its name when it has the lock; then it is killed, or leaves.
  const holder = (name: string, end: string) => `
    import { appendFileSync } from "node:fs";
    import { withLock } from ${JSON.stringify(join(import.meta.dir, "lock.ts"))};
    await withLock(${JSON.stringify(folder)}, "the other", async () => {
      appendFileSync(${JSON.stringify(log)}, "${name} in\\n");
      for (let i = 0; i < 200; i++) await Bun.write(${JSON.stringify(join(folder, "work"))}, "${name}");
      ${end}
      appendFileSync(${JSON.stringify(log)}, "${name} out\\n");
    });`;
  const killed = await run([process.execPath, "-e", holder("killed", 'process.kill(process.pid, "SIGKILL");')]);
  expect(killed.code).not.toBe(0);
  await Promise.all(["a", "b", "c"].map((name) => run([process.execPath, "-e", holder(name, "")])));
  const [first, ...rest] = (await Bun.file(log).text()).trim().split("\n");
  expect(first).toBe("killed in");
  // Each one is out before the next is in, in whatever order they came.
  expect(rest).toHaveLength(6);
  for (let i = 0; i < rest.length; i += 2) expect(rest[i + 1]).toBe(rest[i]?.replace(" in", " out"));
  expect(await withLock(folder, "nobody", async () => "free")).toBe("free");
});

test("a program's exit code and output come back, and a missing program is 127", async () => {
  const finished = await run([process.execPath, "-e", 'console.log("out"); console.error("err"); process.exit(3)']);
  expect(finished).toEqual({ code: 3, output: "out\nerr" });
  expect(await run([join(folder, "no-such-program")])).toMatchObject({ code: 127 });
});

test("a Zig that is not the one is refused with what to do", async () => {
  const root = join(import.meta.dir, "..", "..");
  const code = `
    import { findZig } from ${JSON.stringify(join(import.meta.dir, "zig.ts"))};
    await findZig(${JSON.stringify(root)}).catch((error) => console.log(error.message));`;
  const { output } = await run([process.execPath, "-e", code], { env: { TENON_ZIG: process.execPath } });
  expect(output).toContain("Tenon needs Zig 0.17.1. Correct it, or unset it");
});
