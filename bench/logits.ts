/**
 * Whether the fast path says what it should: against the f64 reference on real text, and against llama.cpp along the greedy
 * tokens that llama.cpp chose (each step is given its tokens, so that one difference does not cause the next). And whether the same weights as
 * an embedding model give the reference's vectors.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineCommand } from "citty";
import { root } from "../scripts/setup.ts";
import type { ModelCard } from "../src/models/card.ts";
import { loadTokenizer } from "../src/tokenizer/load.ts";
import { buildNativeModel, type NativeModel, openNativeModel } from "./native-model.ts";
import { median, quantile, rounded } from "./statistics.ts";

/** Our file → what llama.cpp said about it. */
const recordings = {
  "SmolLM2-135M-Instruct.Q4_1": "smollm2-135m-q4_1",
  "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M": "qwen2.5-coder-0.5b-q4_k_m",
  "gemma-3-270m-Q4_K_M": "gemma-3-270m-q4_k_m",
};

/** A difference of the chosen token is no fault where llama.cpp's own two best are this close, in nats. */
const nearTie = 0.1;
const medianMax = 0.05;
const positions = 64;

export const logits = defineCommand({
  meta: { name: "logits", description: "Compare logits with the f64 reference and with llama.cpp" },
  args: {
    model: { type: "string", description: "One of the test models; all of them by default", valueHint: "NAME" },
    data: {
      type: "string",
      description: "Folder with llama.cpp's recordings",
      default: sharedData(),
      valueHint: "DIR",
    },
    threads: { type: "string", description: "Threads that compute", default: "2", valueHint: "N" },
    truth: {
      type: "string",
      description:
        "Also measure ours and llama.cpp's against the reference, along this many steps of each prompt (slow)",
      default: "0",
      valueHint: "STEPS",
    },
  },
  async run({ args }) {
    await buildNativeModel();
    const models = [];
    for (const [name, recording] of Object.entries(recordings)) {
      if (args.model !== undefined && args.model !== name) continue;
      const path = join(args.data, `${recording}.json.gz`);
      if (!existsSync(path)) throw new Error(`${path} is not there: set --data or TENON_SHARED`);
      process.stderr.write(`${name}\n`);
      using model = openNativeModel(name, Number(args.threads));
      models.push({
        model: name,
        reference: await compareWithReference(model),
        embedding: await compareVectors(model),
        llamaCpp: await compareWithLlamaCpp(model, readRecording(path), Number(args.truth)),
      });
    }
    process.stdout.write(`${JSON.stringify({ bench: "logits", models }, null, 2)}\n`);
  },
});

function sharedData(): string {
  return join(process.env["TENON_SHARED"] ?? join(root, "..", "shared"), "data", "llama-cpp");
}

type Difference = { readonly difference_max: number; readonly range: number; readonly divergence: number };

async function compareWithReference(model: NativeModel) {
  const differences: readonly Difference[] = JSON.parse(await model.run("compare", { input: textTokens(model.card) }));
  const relative = differences.map((each) => each.difference_max / each.range);
  const divergences = differences.map((each) => each.divergence);
  return {
    positions: differences.length,
    logitDifferenceByRange: { max: rounded(Math.max(...relative)), median: rounded(median(relative)) },
    divergence: { max: rounded(Math.max(...divergences)), median: rounded(median(divergences)) },
  };
}

/** Distances of vectors of length one from the reference's, by pooling and direction. */
async function compareVectors(model: NativeModel) {
  const input = textTokens(model.card);
  const distances: Record<string, number> = {};
  for (const pooling of ["mean", "cls", "last"] as const) {
    for (const causal of [true, false]) {
      const distance = Number(await model.run("embed", { input, manifest: { pooling, causal } }));
      distances[`${pooling}, ${causal ? "causal" : "both directions"}`] = rounded(distance);
    }
  }
  return distances;
}

/** Ordinary prose, code and data, as prompts are. */
const text = `A mortise and tenon joint connects two pieces of wood: the tongue of one fits the hole of the other, and a peg keeps them
together. function area(width: number, height: number): number { return width * height; } {"name": "get_weather", "arguments":
{"city": "Łódź", "unit": "celsius", "days": 3}} Such joints have held roofs for 7,000 years, without glue and without a single nail.`;

function textTokens(card: ModelCard): readonly number[] {
  const loaded = loadTokenizer(card);
  if (!loaded.ok) throw new Error(loaded.failure.message);
  const { bos, addBos } = loaded.value;
  const tokens = [...(addBos && bos !== undefined ? [bos] : []), ...loaded.value.encode(text, { special: false })];
  if (tokens.length < positions) throw new Error(`the text has only ${tokens.length} tokens`);
  return tokens.slice(0, positions);
}

/** Token ids and log-probabilities of the ten most probable tokens at each step. */
type Recorded = {
  readonly prompt: string;
  readonly prompt_tokens: readonly number[];
  readonly tokens: readonly number[];
  readonly top: readonly (readonly (readonly [token: number, logProbability: number])[])[];
};

function readRecording(path: string): readonly Recorded[] {
  const file: { readonly greedy: readonly Recorded[] } = JSON.parse(
    new TextDecoder().decode(Bun.gunzipSync(readFileSync(path))),
  );
  return file.greedy;
}

type Said = { readonly best: number; readonly gap: number; readonly log_probabilities: readonly number[] };

async function compareWithLlamaCpp(model: NativeModel, recorded: readonly Recorded[], truthSteps: number) {
  const said: Said[][] = JSON.parse(await model.run("score", { input: recorded.map(givenOf) }));
  const prompts = recorded.map((each, index) => comparePrompt(each, said[index] ?? []));
  const distances = distancesOf(recorded.map(recordedLogProbabilities), said.map(saidLogProbabilities));
  return {
    prompts,
    logProbabilityDifference: distances,
    passes: prompts.every((prompt) => prompt.passes) && distances.median <= medianMax,
    ...(truthSteps > 0 ? { truth: await compareWithTruth(model, recorded, said, truthSteps) } : {}),
  };
}

function comparePrompt(recorded: Recorded, said: readonly Said[]) {
  const differing = said.flatMap((each, step) => (each.best === recorded.tokens[step] ? [] : [step]));
  const [first] = differing;
  const difference = first === undefined ? undefined : { step: first, gap: rounded(gapOf(recorded, first)) };
  return {
    prompt: recorded.prompt,
    steps: said.length,
    differing: differing.length,
    first: difference ?? null,
    passes: difference === undefined || difference.gap <= nearTie,
  };
}

/** How far llama.cpp's best token was ahead of its second. */
function gapOf(recorded: Recorded, step: number): number {
  const [best, second] = recorded.top[step] ?? [];
  return best === undefined || second === undefined ? Number.NaN : best[1] - second[1];
}

/**
 * Quantised activations put llama.cpp and us at a distance from what the weights say: how far each is, and where the reference
 * itself would have chosen another token than llama.cpp.
 */
async function compareWithTruth(
  model: NativeModel,
  recorded: readonly Recorded[],
  said: readonly (readonly Said[])[],
  steps: number,
) {
  const cut = recorded.map((each) => ({
    ...each,
    tokens: each.tokens.slice(0, steps),
    top: each.top.slice(0, steps),
  }));
  const truth: Said[][] = JSON.parse(await model.run("truth", { input: cut.map(givenOf) }));
  const expected = truth.map(saidLogProbabilities);
  return {
    steps,
    prompts: cut.map((each, index) => comparePrompt(each, truth[index] ?? [])),
    ours: distancesOf(
      expected,
      said.map((each) => saidLogProbabilities(each.slice(0, steps))),
    ),
    llamaCpp: distancesOf(expected, cut.map(recordedLogProbabilities)),
  };
}

function givenOf(recorded: Recorded) {
  return {
    prompt: recorded.prompt_tokens,
    tokens: recorded.tokens,
    top: recorded.top.map((step) => step.map(([token]) => token)),
  };
}

function recordedLogProbabilities(recorded: Recorded): readonly number[] {
  return recorded.top.flatMap((step) => step.map(([, logProbability]) => logProbability));
}

function saidLogProbabilities(said: readonly Said[]): readonly number[] {
  return said.flatMap((step) => step.log_probabilities);
}

function distancesOf(a: readonly (readonly number[])[], b: readonly (readonly number[])[]) {
  const flat = b.flat();
  const distances = a.flat().map((each, index) => Math.abs(each - (flat[index] ?? Number.NaN)));
  const at = (share: number) => rounded(quantile(distances, share));
  return { count: distances.length, median: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
