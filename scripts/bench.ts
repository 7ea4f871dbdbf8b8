/** Set-up with the test models, then bench/main.ts with this command's flags, in this process. */
import { join } from "node:path";
import { defaultModel, testModels } from "./setup/models.ts";
import { root, runScript, setup } from "./setup.ts";

await runScript(async () => {
  await setup({ models: [defaultModel, ...testModels] });
  process.execve?.(process.execPath, [process.execPath, join(root, "bench", "main.ts"), ...process.argv.slice(2)]);
  throw new Error("This Bun has no process.execve");
});
