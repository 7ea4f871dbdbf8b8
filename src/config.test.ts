import { expect, test } from "bun:test";
import { type Config, type Environment, product, readCommand } from "./config.ts";

const defaults: Config = {
  model: { kind: "file", wanted: undefined },
  home: "/h",
  host: "127.0.0.1",
  port: 11_435,
  threads: undefined,
  contextMax: undefined,
  slots: 4,
  queueMax: 256,
  strictModels: false,
  logitsProcessors: [],
  callsMax: 16,
  holdCalls: false,
};

test.each([
  ["", {}, {}],
  ["serve", {}, {}],
  ["serve -m a.gguf --port 0", {}, { model: { kind: "file", wanted: "a.gguf" }, port: 0 }],
  ["--model=x --host=0.0.0.0 --threads 2", {}, { model: { kind: "file", wanted: "x" }, host: "0.0.0.0", threads: 2 }],
  ["--context 4096 --slots 2 --queue 1", {}, { contextMax: 4096, slots: 2, queueMax: 1 }],
  ["--ctx 4096 --parallel 2", {}, { contextMax: 4096, slots: 2 }],
  ["--strict-models --hold-calls --max-calls 3", {}, { strictModels: true, holdCalls: true, callsMax: 3 }],
  ["--hold-calls=false", { TENON_HOLD_CALLS: "1" }, { holdCalls: false }],
  ["--logits-processor a.ts --logits-processor b.ts", {}, { logitsProcessors: ["a.ts", "b.ts"] }],
  ["", { TENON_PORT: "1", TENON_LOGITS_PROCESSOR: "a.ts,b.ts" }, { port: 1, logitsProcessors: ["a.ts", "b.ts"] }],
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
  ["fly", "There is no command 'fly'; there are serve, doctor and help."],
  ["--prot 1", "There is no flag --prot; see tenon help."],
  ["--port", "--port needs a value."],
  ["--port x", "--port takes a whole number from 0 to 65535, not 'x'."],
  ["--port 65536", "--port takes a whole number from 0 to 65535, not '65536'."],
  ["--ctx 100", "--context takes a whole number from 512 to 4294967295, not '100'."],
  ["serve model.gguf", "'model.gguf' belongs to no flag; see tenon help."],
  ["-m noise", "--model noise needs --vocabulary FILE."],
  ["-m noise --vocabulary v --noise-shape round", "--noise-shape takes flat, peaked, pulled, not 'round'."],
  ["--vocabulary v", "--vocabulary is only for --model noise."],
])("tenon %s is refused", async (line, message) => {
  expect(await read(line)).toEqual({ ok: false, failure: message });
});

test("help names every flag, and the product is the package's", async () => {
  const help = await read("serve --help");
  if (!help.ok || help.value.kind !== "print") throw new Error("no help");
  for (const flag of ["--model", "--port", "--logits-processor", "--noise-shape", "doctor"]) {
    expect(help.value.text).toContain(flag);
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
