/**
 * Forced tool calls, over HTTP: real models at a high temperature, and models without weights, every answer judged by ajv. Exits
 * with 1 if a single answer is not a valid call.
 */
import { defineCommand } from "citty";
import {
  emptyReport,
  type ForcedRequest,
  forceCalls,
  forcedMatrix,
  randomForced,
} from "../tests/fixtures/forced-calls.ts";
import { noiseServers } from "../tests/fixtures/noise-servers.ts";
import { randomFrom } from "../tests/fixtures/random.ts";
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
      default: "SmolLM2-135M-Instruct.Q4_1.gguf,Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf,gemma-3-270m-Q4_K_M.gguf",
      valueHint: "FILES",
    },
    schemas: {
      type: "string",
      description: "Schemas a model, spread over the nested and the flat ones",
      default: "60",
      valueHint: "N",
    },
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
      default: "4000",
      valueHint: "N",
    },
    seed: { type: "string", description: "Of the requests on noise", default: "1", valueHint: "N" },
  },
  async run({ args }) {
    const data = sharedData("maskbench-dev.jsonl.gz");
    if (data === undefined) throw new Error("no data: set TENON_SHARED to the folder that holds data/");
    const cases = toolCases(data);
    const faults: object[] = [];
    const measured = async (name: object, flags: readonly string[], requests: readonly ForcedRequest[]) => {
      const startMs = performance.now();
      const report = emptyReport();
      const tenon = await startTenon(flags);
      await forceCalls(tenon, requests, report);
      await tenon.stop(0);
      faults.push(...report.faults.map((fault) => ({ ...name, ...fault })));
      const seconds = rounded((performance.now() - startMs) / 1000);
      const closedShare = rounded(report.closedByRule / report.requests);
      const result = { ...name, ...report, closedShare, faults: report.faults.length, seconds };
      process.stderr.write(`${JSON.stringify(result)}\n`);
      return result;
    };

    const models: object[] = [];
    const matrix = forcedMatrix(spread(cases, Number(args.schemas)), {
      temperature: 1.5,
      max_tokens: Number(args["max-tokens"]),
    });
    for (const file of listOf(args.models)) models.push(await measured({ model: file }, ["-m", pathOf(file)], matrix));

    const random = randomFrom(Number(args.seed));
    const vocabularies = listOf(args.vocabularies);
    const servers = vocabularies.flatMap((vocabulary) =>
      noiseServers(pathOf(vocabulary)).map((server) => ({ vocabulary, ...server })),
    );
    const count = Math.ceil(Number(args.noise) / servers.length);
    const noise: object[] = [];
    for (const { flags, ...name } of count > 0 ? servers : []) {
      const requests = randomForced(cases, { count, tokensAbove: Number(args["tokens-above"]), random });
      noise.push(await measured(name, flags, requests));
    }
    process.stdout.write(
      `${JSON.stringify({ bench: "calls", schemas: cases.length, models, noise, faults }, null, 2)}\n`,
    );
    if (faults.length > 0) process.exitCode = 1;
  },
});

function spread<T>(items: readonly T[], count: number): readonly T[] {
  return items.filter(
    (_, i) => Math.floor((i * count) / items.length) !== Math.floor(((i - 1) * count) / items.length),
  );
}

function listOf(text: string): readonly string[] {
  return text === "none" ? [] : text.split(",");
}

function pathOf(file: string): string {
  const path = modelPath(file);
  if (path === undefined) throw new Error(`${file} is not in the models folder`);
  return path;
}
