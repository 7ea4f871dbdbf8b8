/**
 * Makes a fresh clone ready to run: packages, Zig, the native library, model files. Every step does nothing when its
 * result is there already. It runs before node_modules exists, so it and all of scripts/setup/ use Bun's built-ins only.
 */
import { join } from "node:path";
import { prepareHooks } from "./setup/hooks.ts";
import { prepareLibrary } from "./setup/library.ts";
import { withLock } from "./setup/lock.ts";
import { defaultModel, type ModelFile, prepareModels, testModels } from "./setup/models.ts";
import { preparePackages } from "./setup/packages.ts";
import { requireBun, SetupFailure } from "./setup/runtime.ts";

export type SetupOptions = {
  /** The model files that must be there when set-up returns. */
  readonly models: readonly ModelFile[];
};

/** Throws SetupFailure, whose message says what to install or set. */
export async function setup(options: SetupOptions): Promise<void> {
  requireBun();
  await withLock(join(root, ".tools"), "another set-up of this folder", async () => {
    await preparePackages(root);
    await prepareHooks(root);
    await prepareLibrary(root);
  });
  await prepareModels(options.models);
}

/** Runs a script's main function; a failed set-up is told in one message, without a stack. */
export async function runScript(main: () => Promise<number>): Promise<never> {
  try {
    process.exit(await main());
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    process.exit(1);
  }
}

export const root = join(import.meta.dir, "..");

if (import.meta.main) {
  await runScript(async () => {
    await setup({ models: process.argv.includes("--tests") ? [defaultModel, ...testModels] : [defaultModel] });
    return 0;
  });
}
