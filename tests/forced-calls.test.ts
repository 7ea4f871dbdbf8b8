import { describe, expect, test } from "bun:test";
import { emptyReport, forceCalls, forcedMatrix, randomForced } from "./fixtures/forced-calls.ts";
import { noiseServers } from "./fixtures/noise-servers.ts";
import { seededRandom } from "./fixtures/random.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";
import { sharedData } from "./fixtures/shared.ts";
import { toolCases } from "./fixtures/tool-schemas.ts";

// `bun run bench calls` is the same at full size.

const data = sharedData("maskbench-dev.jsonl.gz");
const cases = data === undefined ? [] : toolCases(data);
const timeoutMs = 300_000;
if (data === undefined) console.log("skipped: forced calls need the shared data");

const models = [
  "SmolLM2-135M-Instruct.Q4_1.gguf",
  "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf",
  "gemma-3-270m-Q4_K_M.gguf",
];
describe.each(models)("%s", (file) => {
  const path = modelPath(file);
  test.skipIf(path === undefined || data === undefined)(
    "required and named, stream and not: every answer is a valid call (skipped without model or shared data)",
    async () => {
      const report = emptyReport();
      const tenon = await startTenon(["-m", path ?? ""]);
      // Reading prompts is what takes time here, so one of the smaller nested tools and one that is flat.
      const matrix = forcedMatrix(cases.slice(19, 21), { temperature: 1.5, max_tokens: 80 });
      await forceCalls(tenon, matrix, report);
      await tenon.stop(0);
      expect(report.faults).toEqual([]);
      expect(report.requests).toBe(8);
      expect(report.calls).toBeGreaterThanOrEqual(8);
    },
    timeoutMs,
  );
});

const [vocabulary] = models.map(modelPath);
describe.skipIf(vocabulary === undefined || data === undefined)(
  "noise (skipped without the default model's file or the shared data)",
  () => {
    const random = seededRandom();
    const servers = data === undefined || vocabulary === undefined ? [] : noiseServers(vocabulary);
    test.each(servers)(
      "$dialect, $shape: every answer is a valid call, whatever the limit",
      async ({ flags }) => {
        const report = emptyReport();
        const tenon = await startTenon(flags);
        await forceCalls(tenon, randomForced(cases, { count: 24, tokensAbove: 400, random }), report);
        const { running, queued, grammars, cacheBytes } = tenon.loaded.model.engine.stats();
        await tenon.stop(0);
        expect(report.faults).toEqual([]);
        expect(report.calls).toBeGreaterThanOrEqual(24);
        expect(report.tokens).toBeGreaterThan(24);
        expect({ running, queued, grammars, cacheBytes }).toEqual({
          running: 0,
          queued: 0,
          grammars: 0,
          cacheBytes: 0,
        });
      },
      timeoutMs,
    );
  },
);
