import { exists } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { step } from "./progress.ts";
import { SetupFailure } from "./runtime.ts";
import { findZig, zigVersion } from "./zig.ts";

/** Builds the native library when its sources are not those it was built from. */
export async function prepareLibrary(root: string): Promise<void> {
  const library = libraryPath(root);
  const stamp = Bun.file(`${library}.sources`);
  // Taken before the build: a file edited meanwhile makes the next set-up build again.
  const sources = await sourcesHash(root);
  const built = await exists(library);
  if (built && (await stamp.exists()) && (await stamp.text()) === sources) return;
  const zig = await findZig(root);
  const label = built ? "Building the native library" : "Building the native library (the first time takes minutes)";
  const finished = await step(label, () => run([zig, "build"], { cwd: root }));
  if (finished.code !== 0) throw new SetupFailure(`${finished.output}\n\nThe native library did not build.`);
  await Bun.write(stamp, sources);
}

export function libraryPath(root: string): string {
  return join(root, "zig-out", "lib", `libtenon.${process.platform === "darwin" ? "dylib" : "so"}`);
}

async function sourcesHash(root: string): Promise<string> {
  const paths = ["build.zig"];
  for (const folder of ["zig", "kernels"])
    for await (const path of new Bun.Glob(`${folder}/**`).scan({ cwd: root })) paths.push(path);
  const hasher = new Bun.CryptoHasher("sha256").update(`${zigVersion} ${process.platform} ${process.arch}\n`);
  for (const path of paths.sort()) hasher.update(`${path}\n`).update(await Bun.file(join(root, path)).bytes());
  return hasher.digest("hex");
}
