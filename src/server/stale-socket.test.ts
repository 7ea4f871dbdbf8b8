import { afterAll, expect, test } from "bun:test";
import { existsSync, linkSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeStaleSocket } from "./stale-socket.ts";

const folder = mkdtempSync(join(tmpdir(), "tenon-socket-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function listenAt(path: string) {
  return Bun.listen({ unix: path, socket: { data() {} } });
}

test("a socket that nobody listens at goes", async () => {
  const [path, stale] = [join(folder, "gone"), join(folder, "stale")];
  const listener = listenAt(path);
  // The second name outlives the listener, as the first would if it had been killed.
  linkSync(path, stale);
  listener.stop(true);
  expect(existsSync(stale)).toBe(true);
  await removeStaleSocket(stale);
  expect(existsSync(stale)).toBe(false);
});

test("a socket in use, a file and nothing stay as they are", async () => {
  const [used, file, nothing] = [join(folder, "used"), join(folder, "file"), join(folder, "nothing")];
  writeFileSync(file, "precious");
  using listener = listenAt(used);
  for (const path of [used, file, nothing]) await removeStaleSocket(path);
  expect([used, file, nothing].map(existsSync)).toEqual([true, true, false]);
  listener.stop(true);
});
