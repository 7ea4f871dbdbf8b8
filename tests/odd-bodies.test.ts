import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Chat, script, startChat } from "./fixtures/chat.ts";

/** Bodies that are odd and legal, as clients of every shape send them: taken, with --strict-fields too, and what they mean. */

let chat: Chat;
beforeAll(() => {
  chat = startChat(() => script([["text", "a"]]), { service: { strictFields: true } });
});
afterAll(() => chat.server.stop(0));

const messages = [{ role: "user", content: "Hi" }];
const shapes = [
  ["/v1/chat/completions", { messages }],
  ["/v1/completions", { prompt: "Hi" }],
  ["/v1/responses", { input: "Hi" }],
  ["/v1/messages", { messages, max_tokens: 5 }],
  ["/api/chat", { messages, stream: false }],
  ["/api/generate", { prompt: "Hi", stream: false }],
] as const;

async function post(path: string, body: unknown, init: RequestInit = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(chat.server.url.origin + path, { method: "POST", body: text, ...init });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe.each(shapes)("%s", (path, body) => {
  const options = path.startsWith("/api/") ? (fields: object) => ({ options: fields }) : (fields: object) => fields;

  test("what is null asks for nothing, whether anybody reads it or not", async () => {
    const nothing = { audio: null, web_search_options: null, conversation: null, container: null, unheard: null };
    const told = await post(path, { ...body, ...nothing, model: null, ...options({ mirostat: null, stop: null }) });
    expect([told.status, told.text]).toEqual([200, told.text]);
    expect(told.headers.get("x-tenon-ignored")).toBeNull();
  });

  test.each([
    ["9223372036854775807", true],
    ["18446744073709551615", true],
    ["-9223372036854775808", true],
    ["18446744073709556000", true],
    ["1e400", false],
    ["1.5", false],
  ])("a seed of %s", async (seed, taken) => {
    const text = JSON.stringify({ ...body, ...options({ seed: "SEED" }) }).replace('"SEED"', seed);
    expect((await post(path, text)).status).toBe(taken ? 200 : 400);
    if (taken) expect(chat.requests.at(-1)?.seed).toBeLessThan(2 ** 32);
  });

  test("a base with a slash at its end", async () => {
    expect((await post(`/${path}`, body)).status).toBe(200);
  });

  test("a body that is compressed is refused by that name", async () => {
    const packed = Bun.gzipSync(JSON.stringify(body));
    const told = await post(path, "", { body: packed, headers: { "content-encoding": "gzip" } });
    expect(told.status).toBe(400);
    expect(told.text).toContain("encoded as 'gzip'");
    expect((await post(path, body, { headers: { "content-encoding": "identity" } })).status).toBe(200);
  });
});

test("no alternatives are none, whether probabilities are asked for or not", async () => {
  for (const logprobs of [undefined, null, false]) {
    for (const [path, body] of [shapes[0], shapes[4]]) {
      expect((await post(path, { ...body, logprobs, top_logprobs: 0 })).status).toBe(200);
      expect((await post(path, { ...body, logprobs, top_logprobs: 1 })).status).toBe(400);
    }
  }
});

test("several answers have seeds of their own, however large the first", async () => {
  for (const seed of [7, 2 ** 62]) {
    await post("/v1/chat/completions", { messages, seed, n: 3 });
    const seeds = chat.requests.slice(-3).map((request) => request.seed);
    expect(seeds.map((each) => each - (seeds[0] ?? 0))).toEqual([0, 1, 2]);
  }
});

test("a schema in which Go left out parts", async () => {
  const parameters = { type: "object", properties: null, required: null };
  const tools = [{ type: "function", function: { name: "f", parameters } }];
  expect((await post("/api/chat", { messages, tools, stream: false })).status).toBe(200);
});

test("an error has the name of the field that is wrong", async () => {
  const error = async (fields: object) =>
    JSON.parse((await post("/v1/responses", { input: "Hi", ...fields })).text).error;
  expect(await error({ max_tokens: 5 })).toMatchObject({ param: "max_tokens" });
  const { text } = await post("/v1/messages", { messages: [], max_tokens: 5 });
  expect(text).toContain("at least 1 item.");
});
