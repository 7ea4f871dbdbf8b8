import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Chat, detail, script, startChat } from "./fixtures/chat.ts";

/** A model that was made through Ollama's shape is one of every shape: it is listed, answers under its name, and says its own. */

const models = mkdtempSync(join(tmpdir(), "tenon-made-"));
afterAll(() => rmSync(models, { recursive: true }));
let chat: Chat;
const answer = script([["text", "It's-a me END!"]]);
beforeAll(async () => {
  chat = startChat(() => answer, { models, strictModels: true });
  const made = await post("/api/create", {
    model: "mario",
    from: detail.id,
    system: "You are Mario.",
    parameters: { temperature: 0.25, seed: 3, num_predict: 40, num_ctx: 3000, stop: ["END"] },
    messages: [{ role: "user", content: "Who?" }],
    stream: false,
  });
  expect(made).toEqual({ status: "success" });
});
afterAll(() => chat.server.stop(0));

async function ask(path: string, init?: RequestInit) {
  const response = await fetch(new URL(path, chat.server.url), init);
  return JSON.parse(await response.text());
}
const post = (path: string, body: object) => ask(path, { method: "POST", body: JSON.stringify(body) });

const messages = [{ role: "user", content: "Hi" }];
const prompt = JSON.stringify([
  { role: "system", content: "You are Mario." },
  { role: "user", content: "Who?" },
  ...messages,
]);
const anthropic = { headers: { "anthropic-version": "2023-06-01" } };

test.each([
  ["/v1/chat/completions", { messages }, "mario"],
  ["/v1/responses", { input: "Hi" }, "mario"],
  ["/v1/messages", { messages, max_tokens: 40 }, "mario"],
  ["/api/chat", { messages, stream: false }, "mario:latest"],
  ["/api/generate", { prompt: "Hi", stream: false }, "mario:latest"],
])("%s answers as it, under its name", async (path, body, name) => {
  for (const model of ["mario", "Mario:latest"]) {
    const told = await post(path, { model, ...body });
    expect(told).toMatchObject({ model: name });
    expect(JSON.stringify(told)).toContain("It's-a me ");
    expect(JSON.stringify(told)).not.toContain("me END");
    const asked = chat.requests.at(-1);
    expect(Buffer.from(asked?.tokens ?? []).toString()).toBe(prompt);
    expect(asked).toMatchObject({ temperature: 0.25, seed: 3, tokensMax: 40 });
  }
});

test.each([
  ["/v1/chat/completions", { messages, temperature: 1, max_tokens: 7, stop: [] }],
  ["/v1/completions", { prompt: "Hi", temperature: 1, max_tokens: 7, stop: [] }],
  ["/v1/responses", { input: "Hi", temperature: 1, max_output_tokens: 7, stop: [] }],
  ["/v1/messages", { messages, temperature: 1, max_tokens: 7, stop_sequences: [] }],
  ["/api/chat", { messages, stream: false, options: { temperature: 1, num_predict: 7, stop: [] } }],
])("%s: what the request says comes first", async (path, body) => {
  const told = await post(path, { model: "mario", ...body });
  expect(JSON.stringify(told)).toContain("It's-a me END!");
  expect(chat.requests.at(-1)).toMatchObject({ temperature: 1, seed: 3, tokensMax: 7 });
});

test("a prompt of one's own gets its parameters, several answers a seed each, and a response says how it was made", async () => {
  await post("/v1/completions", { model: "mario", prompt: "Hi" });
  expect(chat.requests.at(-1)).toMatchObject({ tokensMax: 40, tokens: Uint32Array.from(Buffer.from("Hi")) });
  await post("/v1/chat/completions", { model: "mario", messages, n: 3 });
  expect(chat.requests.slice(-3).map(({ seed }) => seed)).toEqual([3, 4, 5]);
  expect(await post("/v1/responses", { model: "mario", input: "Hi" })).toMatchObject({ temperature: 0.25, top_p: 1 });
});

test("its context ends prompt and answer together in every shape", async () => {
  const long = "x".repeat(2950);
  for (const [path, body] of [
    ["/v1/chat/completions", { messages: [{ role: "user", content: long }] }],
    ["/v1/responses", { input: long }],
    ["/v1/messages", { messages: [{ role: "user", content: long }], max_tokens: 10 }],
    ["/api/chat", { messages: [{ role: "user", content: long }], stream: false }],
  ] as const) {
    const { error } = await post(path, { model: "mario", ...body });
    expect(JSON.stringify(error)).toMatch(
      /maximum context length is 3000 tokens|prompt is too long: \d+ tokens > 3000/,
    );
  }
  await post("/v1/chat/completions", { model: "mario", messages: [{ role: "user", content: "x".repeat(2880) }] });
  const { tokens, tokensMax } = chat.requests.at(-1) ?? { tokens: [], tokensMax: 0 };
  expect(tokens.length + tokensMax).toBe(3000);
});

describe("it is listed", () => {
  test("in OpenAI's shape", async () => {
    const { data } = await ask("/v1/models");
    expect(data).toMatchObject([{ id: detail.id }, { id: "mario", object: "model", context_length: 3000 }]);
    expect(await ask("/v1/models/mario")).toEqual(data[1]);
    expect(await ask("/v1/models/mario:latest")).toEqual(data[1]);
    expect(await ask("/v1/models/luigi")).toMatchObject({ error: { code: "model_not_found" } });
  });

  test("in Anthropic's shape", async () => {
    const { data } = await ask("/v1/models", anthropic);
    expect(data).toMatchObject([{ id: detail.id }, { type: "model", id: "mario", max_input_tokens: 3000 }]);
    expect(await ask("/v1/models/mario", anthropic)).toEqual(data[1]);
  });

  test("in Ollama's shape", async () => {
    const tags = await ask("/api/tags");
    expect(tags.models.map(({ name }: { name: string }) => name)).toEqual(["mario:latest", `${detail.id}:latest`]);
  });
});

test("its prompt is counted and shown as it answers", async () => {
  const tokens = Buffer.byteLength(prompt);
  expect(await post("/v1/messages/count_tokens", { model: "mario", messages })).toEqual({ input_tokens: tokens });
  expect(await post("/v1/responses/input_tokens", { model: "mario", input: "Hi" })).toMatchObject({
    input_tokens: tokens,
  });
  expect(await post("/v1/chat/completions/input_tokens", { model: "mario", messages })).toMatchObject({
    input_tokens: tokens,
  });
  expect(await post("/apply-template", { model: "mario", messages })).toEqual({ prompt });
});

test("--strict-models refuses a name that nobody has", async () => {
  for (const path of ["/v1/chat/completions", "/api/chat"]) {
    expect(JSON.stringify(await post(path, { model: "luigi", messages }))).toMatch(/luigi.*(does not exist|not found)/);
  }
});
