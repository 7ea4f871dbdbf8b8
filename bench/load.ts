/**
 * Many clients and every shape on a model without weights, many of which leave early; then SIGTERM under load. Exits with 1 if an answer is lost or
 * wrong, a bound is broken, memory grows, or the stop loses what was taken.
 */
import { defineCommand } from "citty";
import { type Gauges, gaugesOf, idleGauges, load as makeLoad, stopUnderLoad } from "../tests/fixtures/load.ts";
import { randomFrom } from "../tests/fixtures/random.ts";
import { modelPath } from "../tests/fixtures/running.ts";
import { serveSource } from "../tests/fixtures/serving.ts";
import { wholeNumber } from "./arguments.ts";

export const load = defineCommand({
  meta: { name: "load", description: "Ask in every shape at once, leave often, and stop in the middle" },
  args: {
    seconds: { type: "string", description: "How long", default: "300", valueHint: "N" },
    clients: { type: "string", description: "Clients at once", default: "64", valueHint: "N" },
    slots: { type: "string", description: "Requests that run at once", default: "4", valueHint: "N" },
    queue: { type: "string", description: "Requests that wait", default: "32", valueHint: "N" },
    seed: { type: "string", description: "Of what the clients do", default: "1", valueHint: "N" },
    vocabulary: {
      type: "string",
      description: "Model file whose vocabulary the noise speaks",
      default: "SmolLM2-135M-Instruct.Q4_1.gguf",
      valueHint: "FILE",
    },
  },
  async run({ args }) {
    const vocabulary = modelPath(args.vocabulary);
    if (vocabulary === undefined) throw new Error(`there is no model file ${args.vocabulary}`);
    const seconds = wholeNumber("seconds", args.seconds);
    const clients = wholeNumber("clients", args.clients);
    const slots = wholeNumber("slots", args.slots);
    const queue = wholeNumber("queue", args.queue);
    const random = randomFrom(wholeNumber("seed", args.seed));
    const flags = ["-m", "noise", "--vocabulary", vocabulary, "--context", "1024", "--slots", `${slots}`];

    const serving = await serveSource([...flags, "--queue", `${queue}`]);
    const endMs = performance.now() + seconds * 1000;
    const samples: Gauges[] = [];
    const sampling = setInterval(async () => samples.push(await gaugesOf(serving)), sampleMs);
    const report = await makeLoad(serving, { clients, random, until: () => performance.now() >= endMs });
    clearInterval(sampling);
    const bugs = serving.logged.filter(({ event, reason }) => event === "bug" || reason === "engine");
    const idle = await idleGauges(serving);
    serving.process.kill("SIGTERM");
    const code = await serving.process.exited;

    // What was taken may need longer than most operators would wait.
    const stopping = await serveSource([...flags, "--queue", `${clients}`, "--stop-grace", "600"]);
    const stopFaults = await stopUnderLoad(stopping, clients, random);

    const boundKept = samples.every(({ running, queued }) => running <= slots && queued <= queue);
    const memory = memoryOf(samples);
    const result = {
      bench: "load",
      seconds,
      clients,
      slots,
      queue,
      ...report,
      boundKept,
      memory,
      idle,
      bugs,
      code,
      stopFaults,
    };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    const faultless = report.faults.length + bugs.length + stopFaults.length === 0 && code === 0;
    if (!faultless || !boundKept || memory.growthBytes > growthBytesMax) process.exitCode = 1;
  },
});

/** Milliseconds between two looks at the server. */
const sampleMs = 1000;
/** Bytes by which resident memory may grow from the second quarter of the time to the last one: caches of a runtime breathe. */
const growthBytesMax = 48 * 2 ** 20;

/** Resident bytes, as the largest of each quarter of the time. */
function memoryOf(samples: readonly Gauges[]): { readonly quarters: readonly number[]; readonly growthBytes: number } {
  const quarters = [0, 1, 2, 3].map((quarter) => {
    const part = samples.slice((samples.length * quarter) / 4, (samples.length * (quarter + 1)) / 4);
    return Math.max(0, ...part.map(({ residentBytes }) => residentBytes));
  });
  return { quarters, growthBytes: (quarters[3] ?? 0) - (quarters[1] ?? 0) };
}
