import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatResponse, GenerateResponse } from "ollama";
import { ok } from "../src/generation/result.ts";
import { openModelStore } from "../src/models/store.ts";
import { type Chat, call, detail, script, startChat, stuck } from "./fixtures/chat.ts";
import { checkedClient } from "./fixtures/checked-ollama.ts";
import { tinyEmbedder } from "./fixtures/embedding-model.ts";
import { ggufBytes, tinyModel } from "./fixtures/gguf.ts";

let chat: Chat | undefined;
let faults: (() => Promise<readonly string[]>) | undefined;
let models: string;
beforeEach(() => {
  models = mkdtempSync(join(tmpdir(), "tenon-ollama-"));
});
afterEach(async () => {
  expect((await faults?.()) ?? []).toEqual([]);
  await chat?.server.stop(0);
  chat = undefined;
  rmSync(models, { recursive: true });
});

function connect(...[next, options]: Parameters<typeof startChat>) {
  chat = startChat(next, { models, ...options });
  const checked = checkedClient(chat.server.url);
  ({ faults } = checked);
  return { client: checked.client, ...chat };
}

const model = "any";
const messages = [{ role: "user", content: "What is the weather in Łódź?" }];
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { type: "function", function: { name: "weather", description: "Weather", parameters: schema } };
const statistics = {
  load_duration: 0,
  prompt_eval_count: 3,
  prompt_eval_duration: 4e6,
  eval_count: 2,
  eval_duration: 8e6,
};

test("a chat", async () => {
  const { client } = connect(() => script([["text", "Grüße 🌍"]]));
  const answer = await client.chat({ model, messages });
  expect(answer).toMatchObject({
    model: "replay:latest",
    message: { role: "assistant", content: "Grüße 🌍" },
    done: true,
    done_reason: "stop",
    ...statistics,
  });
  expect(Number.isNaN(new Date(answer.created_at).getTime())).toBe(false);
  expect(answer.total_duration).toBeGreaterThan(0);
});

test("a stream, whose last line has the statistics", async () => {
  const { client } = connect(() =>
    script([
      ["reasoning", "Hm."],
      ["text", "Grüße "],
      ["text", "🌍"],
    ]),
  );
  const parts: ChatResponse[] = [];
  for await (const part of await client.chat({ model, messages, stream: true })) parts.push(part);
  expect(parts.map(({ message }) => message.thinking ?? message.content)).toEqual(["Hm.", "Grüße ", "🌍", ""]);
  expect(parts.map(({ done }) => done)).toEqual([false, false, false, true]);
  expect(parts.at(-1)).toMatchObject({ done_reason: "stop", ...statistics });
  const whole = await client.chat({ model, messages });
  expect(whole.message).toEqual({ role: "assistant", content: "Grüße 🌍", thinking: "Hm." });
});

test("calls come whole, with arguments that are objects, and their results go back", async () => {
  const scripts = [
    () => script([...call(0, "weather", '{"city":"Łódź"}'), ...call(1, "weather", '{"city":"a"}')]),
    () => script([["text", "Rain."]]),
  ];
  const { client, requests } = connect(() => (scripts.shift() ?? (() => script([])))());
  const stream = await client.chat({ model, messages, tools: [weather], stream: true });
  const said: ChatResponse["message"][] = [];
  let reason = "";
  for await (const { message, done_reason } of stream) {
    if (message.tool_calls) said.push(message);
    reason = done_reason;
  }
  expect(reason).toBe("stop");
  expect(said.map(({ tool_calls }) => tool_calls?.map((each) => each.function))).toMatchObject([
    [{ name: "weather", arguments: { city: "Łódź" } }],
    [{ name: "weather", arguments: { city: "a" } }],
  ]);
  const results = said.map(() => ({ role: "tool", tool_name: "weather", content: "rain" }));
  const answer = await client.chat({ model, messages: [...messages, ...said, ...results], tools: [weather] });
  expect(answer.message.content).toBe("Rain.");
  expect(Buffer.from(requests[1]?.tokens ?? []).toString()).toContain('"role":"tool","content":"rain","callId":"call_');
});

test("tool_choice, which is ours, forces", async () => {
  const { client, requests } = connect(() => script(call(0, "weather", '{"city":"a"}')));
  const answer = await client.chat(Object.assign({ model, messages, tools: [weather] }, { tool_choice: "required" }));
  expect(answer.message.tool_calls?.length).toBe(1);
  expect(requests[0]?.grammar).toBeDefined();
  const missing = client.chat(Object.assign({ model, messages }, { tool_choice: "required" }));
  expect(await errorOf(missing)).toMatchObject({ name: "ResponseError", status_code: 400 });
});

test("a format, thoughts and log-probabilities", async () => {
  const thinks = {
    service: { describe: () => ({ ...detail, capabilities: ["completion", "tools", "thinking"] as const }) },
  };
  const { client, requests } = connect(() => script([["text", '{"city":"a"}']], "complete"), thinks);
  const answer = await client.chat({ model, messages, format: schema, think: "high", logprobs: true, top_logprobs: 2 });
  expect(JSON.parse(answer.message.content)).toEqual({ city: "a" });
  expect(requests[0]).toMatchObject({ logprobs: 2 });
  expect(requests[0]?.grammar).toBeDefined();
});

test("options reach the engine", async () => {
  const { client, requests } = connect(() => script([["text", "one END two"]], "length"));
  const options = { temperature: 0.5, top_k: 3, top_p: 0.5, min_p: 0.1, seed: 7, num_predict: 9, stop: ["END"] };
  const answer = await client.chat({ model, messages, options });
  expect(answer).toMatchObject({ message: { content: "one " }, done_reason: "stop" });
  expect(requests[0]).toMatchObject({ temperature: 0.5, topK: 3, topP: 0.5, minP: 0.1, seed: 7, tokensMax: 9 });
  expect(await client.chat({ model, messages })).toMatchObject({ done_reason: "length" });
});

test("num_ctx ends prompt and answer together, and what does not fit is refused or truncated", async () => {
  const { client, requests } = connect(() => script([["text", "a"]]));
  const promptTokens = Buffer.byteLength(JSON.stringify(messages));
  await client.chat({ model, messages, options: { num_ctx: promptTokens + 5 } });
  expect(requests[0]?.tokensMax).toBe(5);
  await client.chat({ model, messages, options: { num_ctx: 1_000_000, num_predict: 3 } });
  expect(requests[1]?.tokensMax).toBe(3);
  const full = client.chat({ model, messages, options: { num_ctx: promptTokens } });
  expect(await errorOf(full)).toMatchObject({
    status_code: 400,
    message: expect.stringContaining("as 'num_ctx' asks"),
  });
  const long = [{ role: "user", content: "x".repeat(200) }, { role: "assistant", content: "ok" }, ...messages];
  const asked = { model, messages: long, options: { num_ctx: 200 } };
  expect(await errorOf(client.chat(asked))).toMatchObject({ status_code: 400 });
  await client.chat(Object.assign(asked, { truncate: true }));
  expect(Buffer.from(requests.at(-1)?.tokens ?? []).toString()).toBe(JSON.stringify(messages));
});

test("a generation, its stream, and another one that goes on from its context", async () => {
  const events = [
    { kind: "token", token: 72, logprob: -1, top: [] },
    { kind: "bytes", channel: "text", call: 0, bytes: Buffer.from("H") },
    { kind: "token", token: 105, logprob: -2, top: [] },
    { kind: "bytes", channel: "text", call: 0, bytes: Buffer.from("i") },
  ] as const;
  const { client, requests } = connect(() => ({ ...script([]), events }));
  const answer = await client.generate({ model, prompt: "Hello", system: "Be kind." });
  expect(answer).toMatchObject({ response: "Hi", done: true, done_reason: "stop", ...statistics });
  const prompt = JSON.stringify([
    { role: "system", content: "Be kind." },
    { role: "user", content: "Hello" },
  ]);
  expect(Buffer.from(answer.context).toString()).toBe(`${prompt}Hi`);
  const parts: GenerateResponse[] = [];
  const more = { model, prompt: "And?", context: answer.context, stream: true } as const;
  for await (const part of await client.generate(more)) parts.push(part);
  expect(parts.map(({ response }) => response).join("")).toBe("Hi");
  const turn = JSON.stringify([{ role: "user", content: "And?" }]);
  expect([...(requests[1]?.tokens ?? [])]).toEqual([...answer.context, ...Buffer.from(turn)]);
  expect(parts.at(-1)?.context).toEqual([...(requests[1]?.tokens ?? []), 72, 105]);
  expect(await errorOf(client.generate({ model, prompt: "x", context: [256] }))).toMatchObject({ status_code: 400 });
  const raw = await client.generate({ model, prompt: "as it stands", raw: true });
  expect(Buffer.from(raw.context).toString()).toBe("as it standsHi");
});

test("what asks for nothing loads, and unloads nothing", async () => {
  const { client, requests } = connect(() => script([]));
  expect(await client.generate({ model, prompt: "" })).toMatchObject({ response: "", done: true, done_reason: "load" });
  expect(await client.chat({ model, keep_alive: 0 })).toMatchObject({ done: true, done_reason: "unload" });
  const stream = await client.chat({ model, stream: true });
  expect((await Array.fromAsync(stream)).map(({ done_reason }) => done_reason)).toEqual(["load"]);
  expect(requests).toEqual([]);
});

test("embeddings, in both of their forms", async () => {
  const vectors = [Float32Array.of(0.6, 0.8, 0), Float32Array.of(0, 0, 1)];
  const embed = async (inputs: readonly unknown[]) => ok({ vectors: vectors.slice(0, inputs.length), promptTokens: 5 });
  const { client } = connect(() => script([]), { service: { embed } });
  const both = await client.embed({ model, input: ["a", "b"] });
  expect(both).toMatchObject({ model: "replay:latest", prompt_eval_count: 5, load_duration: 0 });
  expect(both.embeddings.map((vector) => vector.length)).toEqual([3, 3]);
  const cut = await client.embed({ model, input: "a", dimensions: 1, truncate: true, keep_alive: "5m" });
  expect(cut.embeddings).toEqual([[1]]);
});

test("the old form of embeddings", async () => {
  const embed = async () => ok({ vectors: [Float32Array.of(1, 0)], promptTokens: 1 });
  chat = startChat(() => script([]), { service: { embed } });
  const { Ollama } = await import("ollama");
  // Ollama's document does not have this route.
  expect(await new Ollama({ host: chat.server.url.origin }).embeddings({ model, prompt: "a" })).toEqual({
    embedding: [1, 0],
  });
});

test("a model that gives no embeddings says so", async () => {
  const { client } = connect(() => script([]));
  expect(await errorOf(client.embed({ model, input: "a" }))).toMatchObject({
    status_code: 400,
    message: expect.stringContaining("no embedding model"),
  });
});

const { metadata, tensors } = tinyModel("qwen2");
const weights = ggufBytes(metadata, tensors);

test("models are listed, shown, made, copied and deleted", async () => {
  writeFileSync(join(models, "Tiny-Q8_0.gguf"), weights);
  const { client, requests } = connect(() => script([["text", "It's me!"]]));
  const names = async () => (await client.list()).models.map(({ name }) => name);
  expect(await names()).toEqual(["Tiny-Q8_0:latest", "replay:latest"]);
  expect((await client.list()).models[0]).toMatchObject({
    size: weights.length,
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    details: { format: "gguf", family: "qwen2", families: ["qwen2"], quantization_level: "F32", parent_model: "" },
  });
  const { models: running } = await client.ps();
  expect(running).toMatchObject([{ name: "replay:latest", size: 1000, size_vram: 0, context_length: 4096 }]);

  const parameters = { temperature: 0.25, stop: ["END", "STOP"] };
  const made = { model: "mario", from: "replay", system: "You are Mario.", parameters, license: "MIT" };
  expect(await client.create(made)).toMatchObject({ status: "success" });
  const statuses: string[] = [];
  for await (const { status } of await client.create({ ...made, stream: true })) statuses.push(status);
  expect(statuses).toEqual([expect.stringMatching(/^using existing layer sha256:/), "writing manifest", "success"]);
  const shown = await client.show({ model: "mario" });
  expect(shown).toMatchObject({
    system: "You are Mario.",
    license: "MIT",
    details: { parent_model: "replay:latest", family: "llama", parameter_size: "2.00K", quantization_level: "Q4_0" },
    model_info: { "general.architecture": "llama", "llama.context_length": 8192 },
    capabilities: ["completion", "tools"],
  });
  expect(shown.parameters.split("\n").map((line) => line.split(/ +/))).toEqual([
    ["temperature", "0.25"],
    ["stop", '"END"'],
    ["stop", '"STOP"'],
  ]);
  expect(shown.modelfile).toContain("FROM replay\n");

  const answer = await client.chat({ model: "mario", messages });
  expect(answer).toMatchObject({ model: "mario:latest", message: { content: "It's me!" } });
  expect(requests[0]).toMatchObject({ temperature: 0.25 });
  expect(Buffer.from(requests[0]?.tokens ?? []).toString()).toStartWith(
    '[{"role":"system","content":"You are Mario."}',
  );

  await client.copy({ source: "mario", destination: "luigi:v1" });
  expect(await names()).toEqual(["Tiny-Q8_0:latest", "luigi:v1", "mario:latest", "replay:latest"]);
  await client.delete({ model: "mario:latest" });
  await client.delete({ model: "tiny:Q8_0" });
  expect(await names()).toEqual(["luigi:v1", "replay:latest"]);
  expect(readdirSync(models)).toEqual(["derived"]);
  expect(await client.show({ model: "replay" })).toMatchObject({ template: detail.template ?? "", parameters: "" });
});

test("a model that is not loaded says whether it answers or embeds", async () => {
  writeFileSync(join(models, "Tiny-Q8_0.gguf"), weights);
  writeFileSync(join(models, "Vectors.gguf"), tinyEmbedder({ pooling: "mean", causal: false }));
  const { client } = connect(() => script([]));
  expect((await client.show({ model: "tiny:Q8_0" })).capabilities).toEqual(["completion", "tools"]);
  expect((await client.show({ model: "vectors" })).capabilities).toEqual(["embedding"]);
});

test("a model that is here and not loaded does not let another one answer for it", async () => {
  writeFileSync(join(models, "Tiny-Q8_0.gguf"), weights);
  const { client } = connect(() => script([]));
  expect(await errorOf(client.chat({ model: "tiny", messages }))).toMatchObject({
    status_code: 400,
    message: "model 'tiny' is not loaded: this server runs 'replay', and another one with '-m Tiny-Q8_0'",
  });
});

test("a pull tells how far it is, and why it failed", async () => {
  const text = "GGUF".repeat(1000);
  const oid = createHash("sha256").update(text).digest("hex");
  const entry = { type: "file", path: "A-Q4_K_M.gguf", size: 4000, oid: "1", lfs: { oid, size: 4000, pointerSize: 1 } };
  const hub = async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const url = String(input);
    if (!url.includes("own")) throw new Error("Unable to connect");
    if (url.includes("/tree/")) return Response.json([entry]);
    const ranged = new Headers(init?.headers).get("range") === "bytes=0-0";
    return new Response(ranged ? "G" : text, {
      status: ranged ? 206 : 200,
      headers: { etag: oid, "content-range": "bytes 0-0/4000" },
    });
  };
  const loaded = { ...detail };
  const stub = { fetch: Object.assign(hub, { preconnect: fetch.preconnect }) };
  const { client } = connect(() => script([]), {
    service: { store: openModelStore({ folder: models, loaded, hub: stub }) },
  });
  const lines: object[] = [];
  for await (const line of await client.pull({ model: "hf.co/own/A-GGUF", stream: true })) lines.push(line);
  expect(lines.at(0)).toEqual({ status: "pulling manifest" });
  expect(lines.at(1)).toEqual({
    status: `pulling ${oid.slice(0, 12)}`,
    digest: `sha256:${oid}`,
    total: 4000,
    completed: 0,
  });
  expect(lines.slice(-4)).toMatchObject([
    { completed: 4000 },
    { status: "verifying sha256 digest" },
    { status: "writing manifest" },
    { status: "success" },
  ]);
  expect(readdirSync(models)).toEqual(["A-Q4_K_M.gguf"]);
  expect(await client.pull({ model: "own/A-GGUF", insecure: true })).toMatchObject({ status: "success" });
  expect(await errorOf(client.pull({ model: "llama3.2" }))).toMatchObject({ status_code: 400 });
  const offline = { message: "cannot pull a/b: Unable to connect" };
  expect(await errorOf(client.pull({ model: "a/b" }))).toMatchObject({ status_code: 500, ...offline });
  const failing = Array.fromAsync(await client.pull({ model: "a/b", stream: true }));
  expect(await errorOf(failing)).toMatchObject(offline);
});

test("what is not done is refused by name", async () => {
  const { client } = connect(() => script([]));
  const messageOf = async (promise: Promise<unknown>) => {
    const error = await errorOf(promise);
    return error instanceof Error ? error.message : "";
  };
  expect(await errorOf(client.push({ model }))).toMatchObject({ status_code: 403 });
  expect(await messageOf(client.create({ model: "x", from: "replay", quantize: "q4_0" }))).toBe(
    "'quantize' is not supported: weights are not quantised.",
  );
  expect(await messageOf(client.create({ model: "x", from: "nobody" }))).toBe("model 'nobody' not found");
  expect(await messageOf(client.create({ model: "../x", from: "replay" }))).toBe("invalid model name '../x'");
  expect(await messageOf(client.create({ model: "x" }))).toBe("neither 'from' or 'files' was specified");
  expect(await messageOf(client.create({ model: "x", from: "replay", parameters: { top_k: "all" } }))).toStartWith(
    "Invalid type for 'parameters.top_k'",
  );
  expect(await messageOf(client.create({ model: "x", from: "replay", parameters: { magic: 1 } }))).toBe(
    "unknown parameter 'magic'",
  );
  expect(await messageOf(client.delete({ model: "replay" }))).toBe("'replay' is loaded");
  expect(await messageOf(client.show({ model: "" }))).toBe("model is required");
  expect(await messageOf(client.generate({ model, prompt: "x", suffix: "y" }))).toStartWith(
    "'suffix' is not supported",
  );
  const images = ["aGk="];
  expect(await messageOf(client.generate({ model, prompt: "x", images }))).toBe("image input is not supported");
  expect(await messageOf(client.chat({ model, messages, think: true }))).toBe(
    '"replay:latest" does not support thinking',
  );
  expect(await messageOf(client.chat({ model, messages, format: "xml" }))).toStartWith("invalid format");
});

test("errors: names under --strict-models, and a full queue", async () => {
  const { client } = connect(() => ({ kind: "overloaded" }), { strictModels: true });
  expect(await errorOf(client.chat({ model: "llama3.2", messages }))).toMatchObject({
    status_code: 404,
    message: "model 'llama3.2' not found",
  });
  expect(await errorOf(client.chat({ model: "replay:latest", messages }))).toMatchObject({
    status_code: 503,
    message: "server busy, please try again.  maximum pending requests exceeded",
  });
});

test("a failure in a stream is thrown, and is the last line", async () => {
  const { client, server } = connect(() => script([["text", "a"]], "failed"));
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { message } of await client.chat({ model, messages, stream: true })) seen.push(message.content);
  })();
  expect(await errorOf(reading)).toMatchObject({ message: expect.stringContaining("The engine failed") });
  expect(seen).toEqual(["a"]);
  const body = JSON.stringify({ messages });
  const raw = await (await fetch(new URL("/api/chat", server.url), { method: "POST", body })).text();
  expect(raw).toEndWith('{"error":"The engine failed: no reason given."}\n');
  expect(await errorOf(client.chat({ model, messages }))).toMatchObject({ status_code: 500 });
});

test("an abort cancels the engine, and a server that stops says so in the last line", async () => {
  const { client, engine, logged, server } = connect(() => stuck([["text", "a"]]));
  const stream = await client.chat({ model, messages, stream: true });
  const aborted = errorOf(
    (async () => {
      for await (const _ of stream) stream.abort();
    })(),
  );
  expect(await aborted).toMatchObject({ name: "AbortError" });
  while (!logged.some(([, event]) => event === "answer_failed")) await new Promise((resolve) => setImmediate(resolve));
  expect(engine.stats().running).toBe(0);

  const body = JSON.stringify({ messages });
  const response = await fetch(new URL("/api/chat", server.url), { method: "POST", body });
  const text = response.text();
  await server.stop(0);
  expect(await text).toEndWith('{"error":"the request was cancelled"}\n');
});

function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(promise).then(
    () => undefined,
    (error: unknown) => error,
  );
}
