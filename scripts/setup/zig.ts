import { exists, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { step } from "./progress.ts";
import { findPython } from "./python.ts";
import { SetupFailure } from "./runtime.ts";

/** build.zig refuses any other version. */
export const zigVersion = "0.17.1";

/** The path of a Zig of exactly this version: from TENON_ZIG, from PATH, or fetched into .tools/. */
export async function findZig(root: string): Promise<string> {
  const chosen = process.env["TENON_ZIG"];
  if (chosen) {
    const version = await versionOf(chosen);
    if (version === zigVersion) return chosen;
    throw new SetupFailure(
      `TENON_ZIG is ${chosen}, ${version === undefined ? "which does not run" : `which is Zig ${version}`}; ` +
        `Tenon needs Zig ${zigVersion}. Correct it, or unset it to let set-up fetch one.`,
    );
  }
  const onPath = Bun.which("zig");
  if (onPath !== null && (await versionOf(onPath)) === zigVersion) return onPath;
  return fetchedZig(root);
}

async function fetchedZig(root: string): Promise<string> {
  const folder = join(root, ".tools", `zig-${zigVersion}`);
  const zig = join(folder, "ziglang", "zig");
  if (await exists(zig)) return zig;
  const python = await findPython(`set TENON_ZIG to the path of a Zig ${zigVersion} (https://ziglang.org/download)`);
  // The folder gets its name only when it is whole, so an interrupted download starts again.
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await step(`Fetching Zig ${zigVersion} (about 100 MB)`, () =>
    python.installTo([`ziglang==${zigVersion}`], unfinished),
  );
  await rm(folder, { recursive: true, force: true });
  await rename(unfinished, folder);
  if ((await versionOf(zig)) !== zigVersion)
    throw new SetupFailure(`The fetched Zig does not run on this machine; set TENON_ZIG to a Zig ${zigVersion}.`);
  return zig;
}

async function versionOf(zig: string): Promise<string | undefined> {
  const finished = await run([zig, "version"]);
  return finished.code === 0 ? finished.output : undefined;
}
