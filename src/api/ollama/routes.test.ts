import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatOptions, script, startChat } from "../../../tests/fixtures/chat.ts";
import { ggufBytes, tinyModel } from "../../../tests/fixtures/gguf.ts";

let models: string;
let stop: (() => Promise<void>) | undefined;
beforeEach(() => {
  models = mkdtempSync(join(tmpdir(), "tenon-ollama-"));
});
afterEach(async () => {
  await stop?.();
  rmSync(models, { recursive: true });
});

function serve(options: ChatOptions = {}) {
  const { server } = startChat(() => script([["text", "hello"]]), { models, ...options });
  stop = () => server.stop(0);
  return (method: string, path: string, body?: string | object | Uint8Array<ArrayBuffer>, headers = {}) => {
    const sent = typeof body === "object" && !(body instanceof Uint8Array) ? JSON.stringify(body) : body;
    return fetch(new URL(path, server.url), { method, headers, ...(sent === undefined ? {} : { body: sent }) });
  };
}

const messages = [{ role: "user", content: "Hi" }];
const { metadata, tensors } = tinyModel("qwen2");
const weights = ggufBytes(metadata, tensors);
const digest = `sha256:${createHash("sha256").update(weights).digest("hex")}`;

test("plain curl, without a type or a model: lines by default", async () => {
  const ask = serve();
  const response = await ask("POST", "/api/chat", JSON.stringify({ messages, strange: 1 }), {
    "content-type": "application/x-www-form-urlencoded",
  });
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  expect(response.headers.get("x-tenon-constraint")).toBe("none");
  expect(response.headers.get("x-tenon-ignored")).toBe("strange");
  const lines = (await response.text()).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).done)).toEqual([false, true]);
});

test("errors have the shape, whatever happens", async () => {
  const ask = serve({ service: { strictFields: true } });
  const told = async (...request: Parameters<typeof ask>) => {
    const response = await ask(...request);
    return [response.status, await response.json()];
  };
  expect(await told("POST", "/api/chat", "")).toEqual([400, { error: "missing request body" }]);
  expect(await told("POST", "/api/chat", "{")).toMatchObject([
    400,
    { error: expect.stringContaining("not valid JSON") },
  ]);
  expect(await told("POST", "/api/chat", { messages, strange: 1 })).toEqual([
    400,
    { error: "Unrecognized request argument supplied: strange" },
  ]);
  expect(await told("POST", "/api/show", { model: "replay", strange: 1 })).toMatchObject([400, {}]);
  expect(await told("POST", "/api/nothing", {})).toMatchObject([
    404,
    { error: expect.stringContaining("/api/nothing") },
  ]);
  expect(await told("GET", "/api/chat")).toMatchObject([405, { error: expect.stringContaining("use POST") }]);
  expect(await told("POST", "/api/delete", { model: "x" })).toMatchObject([405, {}]);
  expect(await told("POST", "/api/show", { name: "x" })).toEqual([404, { error: "model 'x' not found" }]);
  expect(await told("DELETE", "/api/delete", { name: "x" })).toEqual([404, { error: "model 'x' not found" }]);
  expect(await told("POST", "/api/copy", { source: "x", destination: "y" })).toMatchObject([404, {}]);
});

test("a key is asked for in the shape, and the greeting is open", async () => {
  const ask = serve({ server: { apiKeys: ["right"] } });
  const refused = await ask("GET", "/api/tags");
  expect([refused.status, await refused.json()]).toEqual([401, { error: "unauthorized" }]);
  expect((await ask("GET", "/api/tags", undefined, { authorization: "Bearer right" })).status).toBe(200);
  expect((await ask("GET", "/", undefined, { "user-agent": "ollama/1" })).status).toBe(200);
});

test("Ollama's clients are greeted at /, and everybody else is told of health", async () => {
  const ask = serve();
  const greeted = await ask("GET", "/", undefined, { "user-agent": "ollama-js/0.6.4 (x64)" });
  expect(await greeted.text()).toBe("Ollama is running");
  const probe = await ask("HEAD", "/", undefined, { "user-agent": "ollama/0.12 (amd64 linux) Go/go1.24" });
  expect(probe.status).toBe(200);
  expect(await (await ask("GET", "/")).json()).toEqual({ status: "ok" });
  expect(await (await ask("GET", "/health", undefined, { "user-agent": "ollama/1" })).json()).toEqual({ status: "ok" });
  expect(await (await ask("GET", "/api/version")).json()).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
  expect((await ask("HEAD", "/api/tags")).status).toBe(200);
});

test("weights are sent under their digest, and become a model", async () => {
  const ask = serve({ server: { bodyBytesMax: 1024 } });
  const blob = `/api/blobs/${digest}`;
  expect(weights.length).toBeGreaterThan(1024);
  expect((await ask("HEAD", blob)).status).toBe(404);
  expect((await ask("POST", "/api/blobs/sha256:12", weights)).status).toBe(400);
  const wrong = await ask("POST", `/api/blobs/sha256:${"0".repeat(64)}`, weights);
  expect([wrong.status, await wrong.json()]).toEqual([
    400,
    { error: `digest mismatch, expected "sha256:${"0".repeat(64)}", got "${digest}"` },
  ]);
  expect((await ask("POST", blob, weights)).status).toBe(201);
  expect((await ask("HEAD", blob)).status).toBe(200);
  expect((await ask("POST", blob, weights)).status).toBe(200);
  const made = await ask("POST", "/api/create", { model: "tiny", files: { "tiny.gguf": digest }, stream: false });
  expect(await made.json()).toEqual({ status: "success" });
  expect(readdirSync(models).sort()).toEqual(["blobs", "tiny.gguf"]);
  expect(readdirSync(join(models, "blobs"))).toEqual([]);
  const infoOf = async (body: object): Promise<unknown> =>
    JSON.parse(await (await ask("POST", "/api/show", body)).text()).model_info;
  expect(await infoOf({ model: "tiny" })).toMatchObject({
    "general.architecture": "qwen2",
    "qwen2.context_length": 64,
    "tokenizer.ggml.tokens": null,
  });
  expect(await infoOf({ model: "tiny", verbose: true })).toMatchObject({
    "tokenizer.ggml.tokens": ["a", "b", "ab", "c", "<end>"],
  });
});

test.each([
  [{ files: {} }, "neither 'from' or 'files' was specified"],
  [{ files: { a: digest, b: digest } }, "'files' may have one GGUF file."],
  [{ files: { a: "../../x" } }, "invalid digest format"],
  [
    { files: { a: digest }, system: "x" },
    "'files' make a model by themselves: create another one from it to say more.",
  ],
  [{ from: "replay", adapters: { a: digest } }, "'adapters' is not supported: adapters are not applied."],
  [
    { from: "replay", modelfile: "FROM x" },
    "'modelfile' is not supported: send 'from', 'parameters', 'system' and 'template' as fields of the body.",
  ],
  [
    { from: "replay", messages: [{ role: "tool", content: "x" }] },
    "Invalid value for 'messages[0].role': expected 'system', 'user' or 'assistant'.",
  ],
] satisfies readonly (readonly [object, string])[])("create refuses %j", async (fields, error) => {
  const ask = serve();
  const response = await ask("POST", "/api/create", { model: "x", ...fields });
  expect([response.status, await response.json()]).toEqual([400, { error }]);
});

test("pages of other sites change nothing on the disk", async () => {
  const ask = serve();
  const cross = { "sec-fetch-site": "cross-site" };
  const bodies = [
    ["POST", "/api/create", { model: "x", from: "replay" }],
    ["POST", "/api/copy", { source: "replay", destination: "x" }],
    ["DELETE", "/api/delete", { model: "x" }],
    ["POST", "/api/pull", { model: "own/x" }],
    ["POST", `/api/blobs/${digest}`, weights],
  ] as const;
  for (const [method, path, body] of bodies) expect((await ask(method, path, body, cross)).status).toBe(403);
  expect(readdirSync(models)).toEqual([]);
  const own = await ask(
    "POST",
    "/api/copy",
    { source: "replay", destination: "x" },
    { "sec-fetch-site": "same-origin" },
  );
  expect([own.status, await own.text()]).toEqual([200, ""]);
});
