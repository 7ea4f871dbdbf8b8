import { afterEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer } from "../src/generation/answer.ts";
import type { Failure } from "../src/generation/failure.ts";
import { fail, type Result } from "../src/generation/result.ts";
import { bodyMs } from "../src/limits.ts";
import { type Chat, script, startChat, stuck } from "./fixtures/chat.ts";
import { errorFault } from "./fixtures/fuzz/verdict.ts";
import { handClock } from "./fixtures/hand-clock.ts";

let chat: Chat | undefined;
afterEach(async () => {
  await chat?.server.stop(0);
  chat = undefined;
});

function serve(options: NonNullable<Parameters<typeof startChat>[1]>["server"], answer = script([["text", "hello"]])) {
  chat = startChat(() => answer, { server: options ?? {} });
  const { url } = chat.server;
  return { ...chat, ask: (path: string, init?: RequestInit) => fetch(new URL(path, url), init) };
}

const messages = [{ role: "user", content: "a question nobody else asks" }];
const completions = "/v1/chat/completions";
const error = (message: string, type: string, code: string | number | null = null) => ({
  error: { message, type, param: null, code },
});

test("only who has a key comes in; health is open", async () => {
  const { post, ask, logged } = serve({ apiKeys: ["sk-first-secret", "sk-second-secret"] });
  for (const headers of [{ authorization: "Bearer sk-first-secret" }, { "x-api-key": "sk-second-secret" }]) {
    expect((await post({ messages }, { headers })).status).toBe(200);
  }
  for (const headers of [{}, { authorization: "Bearer sk-wrong-secret" }]) {
    const refused = await post({ messages }, { headers });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe("Bearer");
    expect(await refused.json()).toEqual(error("Invalid API Key", "authentication_error", 401));
  }
  for (const path of ["/v1/models", "/metrics", "/nowhere"]) expect((await ask(path)).status).toBe(401);
  for (const path of ["/", "/health", "/v1/health"]) expect((await ask(path)).status).toBe(200);
  // What is logged are ids, counts and times.
  const log = JSON.stringify(logged);
  expect(log).not.toContain("secret");
  expect(log).not.toContain("nobody else asks");
  expect(log).not.toContain("hello");
});

test.each([
  ["/v1/chat/completions", "openai", 503, { messages }],
  ["/v1/responses", "openai", 503, { input: "a" }],
  ["/v1/messages", "anthropic", 529, { messages, max_tokens: 9 }],
  ["/api/chat", "ollama", 503, { messages }],
] as const)("whatever is refused at %s is refused in its shape", async (path, shape, fullStatus, prompt) => {
  const asked = Promise.withResolvers<void>();
  const { promise: slow, resolve: answerSlow } = Promise.withResolvers<Result<Answer, Failure>>();
  const answers = [
    () => Promise.reject(new Error("a bug")),
    () => {
      asked.resolve();
      return slow;
    },
  ];
  let answered = 0;
  const clock = handClock();
  chat = startChat(() => script([]), {
    server: { apiKeys: ["k"], requestsPerMinute: 6, bodyBytesMax: 1000, clock },
    service: { answer: () => answers[answered++]?.() ?? Promise.reject(new Error("no more answers")) },
  });
  const { server, logged } = chat;
  const ask = (init: RequestInit, suffix = "") =>
    fetch(new URL(path + suffix, server.url), { method: "POST", headers: { "x-api-key": "k" }, ...init });
  const statusOf = async (init: RequestInit, suffix = "") => {
    const response = await ask(init, suffix);
    expect(errorFault(await response.text(), shape)).toBeUndefined();
    return response.status;
  };
  const body = JSON.stringify({ ...prompt, stream: false });
  const endless = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
  // Here alone time passes, and makes up for what the request took of the rate.
  const late = statusOf({ body: endless });
  await clock.waiting(1);
  clock.advance(bodyMs);
  expect(await late).toBe(408);
  expect(await statusOf({ headers: {} })).toBe(401);
  expect(await statusOf({ method: "PUT" })).toBe(405);
  expect(await statusOf({}, "/a/b/c")).toBe(404);
  expect(await statusOf({ body: " ".repeat(1001) })).toBe(413);
  expect(await statusOf({ body: "{" })).toBe(400);
  expect(await statusOf({ body })).toBe(500);
  expect(logged.filter(([, event]) => event === "bug").length).toBe(1);
  const running = ask({ body });
  await asked.promise;
  expect(await statusOf({ body })).toBe(429);
  const stopped = server.stop(60_000);
  expect(await statusOf({ body })).toBe(fullStatus);
  answerSlow(fail({ kind: "cancelled" }));
  expect((await running).ok).toBe(false);
  await stopped;
});

test("every answer has its request's id, and so has every line of the log", async () => {
  const { post, ask, logged } = serve({});
  const ids = [
    await post({ messages }),
    await post({ messages, stream: true }),
    await ask("/v1/completions", { method: "POST", body: JSON.stringify({ prompt: "a" }) }),
    await ask("/v1/responses", { method: "POST", body: JSON.stringify({ input: "a" }) }),
    await ask("/v1/messages", { method: "POST", body: JSON.stringify({ messages, max_tokens: 9 }) }),
    await post("{"),
    await ask("/nowhere"),
    await ask(completions, { method: "PUT" }),
    await ask("/v1/models", { headers: { "x-request-id": "mine" } }),
  ].map(({ headers }) => {
    expect(headers.get("request-id")).toBe(headers.get("x-request-id"));
    return headers.get("x-request-id");
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toContain("mine");
  await chat?.server.stop(0);
  for (const [, , fields] of logged) expect(ids).toContain(String(fields?.["request"]));
  const seen = logged.filter(([, event]) => event === "request").map(([, , fields]) => fields);
  expect(seen.map((fields) => [fields?.["method"], fields?.["route"], fields?.["status"]]).toSorted()).toEqual([
    ["GET", "/v1/models", 200],
    ["GET", "unknown", 404],
    ["POST", completions, 200],
    ["POST", completions, 200],
    ["POST", completions, 400],
    ["POST", "/v1/completions", 200],
    ["POST", "/v1/messages", 200],
    ["POST", "/v1/responses", 200],
    ["PUT", completions, 405],
  ]);
  expect(logged.filter(([, event]) => event === "answer").length).toBe(5);
});

test("a page of an allowed origin may ask and read, also what is refused", async () => {
  const { ask } = serve({ corsOrigins: ["https://app.example"], apiKeys: ["k"] });
  const origin = "https://app.example";
  const preflight = await ask(completions, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "authorization"]);
  const refused = await ask(completions, { method: "POST", headers: { origin } });
  expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, origin]);
  const health = await ask("/health", { headers: { origin: "https://other.example" } });
  expect([health.status, health.headers.get("access-control-allow-origin")]).toEqual([200, null]);
});

test("each key has its kept responses", async () => {
  const { ask } = serve({ apiKeys: ["a", "b"] });
  const send = (key: string, path = "", body?: object) => {
    // Nobody says by himself who he is.
    const headers = { "x-api-key": key, "x-tenon-caller": "key-0" };
    return ask(`/v1/responses${path}`, { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) });
  };
  const { id } = JSON.parse(await (await send("a", "", { input: "a" })).text());
  const next = { input: "b", previous_response_id: id };
  for (const [key, statuses] of [
    ["a", [200, 200, 200]],
    ["b", [404, 404, 400]],
  ] as const) {
    const asked = [await send(key, `/${id}`), await send(key, `/${id}/input_items`), await send(key, "", next)];
    expect(asked.map(({ status }) => status)).toEqual([...statuses]);
  }
});

test("each key has its rate, and health none", async () => {
  const { post, ask } = serve({ apiKeys: ["a", "b"], requestsPerMinute: 2, clock: handClock() });
  const asA = () => post({ messages }, { headers: { "x-api-key": "a" } });
  expect([(await asA()).status, (await asA()).status]).toEqual([200, 200]);
  const refused = await asA();
  expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([429, 30]);
  expect(await refused.json()).toMatchObject({ error: { type: "rate_limit_error", code: "rate_limit_exceeded" } });
  expect((await post({ messages }, { headers: { "x-api-key": "b" } })).status).toBe(200);
  expect((await ask("/health")).status).toBe(200);
});

test("HEAD answers as GET without a body; other methods are named", async () => {
  const { ask } = serve({});
  for (const path of ["/", "/v1/models", "/metrics"]) {
    const head = await ask(path, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  }
  const wrong = await ask("/v1/models", { method: "POST" });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect(await wrong.json()).toMatchObject({ error: { code: "method_not_allowed" } });
  expect((await ask("/v1/models/")).status).toBe(200);
});

test("a body over the limit, however it is sent, and one that never ends", async () => {
  const clock = handClock();
  const { ask } = serve({ bodyBytesMax: 1000, clock });
  const chunked = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let sent = 0; sent < 4; sent++) controller.enqueue(new Uint8Array(400).fill(0x20));
        controller.close();
      },
    });
  for (const body of [" ".repeat(1001), chunked()]) {
    const refused = await ask(completions, { method: "POST", body });
    expect([refused.status, await refused.json()]).toEqual([
      413,
      error("Request body too large.", "invalid_request_error"),
    ]);
  }
  const endless = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(8).fill(0x20));
    },
  });
  const asked = ask(completions, { method: "POST", body: endless });
  await clock.waiting(1);
  clock.advance(bodyMs);
  const late = await asked;
  expect([late.status, await late.json()]).toMatchObject([408, { error: { type: "timeout_error" } }]);
});

test("a client that takes nothing of its answer is cut off, and its answer ends", async () => {
  const long = script(Array.from({ length: 2000 }, () => ["text", "x".repeat(32_768)] as const));
  const { server, engine, logged } = serve({ idleTimeoutS: 1 }, long);
  const body = JSON.stringify({ messages, stream: true });
  const socket = connect(Number(server.url.port), "127.0.0.1");
  socket.pause();
  socket.write(`POST ${completions} HTTP/1.1\r\nhost: tenon\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  while (!logged.some(([, event]) => event === "request")) await new Promise(setImmediate);
  expect(logged.find(([, event]) => event === "request")?.[2]).toMatchObject({ status: 200, left: true });
  expect(engine.stats().running).toBe(0);
  socket.destroy();
}, 20_000);

test("metrics count answers by shape and status, constraints and tokens", async () => {
  const { post, ask } = serve({});
  const tool = { type: "function", function: { name: "f" } };
  await (await post({ messages })).text();
  await (await post({ messages, tools: [tool], stream: true })).text();
  await post("{");
  const response = await ask("/metrics");
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const text = await response.text();
  for (const line of [
    'tenon_http_requests_total{shape="openai",status="200"} 2',
    'tenon_http_requests_total{shape="openai",status="400"} 1',
    'tenon_answers_admitted_total{constraint="none"} 1',
    'tenon_answers_admitted_total{constraint="triggered"} 1',
    "llamacpp:tokens_predicted_total 4",
    "llamacpp:requests_processing 0",
    "# TYPE tenon_first_event_seconds summary",
    "tenon_first_event_seconds_count 2",
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  for (const line of text.trimEnd().split("\n")) {
    expect(line).toMatch(/^(# (HELP|TYPE) [a-z_:]+ .+|[a-z_:]+(\{([a-z]+="[^"\\]*",?)+\})? [\d.e+-]+)$/);
  }
});

test("while it drains, what runs is finished and what comes is refused, on new connections, too", async () => {
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { server, post, ask } = serve({}, { ...script([["text", "late"]]), pace: () => gate });
  const streamed = await post({ messages, stream: true });
  const whole = post({ messages });
  while (chat?.engine.stats().running !== 2) await new Promise(setImmediate);
  const stopped = server.stop(10_000);
  const health = await ask("/health");
  expect(health.status).toBe(503);
  const refused = await post({ messages });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await refused.json()).toMatchObject({ error: { message: "The server is stopping." } });
  go();
  expect(await (await whole).json()).toMatchObject({ choices: [{ message: { content: "late" } }] });
  expect(await streamed.text()).toEndWith("data: [DONE]\n\n");
  await stopped;
  expect(ask("/health")).rejects.toThrow();
});

test("what does not end within the grace is cancelled, and says so", async () => {
  const { server, post } = serve({}, stuck([["text", "half"]]));
  const streamed = await post({ messages, stream: true });
  const stopped = server.stop(1);
  const text = await streamed.text();
  expect(text).toContain("half");
  expect(text).toEndWith("data: [DONE]\n\n");
  await stopped;
});

test("a socket in the file system; a second server there is refused in words", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tenon-socket-"));
  try {
    const unix = join(folder, "tenon.sock");
    serve({ unix });
    const response = await fetch(`http://tenon${completions}`, {
      unix,
      method: "POST",
      body: JSON.stringify({ messages }),
    });
    expect(response.status).toBe(200);
    expect(() => startChat(() => script([]), { server: { unix } })).toThrow(`Nobody can listen at ${unix}`);
  } finally {
    await chat?.server.stop(0);
    chat = undefined;
    await rm(folder, { recursive: true });
  }
});

test("a host that makes no URL, and a target that is more than one, are no reason to fail", async () => {
  const { server } = serve({});
  for (const [host, target] of [
    ["a b", "/v1/models"],
    ["[::", "/v1/models"],
    ["x?y", "/v1/models"],
    ["x", "/v1/models#part"],
    ["x", "/v1/models/#"],
    ["x", "//v1/models?a=b#part"],
  ]) {
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect(Number(server.url.port), "127.0.0.1", () =>
      socket.write(`GET ${target} HTTP/1.1\r\nhost: ${host}\r\n\r\n`),
    );
    socket.on("data", (data) => resolve(data.toString()));
    expect(await promise).toStartWith("HTTP/1.1 200");
    socket.destroy();
  }
});

test("TLS with a certificate of one's own; files that are none are refused in words", async () => {
  const file = (name: string) => new URL(`fixtures/tls/${name}.pem`, import.meta.url).pathname;
  const tls = { cert: file("cert"), key: file("key") };
  const { server } = serve({ tls });
  expect(server.url.protocol).toBe("https:");
  const ca = await Bun.file(tls.cert).text();
  const response = await fetch(new URL("/v1/models", server.url), { tls: { ca } });
  expect(response.status).toBe(200);
  for (const broken of [
    { ...tls, key: "nowhere.pem" },
    { cert: tls.key, key: tls.key },
  ]) {
    expect(() => startChat(() => script([]), { server: { tls: broken } })).toThrow(
      /^Nobody can listen at 127\.0\.0\.1:0: /,
    );
  }
});
