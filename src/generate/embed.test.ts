import { expect, test } from "bun:test";
import { type Script, scriptedEngine } from "../engine/scripted.ts";
import { embeddingTokensMax } from "../limits.ts";
import { byteTokenizer } from "../tokenizer/bytes.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { type EmbedContext, embed } from "./embed.ts";
import type { Model } from "./model.ts";

type Logged = Parameters<EmbedContext["log"]>;

/** A model whose vector of a text is its tokens, in pieces. 254 is its BOS, 255 its EOS. */
function modelOf({
  vector = (tokens) => vectorScript([...tokens]),
  tokenizer = {},
  contextMax = 8,
}: {
  readonly vector?: NonNullable<Parameters<typeof scriptedEngine>[0]["vector"]>;
  readonly tokenizer?: Partial<Tokenizer>;
  readonly contextMax?: number;
} = {}) {
  const read: number[][] = [];
  const engine = scriptedEngine({
    vocabularyCount: 256,
    contextMax,
    script: () => ({ kind: "invalid", message: "no answers" }),
    vector: (tokens) => {
      read.push([...tokens]);
      return vector(tokens);
    },
  });
  const unused = () => {
    throw new Error("unused");
  };
  const model: Model = {
    id: "vectors",
    engine,
    tokenizer: { ...byteTokenizer, bos: 254, eos: 255, ...tokenizer },
    render: unused,
    constrain: unused,
    processors: [],
    embeds: true,
  };
  const logged: Logged[] = [];
  const ended: number[] = [];
  const run = (inputs: Parameters<typeof embed>[1], context: Partial<EmbedContext> = {}) =>
    embed(model, inputs, {
      id: "r",
      model: undefined,
      truncate: false,
      signal: new AbortController().signal,
      atOnce: 2,
      log: (...entry) => logged.push(entry),
      ended: ({ promptTokens }) => ended.push(promptTokens),
      ...context,
    });
  return { run, engine, read, logged, ended };
}

function vectorScript(elements: readonly number[]): Script {
  const half = Math.ceil(elements.length / 2);
  return {
    events: [elements.slice(0, half), elements.slice(half)].map((part) => ({
      kind: "embedding",
      elements: Float32Array.from(part),
    })),
    finish: "complete",
  };
}

test("each text has its vector, in order, however many run at once", async () => {
  for (const atOnce of [1, 2, 9]) {
    const { run, read, ended, logged } = modelOf();
    const embedded = await run(["ab", Uint32Array.of(7, 8, 9), "c"], { atOnce });
    expect(embedded).toEqual({
      ok: true,
      value: { vectors: [Float32Array.of(97, 98), Float32Array.of(7, 8, 9), Float32Array.of(99)], promptTokens: 6 },
    });
    expect(read).toHaveLength(3);
    expect(ended).toHaveLength(3);
    expect(logged).toMatchObject([["info", "embeddings", { request: "r", texts: 3, prompt_tokens: 6 }]]);
  }
  expect(await modelOf().run([])).toEqual({ ok: true, value: { vectors: [], promptTokens: 0 } });
});

test("texts begin and end as the model wants them, tokens stay as they are", async () => {
  const { run, read } = modelOf({ tokenizer: { addBos: true, addEos: true } });
  await run(["a", Uint32Array.of(7)]);
  expect(read).toEqual([[254, 97, 255], [7]]);
});

test("what is too long is refused, or cut so that it still begins and ends as it should", async () => {
  const { run, read } = modelOf({ contextMax: 4, tokenizer: { addBos: true, addEos: true } });
  const message = "This model's maximum context length is 4 tokens. However, input 1 has 5 tokens.";
  expect(await run(["ab", "abc"])).toEqual({
    ok: false,
    failure: { kind: "context", message, promptTokens: 5, contextMax: 4, param: "input" },
  });
  expect(read).toEqual([]);
  expect(await run(["abc", "abcdefgh"], { truncate: true })).toMatchObject({ ok: true, value: { promptTokens: 8 } });
  expect(read).toEqual([
    [254, 97, 98, 255],
    [254, 97, 98, 255],
  ]);
  expect(await run(["a"], { contextMax: 2 })).toMatchObject({ ok: false, failure: { contextMax: 2 } });
});

const half = new Uint32Array(embeddingTokensMax / 2 + 1);

test.each([
  [["a", new Uint32Array()], "Invalid value for 'input': input 1 is empty."],
  [["a", Uint32Array.of(256)], "Invalid value for 'input': the model has no token 256."],
  [[half, half], `Invalid value for 'input': the texts of one request may have ${embeddingTokensMax} tokens together.`],
])("what cannot be embedded is refused before anything is computed", async (inputs, message) => {
  const { run, read } = modelOf({ contextMax: embeddingTokensMax });
  expect(await run(inputs)).toEqual({
    ok: false,
    failure: { kind: "invalid", message, param: "input", code: "invalid_value" },
  });
  expect(read).toEqual([]);
});

test("where one text fails, those beside it are cancelled and the failure is its own", async () => {
  const stuck: Script = { ...vectorScript([1]), pace: () => new Promise(() => {}) };
  for (const [last, failure] of [
    [{ kind: "overloaded" }, { kind: "overloaded" }],
    [
      { events: [], finish: "failed" },
      { kind: "engine", message: "The engine failed: failed." },
    ],
    [
      { kind: "context", needed: 9, contextMax: 8 },
      { kind: "context", param: "input" },
    ],
  ] as const) {
    const { run, engine, logged } = modelOf({ vector: ([first]) => (first === 97 ? stuck : last) });
    expect(await run(["a", "b", "b"])).toMatchObject({ ok: false, failure });
    expect(engine.stats().running).toBe(0);
    expect(logged).toMatchObject([[expect.anything(), "embeddings_failed", { request: "r", reason: failure.kind }]]);
  }
});

test("a client that leaves cancels all of it", async () => {
  const gone = new AbortController();
  const { run, engine, read } = modelOf({
    vector: () => {
      queueMicrotask(() => gone.abort());
      return { ...vectorScript([1]), pace: () => new Promise(() => {}) };
    },
  });
  expect(await run(["a", "b", "c"], { signal: gone.signal, atOnce: 1 })).toEqual({
    ok: false,
    failure: { kind: "cancelled" },
  });
  expect(engine.stats().running).toBe(0);
  expect(read).toHaveLength(1);
});
