/** What one part of the test run came to. */
export type Outcome = { readonly name: string; readonly passed: number; readonly failed: number };

type Finished = { readonly code: number; readonly output: string };

/** From the summary that `zig build` prints last: "12/14 tests passed (1 skipped, 1 failed)". */
export function zigOutcome(finished: Finished): Outcome {
  const summary = /; (\d+)\/(\d+) tests passed(?: \((.*)\))?/.exec(finished.output);
  const passed = Number(summary?.[1] ?? 0);
  const skipped = Number(/(\d+) skipped/.exec(summary?.[3] ?? "")?.[1] ?? 0);
  return outcome("Zig tests", passed, Number(summary?.[2] ?? 0) - passed - skipped, finished.code);
}

/** From bun's closing lines, " 12 pass" and " 1 fail". Without them the process died: a crash in native code ends it as a whole. */
export function bunOutcome(finished: Finished): Outcome {
  const count = (word: string) =>
    Number([...finished.output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))].at(-1)?.[1] ?? 0);
  return outcome("Bun tests", count("pass"), count("fail"), finished.code);
}

/**
 * What bun printed for each failed test, the seed of a random one included: where a log is cut to its end, that is what it has to end with.
 * Of each, the last lines; a crash has none.
 */
export function bunFailures(output: string): readonly string[] {
  const failures: string[] = [];
  let since: string[] = [];
  for (const line of output.split("\n")) {
    // The list of names at the end says nothing new.
    if (/^\d+ tests? failed:$/.test(line)) break;
    if (/^\((?:pass|skip|todo)\) /.test(line)) since = [];
    else since.push(line);
    if (!line.startsWith("(fail) ")) continue;
    failures.push(since.slice(-failureLines).join("\n"));
    since = [];
  }
  return failures;
}

const failureLines = 30;

/** Some failures are in no count: tests that do not compile, a process that died. The exit code tells. */
function outcome(name: string, passed: number, counted: number, code: number): Outcome {
  return { name, passed, failed: counted === 0 && code !== 0 ? 1 : counted };
}
