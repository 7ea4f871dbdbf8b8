import { expect, test } from "bun:test";
import { idleGauges, load, stopUnderLoad } from "./fixtures/load.ts";
import { seededRandom } from "./fixtures/random.ts";
import { modelPath } from "./fixtures/running.ts";
import { serveSource } from "./fixtures/serving.ts";

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
const run = test.skipIf(vocabulary === undefined);
if (vocabulary === undefined) console.log("skipped: load tests need the default model");

const flags = ["-m", "noise", "--vocabulary", vocabulary ?? "", "--context", "1024", "--slots", "4"];

run(
  "64 clients in every shape, many of which leave: each gets an answer or is told to come back, and the bounds hold",
  async () => {
    const serving = await serveSource([...flags, "--queue", "16"]);
    let visits = 0;
    const report = await load(serving, { clients: 64, random: seededRandom(), until: () => ++visits > 1000 });
    expect(report.faults).toEqual([]);
    expect(report.answered + report.refused + report.left).toBe(report.sent);
    for (const count of [report.answered, report.refused, report.left]) expect(count).toBeGreaterThan(0);
    expect(await idleGauges(serving)).toMatchObject({ grammars: 0 });
    serving.process.kill("SIGTERM");
    expect(await serving.process.exited).toBe(0);
    expect(serving.logged.filter(({ event, reason }) => event === "bug" || reason === "engine")).toEqual([]);
  },
  120_000,
);

run(
  "SIGTERM under load loses nothing that was taken, and takes nothing more",
  async () => {
    const serving = await serveSource([...flags, "--queue", "64", "--stop-grace", "100"]);
    expect(await stopUnderLoad(serving, 48, seededRandom())).toEqual([]);
  },
  120_000,
);

run(
  "a second signal does not wait",
  async () => {
    // An answer that is longer than both signals take, on any machine.
    const serving = await serveSource([...flags, "--context", "32768"]);
    const body = JSON.stringify({ prompt: "On", max_tokens: 30_000, stream: true });
    const response = await fetch(new URL("/v1/completions", serving.url), { method: "POST", body });
    serving.process.kill("SIGTERM");
    while ((await fetch(new URL("/health", serving.url))).ok);
    serving.process.kill("SIGTERM");
    expect(await serving.process.exited).toBe(1);
    await response.body?.cancel().catch(() => {});
  },
  30_000,
);
