import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Chat, detail, script, startChat } from "../../../tests/fixtures/chat.ts";
import { unusedStore } from "../service-fixture.ts";

let chat: Chat;
beforeAll(() => {
  chat = startChat(() => script([["text", "a"]]), { server: { bodyBytesMax: 1000 } });
});
afterAll(() => chat.server.stop(0));

const version = { "anthropic-version": "2023-06-01" };
const body = { max_tokens: 10, messages: [{ role: "user", content: "Hi" }] };

function ask(path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}): Promise<Response> {
  return fetch(new URL(path, chat.server.url), init);
}

function post(path: string, value: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return ask(path, { method: "POST", body: typeof value === "string" ? value : JSON.stringify(value), headers });
}

test("a plain curl is answered, without content type, model, version or key", async () => {
  const response = await post("/v1/messages", body, { "content-type": "application/x-www-form-urlencoded" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toMatchObject({ type: "message", model: detail.id });
});

test("betas are accepted, in the query and in the header", async () => {
  const headers = { ...version, "anthropic-beta": "claude-code-20250219,fine-grained-tool-streaming-2025-05-14" };
  expect((await post("/v1/messages?beta=true", body, headers)).status).toBe(200);
  expect((await post("/v1/messages/count_tokens?beta=true", body, headers)).status).toBe(200);
});

test("every answer carries its id, and how far a grammar held", async () => {
  const fields = { ...body, tools: [{ name: "f" }], novel: 1, thinking: { type: "disabled" } };
  for (const stream of [false, true]) {
    const { headers } = await post("/v1/messages", { ...fields, stream }, { "x-request-id": "mine" });
    expect(headers.get("request-id")).toBe("mine");
    expect(headers.get("x-tenon-constraint")).toBe("triggered");
    expect(headers.get("x-tenon-ignored")).toBe("novel");
  }
  const refused = await post("/v1/messages", {}, { "x-request-id": "mine" });
  expect(refused.headers.get("request-id")).toBe("mine");
  expect(await refused.json()).toMatchObject({ request_id: "mine" });
});

const asIs = (value: unknown) => ({ method: "POST", body: JSON.stringify(value) });
test.each<[path: string, status: number, type: string, init: RequestInit & { headers?: Record<string, string> }]>([
  ["/v1/messages", 400, "invalid_request_error", { method: "POST", body: "{" }],
  ["/v1/messages", 400, "invalid_request_error", { method: "POST" }],
  ["/v1/messages", 400, "invalid_request_error", asIs([])],
  ["/v1/messages", 413, "request_too_large", asIs("x".repeat(1000))],
  ["/v1/messages/count_tokens", 413, "request_too_large", asIs("x".repeat(1000))],
  ["/v1/messages/count_tokens", 400, "invalid_request_error", asIs({ messages: [] })],
  ["/v1/messages", 405, "invalid_request_error", { method: "GET" }],
  ["/v1/messages/batches", 404, "not_found_error", asIs({})],
  ["/v1/messages/batches/b/results", 404, "not_found_error", { method: "GET" }],
  ["/v1/files", 404, "not_found_error", { headers: version }],
  ["/v1/complete", 404, "not_found_error", { ...asIs({}), headers: version }],
  ["/v1/models/x", 404, "not_found_error", { headers: version }],
  ["/v1/models?limit=0", 400, "invalid_request_error", { headers: version }],
  ["/v1/models?limit=x", 400, "invalid_request_error", { headers: version }],
])("%s is %i %s, case %#", async (path, status, type, init) => {
  const response = await ask(path, init);
  expect(response.status).toBe(status);
  const requestId = response.headers.get("request-id");
  expect(await response.json()).toMatchObject({ type: "error", error: { type }, request_id: requestId });
});

test("models have this shape for this shape's clients only", async () => {
  const listed = await ask("/v1/models", { headers: version });
  const { id } = detail;
  expect(await listed.json()).toMatchObject({
    data: [{ type: "model", id }],
    has_more: false,
    first_id: id,
    last_id: id,
  });
  expect(await (await ask(`/v1/models/${id}`, { headers: version })).json()).toMatchObject({ type: "model", id });
  expect(await (await ask("/v1/models")).json()).toMatchObject({ object: "list" });
});

test("pages of models begin and end where they are asked to", async () => {
  const made = { loaded: true, modifiedMs: 0, facts: detail, derivation: undefined } as const;
  const derived = () => ["b", "c"].map((id) => ({ ...made, id }));
  const three = startChat(() => script([]), {
    service: { describe: () => ({ ...detail, id: "a" }), store: { ...unusedStore, derived } },
  });
  const page = async (query: string) => {
    const response = await fetch(new URL(`/v1/models?${query}`, three.server.url), { headers: version });
    const { data, has_more }: { data: { id: string }[]; has_more: boolean } = JSON.parse(await response.text());
    return [data.map(({ id }) => id).join(""), has_more];
  };
  expect(await page("")).toEqual(["abc", false]);
  expect(await page("limit=2")).toEqual(["ab", true]);
  expect(await page("limit=2&after_id=b")).toEqual(["c", false]);
  expect(await page("limit=1&before_id=c")).toEqual(["b", true]);
  await three.server.stop(0);
});

test("counting needs nothing that only an answer needs, and reads what it counts", async () => {
  const { messages } = body;
  const count = async (fields: object) => (await post("/v1/messages/count_tokens", { messages, ...fields })).json();
  expect(await count({})).toEqual({ input_tokens: JSON.stringify(messages).length });
  const begun = [...messages, { role: "assistant", content: "So" }];
  expect(await count({ messages: begun })).toEqual({ input_tokens: JSON.stringify(messages).length + "So".length });
  expect(await count({ tool_choice: { type: "any" } })).toMatchObject({ error: { type: "invalid_request_error" } });
});
