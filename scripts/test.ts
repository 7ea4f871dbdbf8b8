/** `bun run test`: set-up, then every test and check. The last line is `N passed, N failed`. */
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { checks, type Outcome, runCheck } from "./check.ts";
import { run } from "./setup/command.ts";
import { defaultModel, testModels } from "./setup/models.ts";
import { step } from "./setup/progress.ts";
import { SetupFailure } from "./setup/runtime.ts";
import { findZig } from "./setup/zig.ts";
import { root, runScript, setup } from "./setup.ts";

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
    outcomes.push(await zigTests(zig));
    outcomes.push(await appleLibrary(zig));
    outcomes.push(await bunTests());
    return outcomes;
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    return [{ name: "set-up", passed: 0, failed: 1 }];
  }
}

/** Counted from the summary that `zig build` prints last: "12/14 tests passed (1 skipped, 1 failed)". */
async function zigTests(zig: string): Promise<Outcome> {
  const finished = await step("Zig tests", () =>
    run([zig, "build", "test", "--summary", "all"], { cwd: root, show: true }),
  );
  const summary = /; (\d+)\/(\d+) tests passed(?: \((.*)\))?/.exec(finished.output);
  const passed = Number(summary?.[1] ?? 0);
  const skipped = Number(/(\d+) skipped/.exec(summary?.[3] ?? "")?.[1] ?? 0);
  const failed = summary === null ? 0 : Number(summary[2]) - passed - skipped;
  // Tests that do not compile are in no count.
  return { name: "Zig tests", passed, failed: failed === 0 && finished.code !== 0 ? 1 : failed };
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

/** Counted from the JUnit report. No report means that the test process died: a crash in native code ends it as a whole. */
async function bunTests(): Promise<Outcome> {
  const report = join(root, ".tools", "bun-tests.xml");
  await unlink(report).catch(() => undefined);
  const command = [process.execPath, "test", "./src", "./tests", "./bench", "./scripts"];
  const finished = await run([...command, "--reporter=junit", `--reporter-outfile=${report}`], {
    cwd: root,
    show: true,
  });
  const name = "Bun tests";
  if (!(await Bun.file(report).exists())) return { name, passed: 0, failed: 1 };
  const header = /<testsuites [^>]*>/.exec(await Bun.file(report).text())?.[0] ?? "";
  const count = (attribute: string) => Number(new RegExp(`\\b${attribute}="(\\d+)"`).exec(header)?.[1] ?? 0);
  const failed = count("failures") + count("errors");
  // An error outside of any test fails the run without being counted.
  return {
    name,
    passed: count("tests") - failed - count("skipped"),
    failed: failed === 0 && finished.code !== 0 ? 1 : failed,
  };
}
