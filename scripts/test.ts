/** `bun run test`: set-up, then every test and check. The last line is `N passed, N failed`. */
import { join } from "node:path";
import { checks, runCheck } from "./check.ts";
import { bunFailures, bunOutcome, type Outcome, zigOutcome } from "./outcome.ts";
import { run } from "./setup/command.ts";
import { defaultModel, testModels } from "./setup/models.ts";
import { step } from "./setup/progress.ts";
import { SetupFailure } from "./setup/runtime.ts";
import { findZig } from "./setup/zig.ts";
import { root, runScript, setup } from "./setup.ts";

/** What comes after many of them would push the first ones out of sight. */
const failuresShown = 5;

await runScript(async () => {
  const outcomes = await allOutcomes();
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const failed = sum((outcome) => outcome.failed);
  for (const outcome of outcomes) {
    const mark = outcome.failed > 0 ? "FAIL" : "ok";
    process.stdout.write(`${mark.padEnd(5)} ${outcome.name}: ${outcome.passed} passed, ${outcome.failed} failed\n`);
  }
  process.stdout.write(`${sum((outcome) => outcome.passed)} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
});

async function allOutcomes(): Promise<readonly Outcome[]> {
  try {
    await setup({ models: [defaultModel, ...testModels] });
    const zig = await findZig(root);
    const outcomes: Outcome[] = [];
    for (const check of await checks()) outcomes.push(await runCheck(check));
    const show = { cwd: root, show: true };
    outcomes.push(zigOutcome(await run([zig, "build", "test", "--summary", "all"], show)));
    outcomes.push(await appleLibrary(zig));
    const tests = await run([process.execPath, "test", "./src", "./tests", "./bench", "./scripts"], show);
    outcomes.push(bunOutcome(tests));
    for (const failure of bunFailures(tests.output).slice(0, failuresShown)) process.stdout.write(`\n${failure}\n`);
    return outcomes;
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    return [{ name: "set-up", passed: 0, failed: 1 }];
  }
}

/** The library for Apple silicon compiles and links; no Mac is needed for that. */
async function appleLibrary(zig: string): Promise<Outcome> {
  const name = "library for aarch64-macos";
  const prefix = join("zig-out", "aarch64-macos");
  return step(`Building the ${name}`, () =>
    runCheck({
      name,
      command: [zig, "build", "-Dtarget=aarch64-macos", "--prefix", prefix],
      repair: "mend what does not compile there",
    }),
  );
}
