/** `bun run check`: everything that is quick to know about a change, at once; each finding comes with its repair. */
import type { Outcome } from "./outcome.ts";
import { run } from "./setup/command.ts";
import { preparePackages } from "./setup/packages.ts";
import { findZig } from "./setup/zig.ts";
import { root, runScript } from "./setup.ts";

export type Check = { readonly name: string; readonly command: readonly string[]; readonly repair: string };

/** The checks that are not bun tests; the test run has them too. */
export async function checks(): Promise<readonly Check[]> {
  const zig = await findZig(root);
  const bin = (name: string) => ["--bun", `node_modules/.bin/${name}`];
  return [
    {
      name: "format and lint",
      command: [process.execPath, "node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
      repair: "`bun x biome check --write` formats and repairs most of it",
    },
    { name: "types", command: [process.execPath, ...bin("tsc"), "-p", "."], repair: "mend the types" },
    {
      name: "Zig format",
      command: [zig, "fmt", "--check", "zig", "build.zig"],
      repair: "`zig fmt zig build.zig` formats the files listed",
    },
    {
      name: "generated files",
      command: [zig, "build", "check-generated"],
      repair: "a generated file is outdated, run `bun run abi`",
    },
  ];
}

export async function runCheck(check: Check): Promise<Outcome> {
  const finished = await run(check.command, { cwd: root });
  if (finished.code === 0) process.stderr.write(`ok    ${check.name}\n`);
  else process.stderr.write(`${finished.output}\nFAIL  ${check.name}: ${check.repair}\n`);
  return { name: check.name, passed: finished.code === 0 ? 1 : 0, failed: finished.code === 0 ? 0 : 1 };
}

if (import.meta.main) {
  await runScript(async () => {
    await preparePackages(root);
    const tidy: Check = {
      name: "tidy",
      command: [process.execPath, "test", "./tests/tidy"],
      repair: "each message above says what to change",
    };
    const outcomes = await Promise.all([...(await checks()), tidy].map(runCheck));
    return outcomes.some((outcome) => outcome.failed > 0) ? 1 : 0;
  });
}
