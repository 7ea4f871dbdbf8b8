/**
 * Masks over real schemas and instances, by MaskBench's method: per schema the time from its text to the first mask, per token the time
 * of mask and accept together, and whether instances are judged right.
 */
import { writeFileSync } from "node:fs";
import { defineCommand } from "citty";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { openVocabulary } from "../src/engine/vocabulary.ts";
import { defaultPolicy, type Policy, specPolicy } from "../src/generation/policy.ts";
import type { Tokenizer } from "../src/tokenizer/tokenizer.ts";
import { type Llguidance, llguidanceVersion, openLlguidance } from "./llguidance.ts";
import { lower, runSchema, type Setting } from "./mask-run.ts";
import { must, openTokenizer, readSamples, type Sample } from "./samples.ts";
import { Slowest } from "./slowest.ts";
import { distribution, rounded } from "./statistics.ts";

export const mask = defineCommand({
  meta: { name: "mask", description: "Measure grammars and masks over the schemas and instances of a file" },
  args: {
    data: { type: "string", description: "JSON lines, gzipped or not", required: true, valueHint: "FILE" },
    vocabulary: { type: "string", description: "A tokenizer.json or a GGUF file", required: true, valueHint: "FILE" },
    every: { type: "string", description: "Take only every Nth schema", default: "1", valueHint: "N" },
    policy: {
      type: "enum",
      options: ["spec", "default"],
      description: "What JSON leaves open: as the specification has it, or as answers get it where nobody asks",
      default: "spec",
    },
    repeat: {
      type: "string",
      description: "Runs, each from a fresh compilation; the least of each time counts, as machines preempt",
      default: "1",
      valueHint: "N",
    },
    verify: {
      type: "string",
      description: "Compare one mask in N with a walk over the whole vocabulary, token by token; 0 compares none",
      default: "0",
      valueHint: "N",
    },
    llguidance: {
      type: "boolean",
      description: `Run llguidance ${llguidanceVersion} over the same schemas and tokens, in turns (needs Python; takes a tokenizer.json)`,
    },
    dump: {
      type: "string",
      description: "Only write PREFIX.vocabulary and PREFIX.grammars, for zig build bench-grammar",
      valueHint: "PREFIX",
    },
    slowest: {
      type: "string",
      description: "Name the schemas of the N slowest compilations and of the N slowest masks, on standard error",
      default: "0",
      valueHint: "N",
    },
    "list-failures": { type: "boolean", description: "Name every schema that does not pass, on standard error" },
  },
  async run({ args }) {
    const log = args["list-failures"] ? (line: string) => process.stderr.write(`${line}\n`) : () => {};
    const tokenizer = openTokenizer(args.vocabulary);
    const samples = readSamples(args.data, Number(args.every));
    const policy = args.policy === "default" ? defaultPolicy : specPolicy;
    if (args.dump !== undefined) return dump(args.dump, samples, tokenizer, policy);
    const library = must(openLibrary(process.env["TENON_LIBRARY"] || libraryPath()));
    using vocabulary = must(openVocabulary(library, tokenizer.vocabulary));
    const [repeat, verify] = [Number(args.repeat), Number(args.verify)];
    await using other = args.llguidance ? await openLlguidance(args.vocabulary, repeat) : undefined;
    const slowest = new Slowest(Number(args.slowest));
    const measured = await measure(samples, { tokenizer, vocabulary, policy, repeat, verify, other, slowest, log });
    process.stderr.write(slowest.report());
    process.stdout.write(
      `${JSON.stringify({ bench: "mask", policy: args.policy, vocabulary: tokenizer.vocabulary.count, ...measured }, null, 2)}\n`,
    );
  },
});

/** Whatever an instance shows wrong, by whether the end counts: MaskBench only asks whether every token was allowed. */
type Wrong = { validRejected: number; invalidAccepted: number };

async function measure(
  samples: readonly Sample[],
  setting: Setting & {
    readonly other: Llguidance | undefined;
    readonly slowest: Slowest;
    readonly log: (line: string) => void;
  },
) {
  const { tokenizer, other, slowest, log } = setting;
  const all = times();
  const theirs = times();
  const disagreements = { weAreRight: 0, theyAreRight: 0 };
  const both = times();
  const refused: Record<string, number> = {};
  const counts = { schemas: samples.length, compiled: 0, instances: 0, verified: 0, verifiedWrong: 0 };
  const withEnd = { passing: 0, validRejected: 0, invalidAccepted: 0 };
  const withoutEnd = { passing: 0, validRejected: 0, invalidAccepted: 0 };
  for (const sample of samples) {
    const tokens = sample.instances.map(({ text }) => tokenizer.encode(text, { special: false }));
    const ours = runSchema(sample.schema, tokens, setting);
    const outcome = await other?.measure(
      sample.schema,
      tokens.map((list) => [...list]),
    );
    if (outcome !== undefined && !("error" in outcome)) {
      addTimes(theirs, outcome);
      if (!("refusal" in ours)) {
        addTimes(both, ours);
        for (const [index, { valid, text }] of sample.instances.entries()) {
          const we = ours.verdicts[index]?.end === true;
          const they = outcome.verdicts[index]?.end === true;
          if (we === they) continue;
          disagreements[we === valid ? "weAreRight" : "theyAreRight"]++;
          log(`differs ${sample.id} ${index}: valid ${valid}, ours ${we}, theirs ${they}: ${text.slice(0, 200)}`);
        }
      }
    }
    if ("refusal" in ours) {
      refused[ours.refusal] = (refused[ours.refusal] ?? 0) + 1;
      log(`refused ${sample.id}: ${ours.refusal}`);
      continue;
    }
    addTimes(all, ours);
    slowest.add(sample.id, ours);
    counts.compiled++;
    counts.verified += ours.verified;
    counts.verifiedWrong += ours.verifiedWrong;
    const ended = { validRejected: 0, invalidAccepted: 0 };
    const open = { validRejected: 0, invalidAccepted: 0 };
    for (const [index, { valid }] of sample.instances.entries()) {
      const { tokens: accepted, end } = ours.verdicts[index] ?? { tokens: 0, end: false };
      counts.instances++;
      const whole = accepted === tokens[index]?.length;
      judge(open, whole, valid);
      judge(ended, whole && end, valid);
    }
    if (ended.validRejected + ended.invalidAccepted > 0) log(`wrong ${sample.id}: ${JSON.stringify(ended)}`);
    add(withEnd, ended);
    add(withoutEnd, open);
  }
  const report = {
    ...counts,
    masks: all.maskUs.length,
    refused: Object.fromEntries(Object.entries(refused).sort(([, a], [, b]) => b - a)),
    withEndCheck: withEnd,
    withoutEndCheck: withoutEnd,
    compileUs: distribution(all.compileUs),
    maskUs: distribution(all.maskUs),
  };
  if (other === undefined) return report;
  const their = { compileUs: distribution(theirs.compileUs), maskUs: distribution(theirs.maskUs) };
  const our = { compileUs: distribution(both.compileUs), maskUs: distribution(both.maskUs) };
  return {
    ...report,
    llguidance: {
      version: llguidanceVersion,
      compiled: theirs.compileUs.length,
      /** Instances that one of us accepts and the other does not, by whom the data's own verdict agrees with. */
      disagreements,
      ...their,
      /** Ours, on the schemas that it compiled, and how many times longer it took. */
      ours: our,
      ratios: {
        compileMedian: rounded(their.compileUs.p50 / our.compileUs.p50),
        compileAverage: rounded(their.compileUs.avg / our.compileUs.avg),
        maskMedian: rounded(their.maskUs.p50 / our.maskUs.p50),
        maskAverage: rounded(their.maskUs.avg / our.maskUs.avg),
      },
    },
  };
}

/** The grammars with their valid instances, and the vocabulary, in the form that zig/grammar/bench.zig describes. */
function dump(prefix: string, samples: readonly Sample[], tokenizer: Tokenizer, policy: Policy): void {
  const { count, bytes, offsets, kinds } = tokenizer.vocabulary;
  writeFileSync(
    `${prefix}.vocabulary`,
    Buffer.concat([
      words(count, bytes.length),
      new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength),
      bytes,
      kinds,
    ]),
  );
  const parts: Uint8Array[] = [];
  let grammars = 0;
  for (const { schema, instances } of samples) {
    const ir = lower(schema, policy);
    if (typeof ir === "string") continue;
    const valid = instances.filter((instance) => instance.valid);
    parts.push(words(ir.length), ir, new Uint8Array((4 - (ir.length % 4)) % 4), words(valid.length));
    for (const { text } of valid) {
      const tokens = tokenizer.encode(text, { special: false });
      parts.push(words(tokens.length, ...tokens));
    }
    grammars++;
  }
  writeFileSync(`${prefix}.grammars`, Buffer.concat([words(grammars), ...parts]));
}

function words(...numbers: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(numbers).buffer);
}

type Times = { readonly compileUs: number[]; readonly maskUs: number[] };

function times(): Times {
  return { compileUs: [], maskUs: [] };
}

function addTimes(total: Times, one: { readonly compileUs: number; readonly maskUs: readonly number[] }): void {
  total.compileUs.push(one.compileUs);
  for (const time of one.maskUs) total.maskUs.push(time);
}

function judge(wrong: Wrong, accepted: boolean, valid: boolean): void {
  if (valid && !accepted) wrong.validRejected++;
  if (!valid && accepted) wrong.invalidAccepted++;
}

function add(total: Wrong & { passing: number }, schema: Wrong): void {
  total.validRejected += schema.validRejected;
  total.invalidAccepted += schema.invalidAccepted;
  if (schema.validRejected + schema.invalidAccepted === 0) total.passing++;
}
