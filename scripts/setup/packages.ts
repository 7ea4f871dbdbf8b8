import { mkdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { step } from "./progress.ts";
import { SetupFailure } from "./runtime.ts";

/** Installs the packages of bun.lock when node_modules was not made from this lock file. */
export async function preparePackages(root: string): Promise<void> {
  const lockHash = await hashOf(join(root, "bun.lock"), join(root, "package.json"));
  const stamp = join(root, "node_modules", ".tenon-lock");
  if ((await readText(stamp)) === lockHash) return;
  await mkdir(join(root, "node_modules"), { recursive: true });
  await unlink(stamp).catch(() => undefined);
  const installed = await step("Installing packages", () =>
    run([process.execPath, "install", "--frozen-lockfile"], { cwd: root }),
  );
  if (installed.code !== 0)
    throw new SetupFailure(
      `${installed.output}\n\nPackages could not be installed. Check the network, or set a registry in ~/.npmrc; ` +
        "if package.json was edited, run `bun install` to renew bun.lock.",
    );
  await Bun.write(stamp, lockHash);
}

async function hashOf(...paths: readonly string[]): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const path of paths) hasher.update(await Bun.file(path).bytes());
  return hasher.digest("hex");
}

async function readText(path: string): Promise<string | undefined> {
  const file = Bun.file(path);
  return (await file.exists()) ? file.text() : undefined;
}
