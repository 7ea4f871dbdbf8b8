import {
  bodyBytesHardMax,
  bodyBytesMax,
  callsMax,
  contextMin,
  idleTimeoutS,
  pingMs,
  queueMax,
  slotsDefault,
  stopGraceMs,
} from "../limits.ts";

/** What a flag takes: `list` may be given more than once, `switch` needs no value. */
export type Flag = {
  readonly takes: "text" | "number" | "list" | "switch";
  /** Bounds of a number. */
  readonly range?: readonly [min: number, max: number];
  readonly alias?: string;
  /** What stands for its value in the help. */
  readonly hint?: string;
  /** What holds where nothing is said, as the help has it. */
  readonly default: string;
  readonly description: string;
};

export const toolStrictLevels = ["off", "envelope", "schema"] as const;
export const noiseShapes = ["flat", "peaked", "pulled"] as const;

/** Ollama's port and one. */
export const portDefault = 11_435;
export const hostDefault = "127.0.0.1";

/**
 * The one table behind the command line, the environment, the config file, the help and docs/server.md. `--max-calls` is the variable
 * TENON_MAX_CALLS and the key `max-calls`.
 */
export const flags = {
  config: text("FILE", "none", "TOML or JSON file with any of these flags"),
  model: {
    ...text("NAME", "the default model", "A file, a folder, a name in the models folder, or 'noise'"),
    alias: "m",
  },
  host: text("ADDRESS", hostDefault, "Address to listen on"),
  port: number(0, 65_535, `${portDefault}`, "Port to listen on; 0 takes a free one"),
  unix: text("PATH", "none", "Socket to listen on, instead of host and port"),
  "tls-cert": text("FILE", "none", "Certificate chain in PEM; with --tls-key"),
  "tls-key": text("FILE", "none", "Private key in PEM; with --tls-cert"),
  "api-key": list(
    "KEY",
    "none",
    "Key that a client must present; better in a file or a variable, where no process list shows it",
  ),
  "api-key-file": text("FILE", "none", "File with a key a line"),
  "cors-origin": list("ORIGIN", "none", "Origin whose pages may read answers; '*' for all"),
  "rate-limit": number(1, 1_000_000, "none", "Requests a minute of one key, or of one address where there are no keys"),
  "max-body": number(1024, bodyBytesHardMax, `${bodyBytesMax}`, "Bytes of a request's body"),
  "idle-timeout": number(
    1,
    255,
    `${idleTimeoutS}`,
    "Seconds a client may neither send nor take anything while it is its turn",
  ),
  ping: number(1, 3600, `${pingMs / 1000}`, "Seconds of silence on a stream before a keep-alive"),
  "stop-grace": number(0, 86_400, `${stopGraceMs / 1000}`, "Seconds that running answers get after SIGTERM"),
  threads: number(1, 1024, "as many as cores", "Compute threads"),
  context: number(
    contextMin,
    0xffff_ffff,
    "the model's own",
    "Tokens of one request's context; also --ctx, --ctx-size",
  ),
  slots: number(1, 1024, `${slotsDefault}`, "Requests that run at once; also --parallel"),
  queue: number(1, 1_000_000, `${queueMax}`, "Requests that wait for a slot; the next one is told to come back"),
  "strict-models": on("Refuse a model name that is not the loaded one's"),
  "strict-fields": on("Refuse fields that nothing reads, instead of naming them in x-tenon-ignored"),
  "max-calls": number(1, 1024, `${callsMax}`, "Calls of one answer"),
  "hold-calls": on("Deliver each call whole"),
  "tool-strict": text(
    "LEVEL",
    "schema",
    `What is pinned of calls that are not forced: ${toolStrictLevels.join(", ")}; also --tool-strict-level`,
  ),
  "relax-tools": on("Widen tools' schemas that cannot be enforced, naming the places in x-tenon-relaxed"),
  "reasoning-alias": on("Send thoughts as 'reasoning' too, beside 'reasoning_content', in OpenAI's chats"),
  lexicon: text("FILE", "none", "Word list of tenon_lexicon: true, a word a line"),
  "schema-documents": text(
    "DIR",
    "none",
    "Folder of the JSON Schemas that references may lead to, by $id, relative path or file URI",
  ),
  "logits-processor": list("FILE", "none", "Module that may change logits and mask"),
  vocabulary: text("FILE", "none", "With --model noise: whose vocabulary"),
  "chat-template": text("FILE", "the vocabulary's", "With --model noise: the Jinja template"),
  "noise-shape": text("SHAPE", "pulled", `With --model noise: ${noiseShapes.join(", ")}`),
  seed: number(0, 0xffff_ffff, "0", "With --model noise: seed of its logits"),
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;
export const flagNames = Object.keys(flags).filter(isFlag);

/** Spellings of other servers. */
export const synonyms: Readonly<Record<string, FlagName>> = {
  ctx: "context",
  "ctx-size": "context",
  parallel: "slots",
  "tool-strict-level": "tool-strict",
};

/** The flag of a name, in any spelling. */
export function flagOf(name: string): FlagName | undefined {
  if (isFlag(name)) return name;
  return Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
}

function isFlag(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}

function text(hint: string, byDefault: string, description: string) {
  return { takes: "text", hint, default: byDefault, description } as const;
}

function list(hint: string, byDefault: string, description: string) {
  return { takes: "list", hint, default: byDefault, description: `${description}; repeatable` } as const;
}

function number(min: number, max: number, byDefault: string, description: string) {
  return { takes: "number", range: [min, max], hint: "N", default: byDefault, description } as const;
}

function on(description: string) {
  return { takes: "switch", default: "off", description } as const;
}
