import { describe, expect, test } from "bun:test";
import { grammarOf } from "../src/dialects/constrain.ts";
import type { Dialect } from "../src/dialects/dialect.ts";
import type { ToolStrict } from "../src/generation/request.ts";
import { readAnswer } from "./fixtures/answer.ts";
import { faultOfCalls } from "./fixtures/forced-calls.ts";
import {
  callBegin,
  cases,
  type OpenedModel,
  openModel,
  requestOf,
  type Said,
  say,
  shortestCall,
  unconstrained,
} from "./fixtures/free-calls.ts";
import { noiseServers } from "./fixtures/noise-servers.ts";
import { oneOf, type Random, seededRandom } from "./fixtures/random.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";
import { sharedData } from "./fixtures/shared.ts";
import { channelRuns } from "./oracle/ir-acceptor.ts";

// How strictly calls are taken says nothing about whether one begins: for one seed, every level and the model by itself write the same up
// to a marker. With `off` they write the same to the end, and the calls in it are those that the oracle finds.

const path = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
const levels: readonly ToolStrict[] = ["off", "envelope", "schema"];
const timeoutMs = 300_000;
const tokensMax = 160;

const noise = path === undefined ? [] : noiseServers(path).filter(({ shape }) => shape === "pulled");
const generic = ["-m", "noise", "--vocabulary", path ?? "", "--noise-shape", "pulled"];
const servers = [...noise, { dialect: "hermes", shape: "generic", flags: generic }];
const thinker = sharedData("chat-templates/Qwen-Qwen3-0.6B.jinja");
const skipped = path === undefined || sharedData("chat-templates") === undefined;

describe.skipIf(skipped)("skipped without the default model's file or the shared data", () => {
  test.each(servers)(
    "noise, $dialect ($shape): the same up to the marker at every level, and off reads what is there",
    async ({ dialect, flags }) => {
      const random = seededRandom();
      using opened = await openModel(flags, loosePhrases);
      const seen = { calls: 0, broken: 0 };
      const isEnough = () => seen.calls > 0 && seen.broken > 0;
      for (let round = 0; round < 16 || (round < 99 && !isEnough()); round++) {
        const fields = { seed: random(2 ** 31), temperature: oneOf(random, [0.7, 1, 2]), ...oneOf(random, narrowings) };
        await compareLevels(opened, { dialect, fields, random, seen });
      }
      console.log(`${dialect}: ${seen.calls} calls read, ${seen.broken} answers with a marker and no call`);
      expect(seen.calls).toBeGreaterThan(0);
      expect(seen.broken).toBeGreaterThan(0);
    },
    timeoutMs,
  );

  test.skipIf(thinker === undefined)(
    "noise that thinks: off reads what is there, and nothing in thoughts",
    async () => {
      const random = seededRandom();
      const flags = [...generic, "--chat-template", thinker ?? ""];
      using opened = await openModel(flags, (dialect) => [...loosePhrases(dialect).slice(0, 2), "<think>", "</think>"]);
      const seen = { calls: 0, thoughts: 0 };
      for (let round = 0; round < 24; round++) {
        const fields = { seed: random(2 ** 31), temperature: oneOf(random, [0.7, 1, 2]), ...oneOf(random, narrowings) };
        const said = await expectRead(opened, fields, 1 + random(tokensMax));
        seen.calls += said.calls.length;
        if (said.reasoning !== "") seen.thoughts++;
      }
      console.log(`${seen.calls} calls read, ${seen.thoughts} answers with thoughts`);
      expect(seen.thoughts).toBeGreaterThan(0);
    },
    timeoutMs,
  );

  test(
    "the default model, in the generic frame",
    async () => {
      const random = seededRandom();
      const { loaded, server } = await startTenon(["-m", path ?? ""]);
      await server.stop(0);
      using _ = loaded;
      const opened = { model: loaded.model, dialect: loaded.detection.dialect };
      const seen = { calls: 0, broken: 0 };
      for (let round = 0; round < 6; round++) {
        const messages = [...history, { role: "user", content: oneOf(random, ["Find milk.", "Find bread.", "Wait."]) }];
        const fields = { seed: random(2 ** 31), messages, temperature: oneOf(random, [0.4, 0.7, 1]) };
        await compareLevels(opened, { dialect: "hermes", fields, random, seen, tokens: 96 });
      }
      console.log(`the default model: ${seen.calls} calls read, ${seen.broken} answers with a marker and no call`);
      expect(seen.calls + seen.broken).toBeGreaterThan(0);
    },
    timeoutMs,
  );
});

describe.skipIf(path === undefined)("over the wire (skipped without the default model's file)", () => {
  const parameters = { type: "object", properties: { what: { type: "string" } } };
  const messages = [{ role: "user", content: "Go on." }];
  const fn = { name: "find", parameters };
  const shapes = [
    ["/v1/chat/completions", { messages, tools: [{ type: "function", function: fn }], max_tokens: 40 }],
    ["/v1/responses", { input: "Go on.", tools: [{ type: "function", ...fn }], max_output_tokens: 40 }],
    ["/v1/messages", { messages, tools: [{ name: "find", input_schema: parameters }], max_tokens: 40 }],
    [
      "/api/chat",
      { messages, tools: [{ type: "function", function: fn }], stream: false, options: { num_predict: 40 } },
    ],
  ] as const;

  test("every shape takes every level, says whether anything is masked, and refuses others by name", async () => {
    const tenon = await startTenon([...generic, "--tool-strict", "off"]);
    const ask = (route: string, body: object) =>
      fetch(new URL(route, tenon.server.url), { method: "POST", body: JSON.stringify({ model: "any", ...body }) });
    const found: unknown[] = [];
    for (const [route, body] of shapes) {
      for (const tenon_tool_strict of [undefined, null, ...levels, "loose"]) {
        const response = await ask(route, { ...body, tenon_tool_strict });
        const text = await response.text();
        const header = response.headers.get("x-tenon-constraint");
        const refusal = "Invalid value for 'tenon_tool_strict'";
        found.push([route, tenon_tool_strict, response.status, header, text.includes(refusal)]);
      }
    }
    const expected = shapes.flatMap(([route]) => [
      [route, undefined, 200, "none", false],
      [route, null, 200, "none", false],
      [route, "off", 200, "none", false],
      [route, "envelope", 200, "triggered", false],
      [route, "schema", 200, "triggered", false],
      [route, "loose", 400, null, true],
    ]);
    await tenon.stop(0);
    expect(found).toEqual(expected);
  });

  test("a stream puts together what comes whole, with the same counts", async () => {
    const tenon = await startTenon([...generic, "--tool-strict", "off"]);
    const random = seededRandom();
    const [[route, body]] = shapes;
    for (let round = 0; round < 12; round++) {
      const content = `Go on${" and on".repeat(random(40))}.`;
      const asked = { ...body, messages: [{ role: "user", content }], model: "any", seed: random(2 ** 31) };
      const ask = async (fields: object) => {
        const url = new URL(route, tenon.server.url);
        const response = await fetch(url, { method: "POST", body: JSON.stringify({ ...asked, ...fields }) });
        const counts = /"completion_tokens":(\d+)/g.exec(await response.clone().text());
        const { id: _, ...answer } = await readAnswer(response);
        return { ...answer, tokens: counts?.[1] };
      };
      expect(await ask({ stream: true, stream_options: { include_usage: true } })).toEqual(await ask({}));
    }
    await tenon.stop(0);
  });
});

/** A model that has called before does so again. */
const history = ["tea", "rice", "salt"].flatMap((what) => [
  { role: "user", content: `Find ${what}.` },
  { role: "assistant", content: `<tool_call>\n{"name": "find", "arguments": {"what": "${what}"}}\n</tool_call>` },
]);

const narrowings = [
  {},
  {},
  { parallel_tool_calls: false },
  {
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "find_all" } }] },
    },
  },
];

type Opened = Pick<OpenedModel, "model" | "dialect">;

type Comparison = {
  readonly dialect: string;
  readonly fields: { readonly seed: number; readonly [name: string]: unknown };
  readonly random: Random;
  readonly seen: { calls: number; broken: number };
  readonly tokens?: number;
};

async function compareLevels(opened: Opened, { dialect, fields, random, seen, tokens = tokensMax }: Comparison) {
  const { model } = opened;
  // Near the limit a marker whose call could not be finished is masked, but not where nothing is.
  const limit = tokens - shortestCall(model);
  const free = await say(unconstrained(model), { ...fields, max_tokens: limit });
  const names = "tool_choice" in fields ? ["find_all"] : cases.map(({ name }) => name);
  const begin = callBegin(dialect, free.text, names);
  for (const tenon_tool_strict of levels) {
    const said = await say(model, { ...fields, tenon_tool_strict, max_tokens: tokens });
    if (tenon_tool_strict === "off") continue;
    const told = [fields, tenon_tool_strict, free.text, said];
    if (begin === undefined) {
      expect([...told, said.before.startsWith(free.text.replace(/\uFFFD$/, ""))]).toEqual([...told, true]);
      continue;
    }
    expect([...told, said.calls.length > 0]).toEqual([...told, true]);
    const before = free.text.slice(0, begin);
    // Around a marker one line break belongs to it, and where the answer has to begin with the call, all space.
    expect([before, before.replace(/\n$/, ""), before.trimStart()]).toContain(said.before);
    if (tenon_tool_strict === "schema") expect(faultOfCalls(cases, said.calls)).toBeUndefined();
    else expect(said.calls.map(({ name }) => names.includes(name))).not.toContain(false);
  }
  const cut = 1 + random(tokens);
  for (const max_tokens of [limit, cut]) {
    const said = await expectRead(opened, fields, max_tokens);
    expect(said.calls.map(({ name }) => names.includes(name))).not.toContain(false);
    if (max_tokens !== limit) continue;
    seen.calls += said.calls.length;
    if (said.calls.length === 0 && begin !== undefined) seen.broken++;
  }
}

/** With `off` the tokens are the model's own, and are read as the oracle reads them, held or not. */
async function expectRead(opened: Opened, fields: Comparison["fields"], max_tokens: number): Promise<Said> {
  const { model } = opened;
  const alone = await say(unconstrained(model), { ...fields, max_tokens });
  const off = { ...fields, tenon_tool_strict: "off", max_tokens };
  const said = await say(model, off);
  expect(said.tokens).toEqual(alone.tokens);
  const { text, calls, reasoning } = said;
  expect({ text, calls, reasoning }).toEqual(readingOf(opened, off, alone.tokens));
  expect(await say(model, { ...off, tenon_hold_calls: true })).toEqual(said);
  for (const call of said.calls) expect(Object.keys(Object(JSON.parse(call.arguments)))).toBeArray();
  return said;
}

/** What the oracle makes of these tokens of a prompt and its answer. */
function readingOf(
  { model, dialect }: Opened,
  fields: Comparison["fields"],
  tokens: readonly number[],
): Pick<Said, "text" | "calls" | "reasoning"> {
  const { tokenizer } = model;
  const request = requestOf(fields);
  const prompt = model.render(request);
  if (!prompt.ok) throw new Error("no prompt");
  const constrained = model.constrain(request, prompt.value);
  if (!constrained.ok) throw new Error("not read");
  const { thoughts } = constrained.value;
  const built = grammarOf(request, { dialect, tokenizer, callsMax: 16, thoughts });
  if (!built.ok || built.value.ir === undefined) throw new Error("not read");
  const written = tokens.slice(prompt.value.tokens.length).filter((token) => !tokenizer.stopTokens.includes(token));
  const runs = channelRuns(built.value.ir, [...tokenizer.decode(written, { special: false })]);
  let text = "";
  let reasoning = "";
  const calls: { name: string; arguments: string }[] = [];
  let before = "";
  for (const [channel, part] of runs ?? []) {
    if (channel === "text") text += part;
    if (channel === "reasoning") reasoning += part;
    const last = calls.at(-1);
    if (channel === "argument_json") {
      const json = part.replaceAll(/"(?:[^"\\]|\\.)*"|True|False|None/g, (word) => python[word] ?? word);
      if (last?.arguments === "") last.arguments = json;
      else before = json;
    }
    if (channel === "call_name") {
      calls.push({ name: part, arguments: before });
      before = "";
    }
  }
  return { text, calls, reasoning };
}

const python: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" };

/** Calls as models write them by themselves: right, in other orders, without closers, broken, of no tool. */
function loosePhrases({ name }: Dialect): readonly string[] {
  const objects = [
    '{"name": "find", "KEY": {"what": "tea"}}',
    '{ "KEY":\n{"tags":[]} , "name":"find_all" }',
    '{"name": "wait", "KEY": {"unit": 5, "now": True}}',
    '{"name": "wait", "KEY": {"unit": }}',
    '{"name": "fetch", "KEY": {}}',
  ].map((object) => object.replace("KEY", name === "llama3_json" ? "parameters" : "arguments"));
  switch (name) {
    case "hermes":
      return objects.flatMap((object) => [`<tool_call>\n${object}\n</tool_call>`, `\n<tool_call>${object}`]);
    case "mistral_nemo":
      return objects.flatMap((object) => [`[TOOL_CALLS] [${object}]`, `[TOOL_CALLS][${object}, ${object}]`]);
    case "llama3_json":
      return objects;
    default:
      return name satisfies never;
  }
}
