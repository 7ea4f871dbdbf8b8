/** Set-up, then the server with this command's flags. The server takes over this process, so signals reach it directly. */
import { join } from "node:path";
import { defaultModel } from "./setup/models.ts";
import { root, runScript, setup } from "./setup.ts";

const flags = process.argv.slice(2);

await runScript(async () => {
  await setup({ models: needsDefaultModel() ? [defaultModel] : [] });
  process.execve?.(process.execPath, [process.execPath, join(root, "src", "main.ts"), ...flags]);
  throw new Error("This Bun has no process.execve");
});

/** Whoever names another model, or only asks for help, does not wait for the default one to arrive. */
function needsDefaultModel(): boolean {
  if (flags.some((flag) => /^(check|doctor|help|--help|-h|--version)$/.test(flag))) return false;
  const at = flags.findIndex((flag) => /^(-m|--model)(=|$)/.test(flag));
  const named = flags[at]?.split("=")[1] ?? flags[at + 1];
  const wanted = at < 0 ? process.env["TENON_MODEL"] : named;
  return !wanted || defaultModel.name.toLowerCase().startsWith(wanted.toLowerCase());
}
