/** Set-up, then the server with this command's flags. The server takes over this process, so signals reach it directly. */
import { join } from "node:path";
import { defaultModel } from "./setup/models.ts";
import { root, runScript, setup } from "./setup.ts";

const flags = process.argv.slice(2);

await runScript(async () => {
  await setup({ models: choosesModel(flags) ? [] : [defaultModel] });
  process.execve?.(process.execPath, [process.execPath, join(root, "src", "main.ts"), ...flags]);
  throw new Error("This Bun has no process.execve");
});

/** Whoever names another model does not wait for the default one to arrive. */
function choosesModel(flags: readonly string[]): boolean {
  const at = flags.findIndex((flag) => /^(-m|--model)(=|$)/.test(flag));
  const flag = flags[at];
  if (flag === undefined) return false;
  const value = flag.includes("=") ? flag.slice(flag.indexOf("=") + 1) : flags[at + 1];
  return value !== undefined && !defaultModel.name.startsWith(value);
}
