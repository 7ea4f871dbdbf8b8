import { expect, test } from "bun:test";
import { fuzz, startFuzzed } from "./fixtures/fuzz.ts";
import { modelPath } from "./fixtures/running.ts";

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");

test.skipIf(vocabulary === undefined)(
  "whatever a body says, no route fails, and every refusal has its path's shape (skipped without the default model)",
  async () => {
    const seed = Number(process.env["TENON_SEED"] ?? Date.now() % 2 ** 31);
    console.log(`seed ${seed}`);
    const tenon = await startFuzzed(vocabulary ?? "");
    const bodies = 1000;
    const report = await fuzz(tenon.server.url, { seed, bodies, clients: 8 });
    expect(report.faults).toEqual([]);
    expect(tenon.logged.filter(([, event, fields]) => event === "bug" || fields?.["reason"] === "engine")).toEqual([]);
    expect(report.reached).toBeGreaterThan(0.3 * bodies);
    expect(tenon.loaded.model.engine.stats()).toMatchObject({ running: 0, queued: 0, grammars: 0 });
    await tenon.stop(0);
  },
  120_000,
);
