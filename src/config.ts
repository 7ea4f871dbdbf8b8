import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { renderUsage } from "citty";
import { fail, ok, type Result } from "./generation/result.ts";
import { callsMax, contextMin, queueMax, slotsDefault } from "./limits.ts";

/** What the command line and the environment ask for. Flags win over variables. */
export type Command =
  | { readonly kind: "serve"; readonly config: Config }
  | { readonly kind: "doctor" }
  | { readonly kind: "print"; readonly text: string };

export type Config = {
  readonly model: ModelChoice;
  /** The folder with everything that is fetched, the models among it. */
  readonly home: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Compute threads; undefined is as many as cores. */
  readonly threads: number | undefined;
  /** Tokens of one request's context; undefined is the model's own. */
  readonly contextMax: number | undefined;
  /** Requests that run at once. */
  readonly slots: number;
  /** Requests that wait. */
  readonly queueMax: number;
  /** Refuse a model's name that is not the loaded one's. */
  readonly strictModels: boolean;
  /** TypeScript modules, in the order in which they see the logits. */
  readonly logitsProcessors: readonly string[];
  readonly callsMax: number;
  readonly holdCalls: boolean;
};

export type ModelChoice =
  /** A file, a folder, or a name in the models folder; undefined is the default model. */
  | { readonly kind: "file"; readonly wanted: string | undefined }
  /** No weights: logits drawn at random, the adversary of every promise. */
  | {
      readonly kind: "noise";
      readonly vocabulary: string;
      readonly chatTemplate: string | undefined;
      readonly shape: NoiseShape;
      readonly seed: number;
    };

export const noiseShapes = ["flat", "peaked", "pulled"] as const;
export type NoiseShape = (typeof noiseShapes)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

/** As package.json has it; that file does not travel with the executable. */
export const product = {
  name: "tenon",
  version: "0.1.0",
  description: "A server for local language models whose tool calls and structured answers cannot be malformed",
} as const;

/** The failure is a sentence for the user. */
export async function readCommand(argv: readonly string[], environment: Environment): Promise<Result<Command, string>> {
  const [first, ...others] = argv;
  const named = first !== undefined && !first.startsWith("-");
  const given = named ? others : argv;
  if (first === "help" || given.includes("--help") || given.includes("-h"))
    return ok({ kind: "print", text: await usage() });
  if (given.includes("--version")) return ok({ kind: "print", text: product.version });
  if (first === "doctor") return ok({ kind: "doctor" });
  if (named && first !== "serve") return fail(`There is no command '${first}'; there are serve, doctor and help.`);
  const config = readConfig(given, environment);
  return config.ok ? ok({ kind: "serve", config: config.value }) : config;
}

/** One table for the parser, the environment and the help. Each flag is also a variable: --max-calls is TENON_MAX_CALLS. */
const flags = {
  model: {
    type: "string",
    alias: "m",
    valueHint: "NAME",
    description: "A file, a folder, a name in the models folder, or 'noise'",
  },
  host: { type: "string", valueHint: "ADDRESS", description: "Address to listen on (127.0.0.1)" },
  port: { type: "string", valueHint: "N", description: "Port to listen on (11435); 0 takes a free one" },
  threads: { type: "string", valueHint: "N", description: "Compute threads (as many as cores)" },
  context: {
    type: "string",
    valueHint: "N",
    description: "Tokens of one request's context (the model's own); also --ctx",
  },
  slots: {
    type: "string",
    valueHint: "N",
    description: `Requests that run at once (${slotsDefault}); also --parallel`,
  },
  queue: { type: "string", valueHint: "N", description: `Requests that wait for a slot (${queueMax})` },
  "strict-models": { type: "boolean", description: "Refuse a model name that is not the loaded one's" },
  "max-calls": { type: "string", valueHint: "N", description: `Calls of one answer (${callsMax})` },
  "hold-calls": { type: "boolean", description: "Deliver each call whole" },
  "logits-processor": {
    type: "string",
    valueHint: "FILE",
    description: "Module that may change logits and mask; repeatable",
  },
  vocabulary: { type: "string", valueHint: "FILE", description: "With --model noise: whose vocabulary" },
  "chat-template": { type: "string", valueHint: "FILE", description: "With --model noise: the Jinja template" },
  "noise-shape": {
    type: "string",
    valueHint: "SHAPE",
    description: `With --model noise: ${noiseShapes.join(", ")} (pulled)`,
  },
  seed: { type: "string", valueHint: "N", description: "With --model noise: seed of its logits (0)" },
} as const;
type FlagName = keyof typeof flags;
type FlagValues = ReadonlyMap<FlagName, readonly string[]>;

/** Spellings of other servers. */
const synonyms: Readonly<Record<string, FlagName>> = { ctx: "context", "ctx-size": "context", parallel: "slots" };

const repeatable: readonly FlagName[] = ["logits-processor"];

const flagNames = Object.keys(flags).filter(isFlag);
const parserOptions = Object.fromEntries([
  ...flagNames.map((name) => [name, parserOption(name)] as const),
  ...Object.entries(synonyms).map(([synonym, name]) => [synonym, parserOption(name)] as const),
]);

function usage(): Promise<string> {
  return renderUsage({
    meta: product,
    args: flags,
    subCommands: {
      serve: { meta: { description: "Answer requests (the default)" } },
      doctor: { meta: { description: "Check what this machine can do" } },
      help: { meta: { description: "Print this" } },
    },
  });
}

function readConfig(argv: readonly string[], environment: Environment): Result<Config, string> {
  const values = readFlags(argv, environment);
  if (!values.ok) return values;
  const given = values.value;
  const failures: string[] = [];
  const integer = (name: FlagName, min: number, max: number): number | undefined => {
    const text = given.get(name)?.at(-1);
    if (text === undefined) return undefined;
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    failures.push(`--${name} takes a whole number from ${min} to ${max}, not '${text}'.`);
    return undefined;
  };
  const on = (name: FlagName) => ["true", "1"].includes(given.get(name)?.at(-1) ?? "");
  const model = readModel(given, integer("seed", 0, 0xffff_ffff) ?? 0);
  if (!model.ok) return model;
  const config: Config = {
    model: model.value,
    home: environment["TENON_HOME"] || join(homedir(), ".cache", "tenon"),
    host: given.get("host")?.at(-1) ?? "127.0.0.1",
    port: integer("port", 0, 65_535) ?? defaultPort,
    threads: integer("threads", 1, 1024),
    contextMax: integer("context", contextMin, 0xffff_ffff),
    slots: integer("slots", 1, 1024) ?? slotsDefault,
    queueMax: integer("queue", 1, 1_000_000) ?? queueMax,
    strictModels: on("strict-models"),
    logitsProcessors: given.get("logits-processor") ?? [],
    callsMax: integer("max-calls", 1, 1024) ?? callsMax,
    holdCalls: on("hold-calls"),
  };
  return failures[0] === undefined ? ok(Object.freeze(config)) : fail(failures[0]);
}

/** Ollama's port and one. */
const defaultPort = 11_435;

function readModel(given: FlagValues, seed: number): Result<ModelChoice, string> {
  const last = (name: FlagName) => given.get(name)?.at(-1);
  const wanted = last("model");
  if (wanted !== "noise") {
    const stray = (["vocabulary", "chat-template", "noise-shape", "seed"] as const).find((name) => given.has(name));
    if (stray !== undefined) return fail(`--${stray} is only for --model noise.`);
    return ok({ kind: "file", wanted });
  }
  const vocabulary = last("vocabulary");
  if (vocabulary === undefined) return fail("--model noise needs --vocabulary FILE.");
  const shape = noiseShapes.find((known) => known === (last("noise-shape") ?? "pulled"));
  if (shape === undefined) return fail(`--noise-shape takes ${noiseShapes.join(", ")}, not '${last("noise-shape")}'.`);
  return ok({ kind: "noise", vocabulary, chatTemplate: last("chat-template"), shape, seed });
}

/** The values of each flag: from the command line, else from the environment. */
function readFlags(argv: readonly string[], environment: Environment): Result<FlagValues, string> {
  const values = new Map<FlagName, string[]>();
  // Not strict: our own messages name the flag as it was written, and say what to do.
  const { tokens } = parseArgs({ args: [...argv], options: parserOptions, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") return fail(`'${token.value}' belongs to no flag; see tenon help.`);
    const name = flagOf(token.name);
    if (name === undefined) return fail(`There is no flag ${token.rawName}; see tenon help.`);
    if (flags[name].type === "string" && (token.value ?? "") === "") return fail(`${token.rawName} needs a value.`);
    values.set(name, [...(values.get(name) ?? []), token.value ?? "true"]);
  }
  for (const name of flagNames) {
    const value = environment[`TENON_${name.toUpperCase().replaceAll("-", "_")}`] ?? "";
    if (value !== "" && !values.has(name)) values.set(name, repeatable.includes(name) ? value.split(",") : [value]);
  }
  return ok(values);
}

function flagOf(name: string): FlagName | undefined {
  return isFlag(name) ? name : synonyms[name];
}

function isFlag(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}

type ParserOption = { type: "string" | "boolean"; short?: string };

function parserOption(name: FlagName): ParserOption {
  const flag = flags[name];
  return "alias" in flag ? { type: flag.type, short: flag.alias } : { type: flag.type };
}
