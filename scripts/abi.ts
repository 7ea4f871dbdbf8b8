/** `bun run abi`: writes every generated file anew. */
import { run } from "./setup/command.ts";
import { SetupFailure } from "./setup/runtime.ts";
import { findZig } from "./setup/zig.ts";
import { root, runScript } from "./setup.ts";

await runScript(async () => {
  const finished = await run([await findZig(root), "build", "generate"], { cwd: root });
  if (finished.code !== 0) throw new SetupFailure(finished.output);
  return 0;
});
