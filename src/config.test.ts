import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flagNames, flags } from "./config/flags.ts";
import type { Environment } from "./config/sources.ts";
import { type Config, product, readCommand } from "./config.ts";

const defaults: Config = {
  model: { kind: "file", wanted: undefined },
  home: "/h",
  host: "127.0.0.1",
  port: 11_435,
  unix: undefined,
  tls: undefined,
  apiKeys: [],
  corsOrigins: [],
  requestsPerMinute: undefined,
  bodyBytesMax: 8 * 1024 * 1024,
  idleTimeoutS: 30,
  pingMs: 10_000,
  stopGraceMs: 30_000,
  threads: undefined,
  contextMax: undefined,
  slots: 4,
  queueMax: 256,
  strictModels: false,
  strictFields: false,
  lexicon: undefined,
  schemaDocuments: [],
  logitsProcessors: [],
  callsMax: 16,
  holdCalls: false,
  reasoningAlias: false,
  toolStrict: "schema",
  relaxTools: false,
};

test.each([
  ["", {}, {}],
  ["serve", {}, {}],
  ["serve -m a.gguf --port 0", {}, { model: { kind: "file", wanted: "a.gguf" }, port: 0 }],
  ["--model=x --host=0.0.0.0 --threads 2", {}, { model: { kind: "file", wanted: "x" }, host: "0.0.0.0", threads: 2 }],
  ["--context 4096 --slots 2 --queue 1", {}, { contextMax: 4096, slots: 2, queueMax: 1 }],
  ["--ctx 4096 --parallel 2", {}, { contextMax: 4096, slots: 2 }],
  ["--strict-models --hold-calls --max-calls 3", {}, { strictModels: true, holdCalls: true, callsMax: 3 }],
  ["--tool-strict-level envelope --relax-tools", {}, { toolStrict: "envelope", relaxTools: true }],
  ["--tool-strict off", {}, { toolStrict: "off" }],
  ["--hold-calls=false", { TENON_HOLD_CALLS: "1" }, { holdCalls: false }],
  ["--logits-processor a.ts --logits-processor b.ts", {}, { logitsProcessors: ["a.ts", "b.ts"] }],
  ["", { TENON_PORT: "1", TENON_LOGITS_PROCESSOR: "a.ts,b.ts" }, { port: 1, logitsProcessors: ["a.ts", "b.ts"] }],
  ["--unix s.sock --tls-cert c --tls-key k", {}, { unix: "s.sock", tls: { cert: "c", key: "k" } }],
  ["--api-key a --api-key b", {}, { apiKeys: ["a", "b"] }],
  ["", { TENON_API_KEY: "a,b", TENON_STRICT_FIELDS: "true" }, { apiKeys: ["a", "b"], strictFields: true }],
  [
    "--cors-origin * --rate-limit 60 --max-body 2048",
    {},
    { corsOrigins: ["*"], requestsPerMinute: 60, bodyBytesMax: 2048 },
  ],
  ["--idle-timeout 5 --ping 2 --stop-grace 0", {}, { idleTimeoutS: 5, pingMs: 2000, stopGraceMs: 0 }],
  ["--port 2", { TENON_PORT: "1" }, { port: 2 }],
  [
    "-m noise --vocabulary v.gguf",
    {},
    { model: { kind: "noise", vocabulary: "v.gguf", chatTemplate: undefined, shape: "pulled", seed: 0 } },
  ],
  [
    "-m noise --vocabulary v --chat-template t --noise-shape flat --seed 7",
    {},
    { model: { kind: "noise", vocabulary: "v", chatTemplate: "t", shape: "flat", seed: 7 } },
  ],
] satisfies readonly (readonly [string, Environment, Partial<Config>])[])(
  "tenon %s, %j",
  async (line, environment, expected) => {
    expect(await read(line, environment)).toEqual({
      ok: true,
      value: { kind: "serve", config: { ...defaults, ...expected } },
    });
  },
);

test.each([
  ["fly", "There is no command 'fly'; there are serve, check, doctor and help."],
  ["--prot 1", "There is no flag --prot; see tenon help."],
  ["--port", "--port needs a value."],
  ["--port x", "--port takes a whole number from 0 to 65535, not 'x'."],
  ["--port 65536", "--port takes a whole number from 0 to 65535, not '65536'."],
  ["--ctx 100", "--context takes a whole number from 512 to 4294967295, not '100'."],
  ["serve model.gguf", "'model.gguf' belongs to no flag; see tenon help."],
  ["--tool-strict none", "--tool-strict takes off, envelope, schema, not 'none'."],
  ["--hold-calls=yes", "--hold-calls takes true or false, not 'yes'."],
  ["--tls-cert c", "--tls-cert and --tls-key belong together."],
  ["--api-key= ", "--api-key needs a value."],
  [
    "--api-key sk-é",
    "--api-key holds a key that no header can carry; keys are visible ASCII characters without spaces.",
  ],
  ["-m noise", "The model noise needs --vocabulary FILE."],
  ["-m noise --vocabulary v --noise-shape round", "--noise-shape takes flat, peaked, pulled, not 'round'."],
  ["--vocabulary v", "--vocabulary is only for the model noise."],
])("tenon %s is refused", async (line, message) => {
  expect(await read(line)).toEqual({ ok: false, failure: message });
});

test("a wrong variable is named, and no message repeats a key", async () => {
  expect(await read("", { TENON_PORT: "x" })).toEqual({
    ok: false,
    failure: "TENON_PORT takes a whole number from 0 to 65535, not 'x'.",
  });
  expect(JSON.stringify(await read("", { TENON_API_KEY: "sécret" }))).not.toContain("cret");
});

describe("config file", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tenon-config-"));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const write = async (name: string, text: string) => {
    const path = join(folder, name);
    await Bun.write(path, text);
    return path;
  };

  test("flags before variables before the file before defaults, in both formats", async () => {
    const table = { port: 1, slots: 1, queue: 1, "hold-calls": true, "api-key": ["a"], "cors-origin": "*", ctx: 1024 };
    const toml = Object.entries(table).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
    for (const path of [await write("c.toml", toml.join("")), await write("c.json", JSON.stringify(table))]) {
      const expected = {
        ok: true,
        value: {
          kind: "serve",
          config: {
            ...defaults,
            port: 3,
            slots: 2,
            queueMax: 1,
            holdCalls: true,
            apiKeys: ["a"],
            corsOrigins: ["*"],
            contextMax: 1024,
          },
        },
      };
      const variables = { TENON_PORT: "2", TENON_SLOTS: "2" };
      expect<unknown>(await read(`--config ${path} --port 3`, variables)).toEqual(expected);
      expect<unknown>(await read("--port 3", { ...variables, TENON_CONFIG: path })).toEqual(expected);
    }
  });

  test("every flag can stand in it, with a value of its own type", async () => {
    const values = { text: "x", list: ["x"], switch: true };
    for (const name of flagNames) {
      if (name === "config") continue;
      const flag = flags[name];
      const value = flag.takes === "number" ? flag.range[0] : values[flag.takes];
      const path = await write("one.json", JSON.stringify({ [name]: value }));
      const result = await read(`--config ${path}`);
      // What is wrong, if anything, is never the key or its type.
      if (!result.ok) expect(result.failure).not.toMatch(/there is no key|' takes (?!off,)/);
      const wrong = await write("wrong.json", JSON.stringify({ [name]: { x: 1 } }));
      expect(await read(`--config ${wrong}`)).toMatchObject({
        ok: false,
        failure: expect.stringContaining(`wrong.json: '${name}' takes `),
      });
    }
  });

  test.each([
    ["port = 'x'", "PATH: 'port' takes a whole number."],
    ["port = 1.5", "PATH: 'port' takes a whole number."],
    ["port = 70000", "PATH: 'port' takes a whole number from 0 to 65535, not '70000'."],
    ["hold-calls = 'yes'", "PATH: 'hold-calls' takes true or false."],
    ["api-key = ['a', 1]", "PATH: 'api-key' takes a text or a list of texts."],
    ["prot = 1", "PATH: there is no key 'prot'; see tenon help."],
    ["config = 'other.toml'", "PATH: there is no key 'config'; see tenon help."],
    ["[server]\nport = 1", "PATH: there is no key 'server'; see tenon help."],
  ])("%j is refused", async (text, message) => {
    const path = await write("wrong.toml", text);
    expect(await read(`--config ${path}`)).toEqual({ ok: false, failure: message.replace("PATH", path) });
  });

  test("what cannot be read is named", async () => {
    expect(await read("--config nowhere.toml")).toMatchObject({
      failure: expect.stringContaining("The config file nowhere.toml cannot be read:"),
    });
    const broken = await write("broken.toml", "port = ");
    expect(await read(`--config ${broken}`)).toMatchObject({ failure: expect.stringContaining(broken) });
    const list = await write("list.json", "[]");
    expect(await read(`--config ${list}`)).toEqual({ ok: false, failure: `${list} holds no keys.` });
  });

  test("keys and words have files of their own", async () => {
    const keys = await write("keys", "a\n\n  b  \n");
    const words = await write("words", "rot\r\ngrün\n");
    expect(await read(`--api-key c --api-key-file ${keys} --lexicon ${words}`)).toMatchObject({
      value: { config: { apiKeys: ["c", "a", "b"], lexicon: ["rot", "grün"] } },
    });
    const empty = await write("empty", "\n");
    expect(await read(`--api-key-file ${empty}`)).toEqual({
      ok: false,
      failure: `The key file ${empty} holds no key.`,
    });
    expect(await read("--lexicon nowhere")).toMatchObject({
      failure: expect.stringContaining("The word list nowhere cannot be read:"),
    });
  });
});

test("help names every flag with its default, as docs/server.md does, and the product is the package's", async () => {
  const help = await read("serve --help");
  if (!help.ok || help.value.kind !== "print") throw new Error("no help");
  const text = Bun.stripANSI(help.value.text).replace(/\s+/g, " ");
  const manual = await Bun.file(new URL("../docs/server.md", import.meta.url)).text();
  for (const name of flagNames) {
    const { takes, default: byDefault, description } = flags[name];
    expect(text).toContain(`--${name}`);
    expect(text).toContain(`${description} (${byDefault})`);
    const hint = takes === "switch" ? "" : ` ${flags[name].hint}`;
    expect(manual).toContain(`| \`--${name}${hint}\` | ${byDefault} | ${description} |`);
  }
  expect(await read("--version")).toEqual({ ok: true, value: { kind: "print", text: product.version } });
  expect(await Bun.file(new URL("../package.json", import.meta.url)).json()).toMatchObject(product);
  expect(await read("doctor")).toEqual({ ok: true, value: { kind: "doctor" } });
});

function read(line: string, environment: Environment = {}) {
  return readCommand(
    line.split(" ").filter((word) => word !== ""),
    { TENON_HOME: "/h", ...environment },
  );
}
