import { exists } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";

/**
 * Points git at .githooks in a checkout that has chosen no hooks of its own. Not in CI, where nobody commits, and not in an
 * unpacked archive. A failure is of no matter: the same checks run in the test run.
 */
export async function prepareHooks(root: string): Promise<void> {
  if (process.env["CI"] || !(await exists(join(root, ".git")))) return;
  const chosen = await run(["git", "config", "core.hooksPath"], { cwd: root });
  const unset = 1;
  if (chosen.code === unset) await run(["git", "config", "core.hooksPath", ".githooks"], { cwd: root });
}
