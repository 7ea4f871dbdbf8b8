/** `bun run build`: the standalone executable dist/tenon, the native library inside. */
import { join } from "node:path";
import { libraryPath } from "./setup/library.ts";
import { step } from "./setup/progress.ts";
import { SetupFailure } from "./setup/runtime.ts";
import { root, runScript, setup } from "./setup.ts";

/** Compiles the executable to `outfile`; the library must be built. */
export async function buildExecutable(outfile: string): Promise<void> {
  const built = await Bun.build({
    // The worker is started by its own path, which the bundler cannot follow.
    entrypoints: ["executable.ts", "generate/compile-worker.ts"].map((path) => join(root, "src", path)),
    compile: { outfile },
    plugins: [libraryModule(libraryPath(root))],
    throw: false,
  });
  if (!built.success) throw new SetupFailure(`${built.logs.join("\n")}\n\nThe executable was not built.`);
}

/** What src/executable.ts imports as "tenon:library": the library of this platform, as a file inside the executable. */
function libraryModule(path: string): Bun.BunPlugin {
  return {
    name: "library",
    setup(build) {
      build.onResolve({ filter: /^tenon:library$/ }, () => ({ path }));
    },
  };
}

if (import.meta.main) {
  await runScript(async () => {
    await setup({ models: [] });
    const outfile = join(root, "dist", "tenon");
    await step("Building dist/tenon", () => buildExecutable(outfile));
    process.stdout.write(`${outfile}\n`);
    return 0;
  });
}
