import { describe, expect, test } from "bun:test";
import { decodeChat } from "../src/api/openai/decode.ts";
import { decodeService } from "../src/api/service-fixture.ts";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { openEngine } from "../src/engine/native.ts";
import { openVocabulary } from "../src/engine/vocabulary.ts";
import type { Model } from "../src/generate/model.ts";
import { generate } from "../src/generate.ts";
import type { Request } from "../src/generation/request.ts";
import { ok, type Result } from "../src/generation/result.ts";
import type { Answer } from "./fixtures/answer.ts";
import { faultOfCalls } from "./fixtures/forced-calls.ts";
import { noiseServers } from "./fixtures/noise-servers.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";
import { sharedData } from "./fixtures/shared.ts";
import { toolCase } from "./fixtures/tool-schemas.ts";

// Answers in which a call may come, and need not: noise that likes to begin calls, with and without the constraint.

const text = { type: "string", maxLength: 30 };
const cases = [
  toolCase("find", { type: "object", properties: { what: text, count: { type: "integer" } }, required: ["what"] }),
  toolCase("find_all", { type: "object", properties: { tags: { type: "array", items: text } } }),
  toolCase("wait", { type: "object", properties: { unit: { enum: ["s", "min"] } }, required: ["unit"] }),
];
const seeds = Array.from({ length: 32 }, (_, seed) => seed);
const tokensMax = 160;
const timeoutMs = 300_000;

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
const servers = vocabulary === undefined ? [] : noiseServers(vocabulary).filter(({ shape }) => shape === "pulled");
const skipped = vocabulary === undefined || sharedData("chat-templates") === undefined;

describe.skipIf(skipped)("skipped without the default model's file or the shared data", () => {
  test.each(servers)(
    "$dialect, auto: calls are valid, and the text before them is what the model says by itself",
    async ({ dialect, flags }) => {
      using model = await openModel(flags);
      const limit = tokensMax - shortestCall(model.model);
      let withCall = 0;
      for (const seed of seeds) {
        const said = await say(model.model, { seed, max_tokens: tokensMax });
        expect(faultOfCalls(cases, said.calls)).toBeUndefined();
        if (said.calls.length > 0) withCall++;
        const free = await say(unconstrained(model.model), { seed, max_tokens: limit });
        const begin = callBegin(dialect, free.before);
        if (begin === undefined) {
          // Nothing was masked as far as the free answer goes.
          expect(said.before).toStartWith(free.before.replace(/\uFFFD$/, ""));
          if (free.finish === "stop") expect(said).toEqual(free);
        } else {
          expect(said.calls.length).toBeGreaterThan(0);
          // Around a marker one line break belongs to it, and where the answer has to begin with the call, all space.
          const before = free.before.slice(0, begin);
          const lines = dialect === "hermes" ? [before, before.replace(/\n$/, "")] : [before, before.trimStart()];
          expect(lines).toContain(said.before);
        }
      }
      console.log(`${dialect}: ${withCall} of ${seeds.length} answers have a call`);
      // A format without a marker begins a call with the first word or never.
      expect(withCall).toBeGreaterThanOrEqual(dialect === "llama3_json" ? 1 : seeds.length / 2);
    },
    timeoutMs,
  );

  test.each(servers)(
    "$dialect, none: no call begins, and text without one is untouched",
    async ({ dialect, flags }) => {
      using model = await openModel(flags);
      for (const seed of seeds) {
        const said = await say(model.model, { seed, max_tokens: tokensMax, tool_choice: "none" });
        expect(said.calls).toEqual([]);
        expect(callBegin(dialect, said.before)).toBeUndefined();
        const free = await say(unconstrained(model.model), { seed, max_tokens: tokensMax, tool_choice: "none" });
        if (callBegin(dialect, free.before) === undefined) expect(said).toEqual(free);
      }
    },
    timeoutMs,
  );

  test.each(servers)(
    "$dialect, narrowed: at most one call, of the allowed tools only",
    async ({ flags }) => {
      using model = await openModel(flags);
      const tools = [{ type: "function", function: { name: "find_all" } }];
      const narrowed = {
        max_tokens: tokensMax,
        parallel_tool_calls: false,
        tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools } },
      };
      for (const seed of seeds) {
        const { calls } = await say(model.model, { ...narrowed, seed });
        expect(calls.length).toBeLessThanOrEqual(1);
        expect(faultOfCalls(cases.slice(1, 2), calls)).toBeUndefined();
      }
    },
    timeoutMs,
  );
});

type Fields = { readonly seed: number; readonly [name: string]: unknown };

type Said = Pick<Answer, "calls" | "finish"> & {
  /** The text in front of the first call. */
  readonly before: string;
};

/** The answer to a request that offers all cases. */
async function say(model: Model, fields: Fields): Promise<Said> {
  const answer = unwrap(
    await generate(model, requestOf(fields), new AbortController().signal, { strictModels: false, log() {} }),
  );
  let before = "";
  let finish = "";
  const calls: { name: string; arguments: string }[] = [];
  for await (const event of answer.events) {
    if (event.kind === "text" && calls.length === 0) before += event.text;
    if (event.kind === "call_begin") calls.push({ name: event.name, arguments: "" });
    const call = calls.at(-1);
    if (event.kind === "call_arguments" && call !== undefined) call.arguments += event.text;
    if (event.kind === "finish") finish = event.reason.kind;
    if (event.kind === "failure") throw new Error(JSON.stringify(event.failure));
  }
  return { before, calls, finish };
}

function requestOf(fields: Fields): Request {
  const tools = cases.map(({ tool }) => tool);
  // What noise likes to say depends on the position, so prompts have many lengths.
  const messages = [{ role: "user", content: `Go on${" and on".repeat(fields.seed)}.` }];
  const body = { messages, tools, ...fields };
  return unwrap(decodeChat({ value: body, text: JSON.stringify(body) }, { id: "test", service: decodeService }))
    .request;
}

/** The same model, free to say anything. */
function unconstrained(model: Model): Model {
  return {
    ...model,
    constrain(request, prompt) {
      const constrained = model.constrain(request, prompt);
      return constrained.ok ? ok({ ...constrained.value, constraint: "none", ir: undefined }) : constrained;
    },
  };
}

/** A model of noise that is pulled towards calls of our tools, as the template's dialect begins them. */
async function openModel(flags: readonly string[]): Promise<Disposable & { readonly model: Model }> {
  const tenon = await startTenon(flags);
  await tenon.server.stop(0);
  const { loaded } = tenon;
  const { tokenizer } = loaded.model;
  const openings = cases.flatMap(({ name }) =>
    loaded.detection.dialect
      .encodings({ id: "", name, arguments: "{}" })
      .map((call) => call.slice(0, call.indexOf(`"${name}"`) + name.length + 2)),
  );
  const phrases = openings.map((opening) => [...tokenizer.encode(opening, { special: true })]);
  const library = unwrap(openLibrary(process.env["TENON_LIBRARY"] || libraryPath()));
  const vocabulary = unwrap(openVocabulary(library, tokenizer.vocabulary));
  const model = { kind: "noise", seed: 5, shape: "pulled", phrases } as const;
  const engine = unwrap(await openEngine({ vocabulary, model, contextMax: 4096 }));
  return {
    model: { ...loaded.model, engine },
    [Symbol.dispose]() {
      engine[Symbol.dispose]();
      vocabulary[Symbol.dispose]();
      loaded[Symbol.dispose]();
    },
  };
}

/** Tokens that a call may take in any case: its shortest form, and its opening written in as many tokens as it has letters. */
function shortestCall(model: Model): number {
  const request = requestOf({ seed: 0, tool_choice: "required" });
  const { ir } = unwrap(model.constrain(request, unwrap(model.render(request))));
  if (ir === undefined) throw new Error("a forced call without a grammar");
  using grammar = unwrap(model.engine.compile(ir));
  return grammar.costMin + 40;
}

/** Where the first call begins in a text that was read by nobody. */
function callBegin(dialect: string, said: string): number | undefined {
  const names = cases.map(({ name }) => name).join("|");
  const begins: Readonly<Record<string, RegExp>> = {
    hermes: /<tool_call>/,
    mistral_nemo: /\[TOOL_CALLS\]/,
    llama3_json: new RegExp(`(?<=^[ \\n\\r\\t]*)\\{ ?"name" ?: ?"(${names})"`),
  };
  return begins[dialect]?.exec(said)?.index;
}

function unwrap<T, F>(result: Result<T, F>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}
