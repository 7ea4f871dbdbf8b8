import { homedir } from "node:os";
import { join } from "node:path";
import { renderUsage } from "citty";
import { type CheckOptions, readCheck } from "./config/check.ts";
import { readDocumentFolder } from "./config/documents.ts";
import { readConfigFile, readLines } from "./config/file.ts";
import {
  type FlagName,
  flagNames,
  flags,
  hostDefault,
  noiseShapes,
  portDefault,
  toolStrictLevels,
} from "./config/flags.ts";
import { type Environment, readFlags, readVariables, type Values } from "./config/sources.ts";
import { fail, ok, type Result } from "./generation/result.ts";
import type { SchemaDocument } from "./generation/schema-document.ts";
import { bodyBytesMax, callsMax, idleTimeoutS, pingMs, queueMax, slotsDefault, stopGraceMs } from "./limits.ts";

/** What the command line, the environment and a config file ask for, in the order in which they win. */
export type Command =
  | { readonly kind: "serve"; readonly config: Config }
  | { readonly kind: "check"; readonly options: CheckOptions }
  | { readonly kind: "doctor" }
  | { readonly kind: "print"; readonly text: string };

export type Config = {
  readonly model: ModelChoice;
  /** The folder with everything that is fetched, the models among it. */
  readonly home: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** A socket in the file system, instead of host and port. */
  readonly unix: string | undefined;
  /** Paths of PEM files. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Whoever has none of them is refused; without any, nobody is. */
  readonly apiKeys: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Of one key, or of one address where there are no keys; undefined is as many as come. */
  readonly requestsPerMinute: number | undefined;
  readonly bodyBytesMax: number;
  readonly idleTimeoutS: number;
  readonly pingMs: number;
  readonly stopGraceMs: number;
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
  /** Refuse fields that nothing reads. */
  readonly strictFields: boolean;
  /** The words of `tenon_lexicon: true`. */
  readonly lexicon: readonly string[] | undefined;
  /** Schemas that references may lead to. */
  readonly schemaDocuments: readonly SchemaDocument[];
  /** TypeScript modules, in the order in which they see the logits. */
  readonly logitsProcessors: readonly string[];
  readonly callsMax: number;
  readonly holdCalls: boolean;
  /** Send thoughts under their second name, too. */
  readonly reasoningAlias: boolean;
  /** What is pinned of calls that are not forced. */
  readonly toolStrict: (typeof toolStrictLevels)[number];
  /** Widen tools' schemas that cannot be enforced. */
  readonly relaxTools: boolean;
};

export type ModelChoice =
  /** A file, a folder, or a name in the models folder; undefined is the default model. */
  | { readonly kind: "file"; readonly wanted: string | undefined }
  /** No weights: logits drawn at random, the adversary of every promise. */
  | {
      readonly kind: "noise";
      readonly vocabulary: string;
      readonly chatTemplate: string | undefined;
      readonly shape: (typeof noiseShapes)[number];
      readonly seed: number;
    };

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
  if (first === "check") return readCheck(others);
  if (first === "help" || given.includes("--help") || given.includes("-h"))
    return ok({ kind: "print", text: await usage() });
  if (given.includes("--version")) return ok({ kind: "print", text: product.version });
  if (first === "doctor") return ok({ kind: "doctor" });
  if (named && first !== "serve")
    return fail(`There is no command '${first}'; there are serve, check, doctor and help.`);
  const values = await readValues(given, environment);
  if (!values.ok) return values;
  const config = await toConfig(values.value, environment);
  return config.ok ? ok({ kind: "serve", config: config.value }) : config;
}

function usage(): Promise<string> {
  const args = Object.fromEntries(
    flagNames.map((name) => {
      const flag = flags[name];
      const shown = {
        description: `${flag.description} (${flag.default})`,
        ...("alias" in flag ? { alias: flag.alias } : {}),
      };
      if (flag.takes === "switch") return [name, { type: "boolean", ...shown } as const];
      return [name, { type: "string", valueHint: flag.hint, ...shown } as const];
    }),
  );
  return renderUsage({
    meta: product,
    args,
    subCommands: {
      serve: { meta: { description: "Answer requests (the default)" } },
      check: { meta: { description: "Compile a schema or grammar and say what is enforced" } },
      doctor: { meta: { description: "Check what this machine can do" } },
      help: { meta: { description: "Print this" } },
    },
  });
}

/** Of each flag what the command line says, else a variable, else the config file that one of the two names. */
async function readValues(argv: readonly string[], environment: Environment): Promise<Result<Values, string>> {
  const line = readFlags(argv);
  if (!line.ok) return line;
  const variables = readVariables(environment);
  const path = (line.value.get("config") ?? variables.get("config"))?.texts.at(-1);
  if (path === undefined) return ok(new Map([...variables, ...line.value]));
  const file = await readConfigFile(path);
  return file.ok ? ok(new Map([...file.value, ...variables, ...line.value])) : file;
}

/** Reads flags, and keeps the first thing that is wrong with one. */
function reader(values: Values) {
  let failure: string | undefined;
  return {
    get failure() {
      return failure;
    },
    text: (name: FlagName) => values.get(name)?.texts.at(-1),
    list: (name: FlagName) => values.get(name)?.texts ?? [],
    number(name: NumberFlag): number | undefined {
      const given = values.get(name);
      const text = given?.texts.at(-1);
      if (given === undefined || text === undefined) return undefined;
      const [min, max] = flags[name].range;
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      failure ??= `${given.from} takes a whole number from ${min} to ${max}, not '${text}'.`;
      return undefined;
    },
    oneOf<Text extends string>(name: FlagName, known: readonly Text[]): Text | undefined {
      const given = values.get(name);
      const text = given?.texts.at(-1);
      if (given === undefined || text === undefined) return undefined;
      const found = known.find((each) => each === text);
      if (found === undefined) failure ??= `${given.from} takes ${known.join(", ")}, not '${text}'.`;
      return found;
    },
    on(name: FlagName): boolean {
      const given = values.get(name);
      const text = given?.texts.at(-1);
      if (given === undefined || text === undefined) return false;
      if (!/^(true|1|false|0)$/.test(text)) failure ??= `${given.from} takes true or false, not '${text}'.`;
      return /^(true|1)$/.test(text);
    },
  };
}

type NumberFlag = { [Name in FlagName]: (typeof flags)[Name]["takes"] extends "number" ? Name : never }[FlagName];

async function toConfig(values: Values, environment: Environment): Promise<Result<Config, string>> {
  const read = reader(values);
  const model = readModel(values, read.number("seed") ?? 0);
  if (!model.ok) return model;
  const tls = readTls(values);
  if (!tls.ok) return tls;
  const apiKeys = await readKeys(values);
  if (!apiKeys.ok) return apiKeys;
  const lexiconPath = read.text("lexicon");
  const lexicon = lexiconPath === undefined ? ok(undefined) : await readLines(lexiconPath, "word list");
  if (!lexicon.ok) return lexicon;
  const documentsPath = read.text("schema-documents");
  const documents = documentsPath === undefined ? ok([]) : readDocumentFolder(documentsPath);
  if (!documents.ok) return documents;
  const seconds = (name: NumberFlag, otherwiseMs: number) => (read.number(name) ?? otherwiseMs / 1000) * 1000;
  const config: Config = {
    model: model.value,
    home: environment["TENON_HOME"] || join(homedir(), ".cache", "tenon"),
    host: read.text("host") ?? hostDefault,
    port: read.number("port") ?? portDefault,
    unix: read.text("unix"),
    tls: tls.value,
    apiKeys: apiKeys.value,
    corsOrigins: read.list("cors-origin"),
    requestsPerMinute: read.number("rate-limit"),
    bodyBytesMax: read.number("max-body") ?? bodyBytesMax,
    idleTimeoutS: read.number("idle-timeout") ?? idleTimeoutS,
    pingMs: seconds("ping", pingMs),
    stopGraceMs: seconds("stop-grace", stopGraceMs),
    threads: read.number("threads"),
    contextMax: read.number("context"),
    slots: read.number("slots") ?? slotsDefault,
    queueMax: read.number("queue") ?? queueMax,
    strictModels: read.on("strict-models"),
    strictFields: read.on("strict-fields"),
    lexicon: lexicon.value,
    schemaDocuments: documents.value,
    logitsProcessors: read.list("logits-processor"),
    callsMax: read.number("max-calls") ?? callsMax,
    holdCalls: read.on("hold-calls"),
    reasoningAlias: read.on("reasoning-alias"),
    toolStrict: read.oneOf("tool-strict", toolStrictLevels) ?? "schema",
    relaxTools: read.on("relax-tools"),
  };
  return read.failure === undefined ? ok(Object.freeze(config)) : fail(read.failure);
}

function readModel(values: Values, seed: number): Result<ModelChoice, string> {
  const last = (name: FlagName) => values.get(name)?.texts.at(-1);
  const wanted = last("model");
  if (wanted !== "noise") {
    const strays = (["vocabulary", "chat-template", "noise-shape", "seed"] as const).map((name) => values.get(name));
    const stray = strays.find((given) => given !== undefined);
    return stray === undefined ? ok({ kind: "file", wanted }) : fail(`${stray.from} is only for the model noise.`);
  }
  const vocabulary = last("vocabulary");
  if (vocabulary === undefined) return fail("The model noise needs --vocabulary FILE.");
  const given = values.get("noise-shape");
  const shape = noiseShapes.find((known) => known === (last("noise-shape") ?? "pulled"));
  if (shape === undefined) {
    return fail(`${given?.from} takes ${noiseShapes.join(", ")}, not '${last("noise-shape")}'.`);
  }
  return ok({ kind: "noise", vocabulary, chatTemplate: last("chat-template"), shape, seed });
}

function readTls(values: Values): Result<Config["tls"], string> {
  const cert = values.get("tls-cert")?.texts.at(-1);
  const key = values.get("tls-key")?.texts.at(-1);
  if (cert !== undefined && key !== undefined) return ok({ cert, key });
  if (cert === undefined && key === undefined) return ok(undefined);
  return fail("--tls-cert and --tls-key belong together.");
}

/** Those that are given and those in the file. No message repeats a key. */
async function readKeys(values: Values): Promise<Result<readonly string[], string>> {
  const given = values.get("api-key");
  const path = values.get("api-key-file")?.texts.at(-1);
  const file = path === undefined ? ok([]) : await readLines(path, "key file");
  if (!file.ok) return file;
  if (path !== undefined && file.value.length === 0) return fail(`The key file ${path} holds no key.`);
  const isKey = (text: string) => /^[\x21-\x7e]+$/.test(text);
  const unusable = "a key that no header can carry; keys are visible ASCII characters without spaces";
  if (given?.texts.every(isKey) === false) return fail(`${given.from} holds ${unusable}.`);
  if (!file.value.every(isKey)) return fail(`The key file ${path} holds ${unusable}.`);
  return ok([...(given?.texts ?? []), ...file.value]);
}
