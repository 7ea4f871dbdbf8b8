/**
 * Mutated bodies over all routes, on a model without weights. Exits with 1 if an answer is a 5xx, is not in its path's shape or never ends, if the server has a
 * bug to report, or if too few bodies reach the model for the run to mean anything.
 */
import { defineCommand } from "citty";
import { fuzz as sendFuzz, startFuzzed } from "../tests/fixtures/fuzz.ts";
import { modelPath } from "../tests/fixtures/running.ts";
import { wholeNumber } from "./arguments.ts";
import { rounded } from "./statistics.ts";

export const fuzz = defineCommand({
  meta: { name: "fuzz", description: "Send mutated bodies to every route, and judge every answer" },
  args: {
    bodies: { type: "string", description: "How many", default: "20000", valueHint: "N" },
    seed: { type: "string", description: "Of the bodies", default: "1", valueHint: "N" },
    from: {
      type: "string",
      description: "Index of the first one, to bring a fault back",
      default: "0",
      valueHint: "N",
    },
    clients: { type: "string", description: "Requests at once", default: "8", valueHint: "N" },
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
    const startMs = performance.now();
    const tenon = await startFuzzed(vocabulary);
    const report = await sendFuzz(tenon.server.url, {
      bodies: wholeNumber("bodies", args.bodies),
      seed: wholeNumber("seed", args.seed),
      from: wholeNumber("from", args.from),
      clients: wholeNumber("clients", args.clients),
    });
    const bugs = tenon.logged.filter(([, event, fields]) => event === "bug" || fields?.["reason"] === "engine");
    await tenon.stop(0);
    const reachedShare = report.reached / report.bodies;
    const seconds = rounded((performance.now() - startMs) / 1000);
    const result = {
      bench: "fuzz",
      seed: Number(args.seed),
      seconds,
      reachedShare: rounded(reachedShare),
      ...report,
      bugs,
    };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    if (report.faults.length > 0 || bugs.length > 0 || reachedShare < reachedShareMin) process.exitCode = 1;
  },
});

/** Part of the bodies that has to reach the model. */
export const reachedShareMin = 0.3;
