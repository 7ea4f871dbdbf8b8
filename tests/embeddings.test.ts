import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OllamaEmbeddings } from "@langchain/ollama";
import { OpenAIEmbeddings } from "@langchain/openai";
import { embedMany } from "ai";
import { Ollama } from "ollama";
import { checkedFetch as ollamaFetch } from "./fixtures/checked-ollama.ts";
import { checkedClient, checkedFetch } from "./fixtures/checked-openai.ts";
import { asEmbedder, type Embedding, tinyEmbedder } from "./fixtures/embedding-model.ts";
import { fuzz } from "./fixtures/fuzz.ts";
import type { FixtureValue } from "./fixtures/gguf.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

// A real model on a busy machine.
setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "tenon-embeddings-"));
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A server on these bytes of a model, and one for each vendor's client over it. */
async function serve(bytes: Uint8Array, ...flags: string[]) {
  const path = join(folder, "vectors.gguf");
  writeFileSync(path, bytes);
  const tenon = await startTenon(["-m", path, ...flags], folder);
  stops.push(() => tenon.stop(0));
  const { client: openai, faults } = checkedClient(tenon.server.url);
  const { fetch: checked, faults: ollamaFaults } = ollamaFetch();
  const ollama = new Ollama({ host: tenon.server.url.origin, fetch: checked });
  const ask = async (route: string, body: object) => {
    const response = await fetch(new URL(route, tenon.server.url), { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  stops.push(async () => expect([...(await faults()), ...(await ollamaFaults())]).toEqual([]));
  return { tenon, openai, ollama, ask };
}

const model = "vectors";
const tiny = (embedding: Partial<Embedding> = {}, metadata: Readonly<Record<string, FixtureValue>> = {}) =>
  tinyEmbedder({ pooling: "mean", causal: true, ...embedding }, metadata);

test("the openai client: numbers and base64, texts and tokens, fewer dimensions, and what they cost", async () => {
  const { openai } = await serve(tiny());
  const create = async (input: string | string[] | number[] | number[][], rest: object = {}) => {
    const { data, usage } = await openai.embeddings.create({ model, input, ...rest });
    expect(data.map(({ index }) => index)).toEqual(data.map((_, index) => index));
    return { vectors: data.map(({ embedding }) => embedding.map((element) => Math.fround(element))), usage };
  };
  // Without a word the client asks for base64.
  const { vectors, usage } = await create(["abc", "c", "abc"]);
  const [first = [], second = [], third] = vectors;
  expect(usage).toEqual({ prompt_tokens: 5, total_tokens: 5 });
  for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  expect(first).toHaveLength(8);
  expect(third).toEqual(first);
  expect(second).not.toEqual(first);
  expect((await create("abc", { encoding_format: "float" })).vectors).toEqual([first]);
  expect((await create([2, 3])).vectors).toEqual([first]);
  expect(await create([[3], [2, 3]])).toEqual({
    vectors: [second, first],
    usage: { prompt_tokens: 3, total_tokens: 3 },
  });
  const [cut = []] = (await create("abc", { dimensions: 3 })).vectors;
  const norm = Math.hypot(...first.slice(0, 3));
  expect(cut).toHaveLength(3);
  for (const [index, element] of cut.entries()) expect(element).toBeCloseTo((first[index] ?? 0) / norm, 6);
});

test("the ollama client: embed with statistics, cut texts, dimensions; and the old form", async () => {
  const { ollama, tenon } = await serve(tiny());
  const one = await ollama.embed({ model, input: "abc" });
  expect(one).toMatchObject({ model: "vectors:latest", prompt_eval_count: 2, load_duration: 0 });
  expect(one.total_duration).toBeGreaterThan(0);
  const [vector = []] = one.embeddings;
  const many = await ollama.embed({ model, input: ["c", "abc"], dimensions: 2 });
  expect(many.prompt_eval_count).toBe(3);
  expect(many.embeddings.map(({ length }) => length)).toEqual([2, 2]);
  expect((await ollama.embed({ model, input: [] })).embeddings).toEqual([]);
  // What is too long is cut unless that is not wanted.
  const long = "c".repeat(100);
  const cut = await ollama.embed({ model, input: long });
  expect(cut.prompt_eval_count).toBe(64);
  expect(cut.embeddings).toEqual((await ollama.embed({ model, input: "c".repeat(64) })).embeddings);
  const short = await ollama.embed({ model, input: long, options: { num_ctx: 7 } });
  expect(short.prompt_eval_count).toBe(7);
  const refused = await ollama.embed({ model, input: long, truncate: false }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status_code: 400, message: expect.stringContaining("maximum context length is 64") });
  // Ollama's document does not have this route.
  const unchecked = new Ollama({ host: tenon.server.url.origin });
  expect((await unchecked.embeddings({ model, prompt: "abc" })).embedding).toEqual(vector);
  expect((await ollama.show({ model })).capabilities).toEqual(["embedding"]);
});

test("frameworks: ai over both of its providers, langchain over both shapes", async () => {
  const { tenon, openai } = await serve(tiny());
  const { data } = await openai.embeddings.create({ model, input: ["ab", "c"], encoding_format: "float" });
  const expected = data.map(({ embedding }) => embedding.map((element) => expect.closeTo(element, 6)));
  const { fetch: checked, faults } = checkedFetch();
  const baseURL = new URL("/v1", tenon.server.url).href;
  const connection = { baseURL, apiKey: "none", fetch: checked };
  for (const embedder of [
    createOpenAI(connection).embedding(model),
    createOpenAICompatible({ name: "tenon", ...connection }).embeddingModel(model),
  ]) {
    const { embeddings, usage } = await embedMany({ model: embedder, values: ["ab", "c"] });
    expect([embeddings, usage.tokens]).toEqual([expected, 2]);
  }
  const configuration = { baseURL, fetch: checked };
  expect(await new OpenAIEmbeddings({ model, apiKey: "none", configuration }).embedDocuments(["ab", "c"])).toEqual(
    expected,
  );
  const baseUrl = tenon.server.url.origin;
  expect(await new OllamaEmbeddings({ model, baseUrl }).embedDocuments(["ab", "c"])).toEqual(expected);
  expect(await faults()).toEqual([]);
});

test("poolings and directions are what the file says", async () => {
  const vectors: Record<string, readonly (readonly number[])[]> = {};
  for (const pooling of ["mean", "cls", "last"] as const) {
    for (const causal of [true, false]) {
      const { openai } = await serve(tiny({ pooling, causal }));
      const input = ["c", "ca", "cab", "ac"];
      const { data } = await openai.embeddings.create({ model, input, encoding_format: "float" });
      vectors[`${pooling} ${causal ? "causal" : "both"}`] = data.map(({ embedding }) => embedding);
    }
  }
  const of = (name: string, index: number) => vectors[name]?.[index] ?? [];
  // One token has one state, whatever is made of it.
  for (const name of Object.keys(vectors)) expect(of(name, 0)).toEqual(of("mean causal", 0));
  // The first token sees what follows only where it is not causal.
  expect(of("cls causal", 1)).toEqual(of("cls causal", 0));
  expect(of("cls causal", 2)).toEqual(of("cls causal", 0));
  expect(of("cls both", 1)).not.toEqual(of("cls both", 0));
  // The last token sees everything before it in any case.
  expect(of("last causal", 2)).toEqual(of("last both", 2));
  expect(of("last causal", 1)).not.toEqual(of("cls causal", 1));
  expect(of("mean causal", 2)).not.toEqual(of("mean both", 2));
});

test("a text begins and ends with the tokens that the file asks for", async () => {
  const flag = (value: number) => ({ type: "bool", value }) as const;
  const { openai } = await serve(
    tiny(
      {},
      {
        "tokenizer.ggml.bos_token_id": { type: "u32", value: 4 },
        "tokenizer.ggml.add_bos_token": flag(1),
        "tokenizer.ggml.add_eos_token": flag(1),
      },
    ),
  );
  const { data, usage } = await openai.embeddings.create({ model, input: ["c", "c"], encoding_format: "float" });
  expect(usage.prompt_tokens).toBe(6);
  const tokens = await openai.embeddings.create({ model, input: [4, 3, 4], encoding_format: "float" });
  expect(tokens.data[0]?.embedding).toEqual(data[0]?.embedding ?? []);
});

test("what cannot be embedded is refused by name", async () => {
  const { ask } = await serve(tiny(), "--strict-models");
  const long = "c".repeat(65);
  const error = { param: "input", code: "context_length_exceeded", n_prompt_tokens: 65, n_ctx: 64 };
  expect(await ask("/v1/embeddings", { input: ["a", long] })).toMatchObject({
    status: 400,
    body: { error: { ...error, message: expect.stringContaining("maximum context length is 64 tokens") } },
  });
  expect(await ask("/v1/embeddings", { input: [[3, 5]] })).toMatchObject({
    status: 400,
    body: { error: { param: "input", message: "Invalid value for 'input': the model has no token 5." } },
  });
  expect(await ask("/v1/embeddings", { input: "a", dimensions: 9 })).toMatchObject({
    status: 400,
    body: { error: { param: "dimensions", message: "Invalid value for 'dimensions': the model's embeddings have 8." } },
  });
  expect(await ask("/v1/embeddings", { input: "a", model: "other" })).toMatchObject({ status: 404 });
  expect(await ask("/api/embeddings", { model, prompt: long })).toMatchObject({ status: 400 });
});

test("an embedding model answers nothing, in any shape", async () => {
  const { ask, tenon } = await serve(tiny());
  const messages = [{ role: "user", content: "abc" }];
  const message = "The model 'vectors' is an embedding model: it gives vectors of texts, and no answers.";
  const asked = [
    ["/v1/chat/completions", { messages }],
    ["/v1/completions", { prompt: "abc" }],
    ["/v1/responses", { input: "abc" }],
    ["/v1/messages", { messages, max_tokens: 5 }],
    ["/api/chat", { model, messages }],
    ["/api/generate", { model, prompt: "abc" }],
  ] as const;
  for (const [route, body] of asked) {
    for (const stream of [true, false]) {
      const { status, body: answer } = await ask(route, { ...body, stream });
      expect([status, JSON.stringify(answer)]).toEqual([400, expect.stringContaining(message)]);
    }
  }
  const { data } = JSON.parse(await (await fetch(new URL("/v1/models", tenon.server.url))).text());
  expect(data).toMatchObject([{ id: "vectors", capabilities: ["embedding"] }]);
});

test("metrics count texts and their tokens, and the log names none of them", async () => {
  const { tenon, openai } = await serve(tiny());
  await openai.embeddings.create({ model, input: ["abc", "c"] });
  const metrics = await (await fetch(new URL("/metrics", tenon.server.url))).text();
  expect(metrics).toContain("\ntenon_embeddings_total 2\n");
  expect(metrics).toContain("\nllamacpp:prompt_tokens_total 3\n");
  expect(tenon.logged.slice(0, 2).map(([, event]) => event)).toEqual(["embeddings", "request"]);
  expect(tenon.logged[0]?.[2]).toMatchObject({ texts: 2, prompt_tokens: 3 });
});

test("whatever a body says, no route fails", async () => {
  const { tenon } = await serve(tiny({ causal: false }));
  const seed = Number(process.env["TENON_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`seed ${seed}`);
  const report = await fuzz(tenon.server.url, { seed, bodies: 500, clients: 8 });
  expect(report.faults).toEqual([]);
  expect(tenon.logged.filter(([, event, fields]) => event === "bug" || fields?.["reason"] === "engine")).toEqual([]);
  // Two routes of thirty, and half of the bodies stay as they are.
  expect(report.reached).toBeGreaterThan(5);
  expect(tenon.loaded.model.engine.stats()).toMatchObject({ running: 0, queued: 0, grammars: 0 });
});

const real = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (real === undefined) console.log("skipped: embeddings by real weights need the default model");

describe.skipIf(real === undefined)("the default model's weights (skipped without them)", () => {
  const texts = [
    "The cat sat on the mat.",
    "A cat is sitting on a rug.",
    "Interest rates rose by half a point in March.",
    // More than a chunk.
    "It was the best of times, it was the worst of times. ".repeat(30),
  ];

  test.each([true, false])(
    "causal: %p. Vectors are the same alone and together, and like texts are alike",
    async (causal) => {
      const { openai, tenon } = await serve(asEmbedder(readFileSync(real ?? ""), { pooling: "mean", causal }));
      const create = async (input: string[]) =>
        (await openai.embeddings.create({ model, input, encoding_format: "float" })).data.map(
          ({ embedding }) => embedding,
        );
      const alone: number[][] = [];
      for (const text of texts) alone.push(...(await create([text])));
      const together = await Promise.all([create(texts), create(texts.toReversed())]);
      expect(together).toEqual([alone, alone.toReversed()]);
      const likeness = (a: number, b: number) =>
        (alone[a] ?? []).reduce((sum, element, index) => sum + element * (alone[b]?.[index] ?? 0), 0);
      expect(likeness(0, 0)).toBeCloseTo(1, 5);
      // It was trained to read in one direction.
      if (causal) expect(likeness(0, 1)).toBeGreaterThan(likeness(0, 2));
      expect(tenon.loaded.model.engine.stats()).toMatchObject({ running: 0, cacheBytes: 0 });
    },
  );
});
