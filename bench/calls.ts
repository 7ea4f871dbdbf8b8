/**
 * Forced tool calls, over HTTP: real models at a high temperature, and models without weights, every answer judged by ajv. Exits
 * with 1 if a single answer is not a valid call.
 */
import { defineCommand } from "citty";
import {
  emptyReport,
  forceCalls,
  forcedMatrix,
  noiseServers,
  type Report,
  randomForced,
} from "../tests/fixtures/forced-calls.ts";
import { seededRandom } from "../tests/fixtures/random.ts";
import { modelPath, startTenon } from "../tests/fixtures/running.ts";
import { sharedData } from "../tests/fixtures/shared.ts";
import { toolCases } from "../tests/fixtures/tool-schemas.ts";
import { rounded } from "./statistics.ts";

export const calls = defineCommand({
  meta: { name: "calls", description: "Force tool calls on real models and on noise, and judge every one" },
  args: {
    models: {
      type: "string",
      description: "Model files, separated by commas; 'none' for none",
      default:
        "SmolLM2-135M-Instruct.Q4_1.gguf,Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf,gemma-3-270m-Q4_K_M.gguf",
      valueHint: "FILES",
    },
    schemas: { type: "string", description: "Schemas a model, the longest first", default: "60", valueHint: "N" },
    "max-tokens": { type: "string", description: "Token limit on a real model", default: "256", valueHint: "N" },
    noise: { type: "string", description: "Calls on noise", default: "2000", valueHint: "N" },
    vocabularies: {
      type: "string",
      description: "Model files whose vocabularies the noise speaks",
      default: "SmolLM2-135M-Instruct.Q4_1.gguf,gemma-3-270m-Q4_K_M.gguf",
      valueHint: "FILES",
    },
    "tokens-above": {
      type: "string",
      description: "Token limits on noise lie up to this far above the shortest answer",
      default: "3000",
      valueHint: "N",
    },
  },
  async run({ args }) {
    const data = sharedData("maskbench-dev.jsonl.gz");
    if (data === undefined) throw new Error("no data: set TENON_SHARED to the folder that holds data/");
    const cases = toolCases(data);
    const faults: object[] = [];
    const measured = async (name: object, run: (report: Report) => Promise<void>): Promise<object> => {
      process.stderr.write(`${JSON.stringify(name)}\n`);
      const report = emptyReport();
      const startMs = performance.now();
      await run(report);
      faults.push(...report.faults.map((fault) => ({ ...name, ...fault })));
      const { requests, tokens, closedByRule } = report;
      const seconds = rounded((performance.now() - startMs) / 1000);
      return {
        ...name,
        ...report,
        faults: report.faults.length,
        closedShare: rounded(closedByRule / requests),
        tokensPerRequest: rounded(tokens / requests),
        seconds,
      };
    };

    const models: object[] = [];
    for (const file of filesOf(args.models)) {
      const requests = forcedMatrix(cases.toReversed().slice(0, Number(args.schemas)), {
        temperature: 1.5,
        max_tokens: Number(args["max-tokens"]),
      });
      models.push(
        await measured({ model: file }, (report) => withServer(["-m", pathOf(file)], forceCalls(requests, report))),
      );
    }
    const noise: object[] = [];
    const servers = noiseServers(filesOf(args.vocabularies).map(pathOf));
    const random = seededRandom();
    for (const { name, flags } of Number(args.noise) === 0 ? [] : servers) {
      const count = Math.ceil(Number(args.noise) / servers.length);
      const draw = randomForced(cases, random, Number(args["tokens-above"]));
      noise.push(await measured(name, (report) => withServer(flags, forceCalls(draw(count), report))));
    }
    process.stdout.write(`${JSON.stringify({ bench: "calls", schemas: cases.length, models, noise, faults }, null, 2)}\n`);
    if (faults.length > 0) process.exitCode = 1;
  },
});
