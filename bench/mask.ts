/**
 * Masks over real schemas and instances, by MaskBench's method: per schema the time from its text to the first mask, per token the time
 * of mask and accept together, and whether instances are judged right. Data: one `{"id","schema","tests":[{"valid","data"}]}` a line.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { defineCommand } from "citty";
import type { Grammar } from "../src/engine/engine.ts";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { createMatcher, type Matcher } from "../src/engine/matcher.ts";
import { type NativeVocabulary, openVocabulary } from "../src/engine/vocabulary.ts";
import type { Result } from "../src/generation/result.ts";
import { encodeIr } from "../src/grammar/encode.ts";
import { irBuilder } from "../src/grammar/ir.ts";
import { lowerSchema } from "../src/grammar/json-schema/lower.ts";
import { atPointer, type JsonText, readJson } from "../src/grammar/json-text.ts";
import { readGguf } from "../src/models/gguf.ts";
import { jsonTokenizer } from "../src/tokenizer/json.ts";
import { loadTokenizer } from "../src/tokenizer/load.ts";
import type { Tokenizer } from "../src/tokenizer/tokenizer.ts";
import { quantile, rounded } from "./statistics.ts";

export const mask = defineCommand({
  meta: { name: "mask", description: "Measure grammars and masks over the schemas and instances of a file" },
  args: {
    data: { type: "string", description: "JSON lines, gzipped or not", required: true, valueHint: "FILE" },
    vocabulary: { type: "string", description: "A tokenizer.json or a GGUF file", required: true, valueHint: "FILE" },
    every: { type: "string", description: "Take only every Nth schema", default: "1", valueHint: "N" },
    dump: {
      type: "string",
      description: "Only write PREFIX.vocabulary and PREFIX.grammars, for zig build bench-grammar",
      valueHint: "PREFIX",
    },
    "list-failures": { type: "boolean", description: "Name every schema that does not pass, on standard error" },
  },
  run({ args }) {
    for (const path of [args.data, args.vocabulary]) if (!existsSync(path)) throw new Error(`there is no file ${path}`);
    const every = Number(args.every);
    if (!Number.isInteger(every) || every < 1) throw new Error("--every takes a whole number from 1 on");
    const log = args["list-failures"] ? (line: string) => process.stderr.write(`${line}\n`) : () => {};
    const tokenizer = openTokenizer(args.vocabulary);
    const samples = readSamples(args.data).filter((_, index) => index % every === 0);
    if (args.dump !== undefined) return dump(args.dump, samples, tokenizer);
    const library = must(openLibrary(process.env["TENON_LIBRARY"] || libraryPath()));
    using vocabulary = must(openVocabulary(library, tokenizer.vocabulary));
    const measured = measure(samples, tokenizer, vocabulary, log);
    process.stdout.write(
      `${JSON.stringify({ bench: "mask", vocabulary: tokenizer.vocabulary.count, ...measured }, null, 2)}\n`,
    );
  },
});

type Sample = { readonly id: string; readonly schema: string; readonly instances: readonly Instance[] };
type Instance = { readonly text: string; readonly valid: boolean };

/** Whatever an instance shows wrong, by whether the end counts: MaskBench only asks whether every token was allowed. */
type Wrong = { validRejected: number; invalidAccepted: number };

function measure(
  samples: readonly Sample[],
  tokenizer: Tokenizer,
  vocabulary: NativeVocabulary,
  log: (line: string) => void,
) {
  const compileUs: number[] = [];
  const maskUs: number[] = [];
  const refused: Record<string, number> = {};
  const counts = { schemas: samples.length, compiled: 0, instances: 0 };
  const withEnd = { passing: 0, validRejected: 0, invalidAccepted: 0 };
  const withoutEnd = { passing: 0, validRejected: 0, invalidAccepted: 0 };
  for (const { id, schema, instances } of samples) {
    const start = performance.now();
    const compiled = compile(schema, vocabulary);
    if (typeof compiled === "string") {
      refused[compiled] = (refused[compiled] ?? 0) + 1;
      log(`refused ${id}: ${compiled}`);
      continue;
    }
    using grammar = compiled;
    {
      using matcher = must(createMatcher(vocabulary, grammar, tokenizer.stopTokens));
      matcher.fill();
    }
    compileUs.push((performance.now() - start) * 1000);
    counts.compiled++;
    const ended = { validRejected: 0, invalidAccepted: 0 };
    const open = { validRejected: 0, invalidAccepted: 0 };
    for (const { text, valid } of instances) {
      counts.instances++;
      using matcher = must(createMatcher(vocabulary, grammar, tokenizer.stopTokens));
      const whole = follow(matcher, tokenizer.encode(text, { special: false }), maskUs);
      judge(open, whole, valid);
      judge(ended, whole && matcher.acceptsEnd(), valid);
    }
    if (ended.validRejected + ended.invalidAccepted > 0) log(`wrong ${id}: ${JSON.stringify(ended)}`);
    add(withEnd, ended);
    add(withoutEnd, open);
  }
  return {
    ...counts,
    masks: maskUs.length,
    refused: Object.fromEntries(Object.entries(refused).sort(([, a], [, b]) => b - a)),
    withEndCheck: withEnd,
    withoutEndCheck: withoutEnd,
    compileUs: distribution(compileUs),
    maskUs: distribution(maskUs),
  };
}

/** What is refused, by keyword where there is one. */
function compile(schema: string, vocabulary: NativeVocabulary): Grammar | string {
  const ir = lower(schema);
  if (typeof ir === "string") return ir;
  const grammar = vocabulary.compile(ir);
  return grammar.ok ? grammar.value : `engine: ${grammar.failure.message}`;
}

/** The encoded grammar, or what is refused. */
function lower(schema: string): Uint8Array<ArrayBuffer> | string {
  const builder = irBuilder();
  const options = { closed: false, ordered: false, assertFormats: true, objectsOnly: false, originFirst: 0 };
  const lowered = lowerSchema(builder, schema, options);
  if (!lowered.ok) return lowered.failure.keyword === "" ? lowered.failure.reason : lowered.failure.keyword;
  const style = { freeSpace: true, whitespaceMax: undefined, spelling: "spec" } as const;
  const root = builder.node({ kind: "json", value: lowered.value.value, style });
  return encodeIr(builder.finish(root));
}

/** The grammars with their valid instances, and the vocabulary, in the form that zig/grammar/bench.zig describes. */
function dump(prefix: string, samples: readonly Sample[], tokenizer: Tokenizer): void {
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
    const ir = lower(schema);
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

/** Whether every token was allowed; the time of each mask with its accept goes to `maskUs`. */
function follow(matcher: Matcher, tokens: Uint32Array, maskUs: number[]): boolean {
  for (const token of tokens) {
    const start = performance.now();
    matcher.fill();
    const isAllowed = (((matcher.mask[token >>> 5] ?? 0) >>> (token & 31)) & 1) === 1;
    if (isAllowed) matcher.accept(token);
    maskUs.push((performance.now() - start) * 1000);
    if (!isAllowed) return false;
  }
  return true;
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

function distribution(microseconds: readonly number[]) {
  const average = microseconds.reduce((sum, value) => sum + value, 0) / microseconds.length;
  const at = (share: number) => rounded(quantile(microseconds, share));
  return { avg: rounded(average), p50: at(0.5), p90: at(0.9), p99: at(0.99), p99_9: at(0.999), max: at(1) };
}

function openTokenizer(path: string): Tokenizer {
  if (path.endsWith(".gguf")) return must(loadTokenizer(must(readGguf(path))));
  return must(jsonTokenizer(path, noSpecialTokens));
}

/** The end of an instance is judged by `acceptsEnd`, not by a token. */
const noSpecialTokens = {
  bos: undefined,
  eos: undefined,
  eot: undefined,
  eom: undefined,
  unknown: undefined,
  padding: undefined,
  addBos: false,
  addEos: false,
};

function readSamples(path: string): readonly Sample[] {
  const bytes = readFileSync(path);
  const text = new TextDecoder().decode(path.endsWith(".gz") ? Bun.gunzipSync(bytes) : bytes);
  return text.split("\n").flatMap((line) => (line === "" ? [] : [readSample(line)]));
}

function readSample(line: string): Sample {
  const document = must(readJson(line, { charactersMax: line.length, depthMax: 1000, duplicateKeys: "last" }));
  const at = (from: JsonText, pointer: string): JsonText => {
    const value = atPointer(from, pointer);
    if (value === undefined) throw new Error(`a line has nothing at ${pointer}`);
    return value;
  };
  const id = at(document.root, "/id");
  const schema = at(document.root, "/schema");
  const tests = at(document.root, "/tests");
  if (id.kind !== "string" || tests.kind !== "array") throw new Error("a line is no sample");
  return {
    id: id.value,
    schema: line.slice(schema.start, schema.end),
    instances: tests.items.map((item) => {
      const valid = at(item, "/valid");
      return { text: pythonDump(at(item, "/data")), valid: valid.kind === "boolean" && valid.value };
    }),
  };
}

/** As Python's `json.dumps(value, ensure_ascii=False)` writes it, numbers as they came. */
function pythonDump(value: JsonText): string {
  switch (value.kind) {
    case "null":
      return "null";
    case "boolean":
      return String(value.value);
    case "number":
      return value.text;
    case "string":
      return JSON.stringify(value.value);
    case "array":
      return `[${value.items.map(pythonDump).join(", ")}]`;
    case "object":
      return `{${[...value.entries].map(([key, item]) => `${JSON.stringify(key)}: ${pythonDump(item)}`).join(", ")}}`;
    default:
      return value satisfies never;
  }
}

function must<T, F>(result: Result<T, F>): T {
  if (result.ok) return result.value;
  const { failure } = result;
  throw new Error(typeof failure === "string" ? failure : JSON.stringify(failure));
}
