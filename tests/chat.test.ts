import { afterEach, expect, test } from "bun:test";
import { bodyBytesMax } from "../src/limits.ts";
import { bytewise, type Chat, call, type Piece, script, startChat, stuck } from "./fixtures/chat.ts";

let chat: Chat | undefined;
afterEach(async () => {
  await chat?.server.stop(0);
  chat = undefined;
});

/** A server whose every request gets this script. */
function serve(answer: Parameters<typeof startChat>[0], options?: Parameters<typeof startChat>[1]): Chat {
  chat = startChat(answer, options);
  return chat;
}

const messages = [{ role: "user", content: "hello" }];
const weather = { type: "function", function: { name: "weather" } };
const time = { type: "function", function: { name: "time" } };
const hello = script([["text", "Grüße 🌍"]]);

/** The data lines of a stream, parsed, without `[DONE]`, which must be there. */
async function chunksOf(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  return text
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));
}

/** What a client makes of a stream, in the form of the answer without stream. */
function accumulate(chunks: readonly Record<string, unknown>[]) {
  const message: { content: string | null; calls: { id: string; name: string; arguments: string }[] } = {
    content: null,
    calls: [],
  };
  let finish: unknown;
  let usage: unknown;
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({ id: chunks[0]?.["id"], created: chunks[0]?.["created"], model: "replay" });
    usage = chunk["usage"] ?? usage;
    const [choice] = Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
    if (choice === undefined) continue;
    finish = choice.finish_reason ?? finish;
    const { content, tool_calls } = choice.delta;
    if (typeof content === "string") message.content = (message.content ?? "") + content;
    for (const { index, id, function: called } of tool_calls ?? []) {
      message.calls[index] ??= { id, name: called.name, arguments: "" };
      const known = message.calls[index];
      if (known !== undefined) known.arguments += called.arguments;
    }
  }
  return { ...message, finish, usage };
}

const answers: readonly (readonly [string, readonly Piece[], object])[] = [
  ["text", [["text", "Grüße 🌍"]], {}],
  ["nothing", [], {}],
  [
    "calls",
    [["text", "See:"], ...call(0, "weather", '{"city":"Łódź"}'), ...call(1, "time", "{}")],
    { tools: [weather, time] },
  ],
  [
    "a stop string",
    [
      ["text", "one ST"],
      ["text", "OP two"],
    ],
    { stop: "STOP" },
  ],
  ["held calls", call(0, "weather", '{"a":[1]}'), { tools: [weather], tenon_hold_calls: true }],
];

test.each(answers)("stream and answer say the same: %s", async (_, pieces, fields) => {
  for (const answer of [script(pieces), bytewise(script(pieces))]) {
    const { post, server } = serve(() => answer);
    const body = { messages, ...fields };
    const whole = JSON.parse(await (await post(body)).text());
    const options = { stream: true, stream_options: { include_usage: true } };
    const streamed = accumulate(await chunksOf(await post({ ...body, ...options })));
    const [choice] = whole.choices;
    expect(streamed).toEqual({
      content: choice.message.content,
      calls: (choice.message.tool_calls ?? []).map((each: { function: object }) => ({
        id: expect.stringMatching(/^call_[0-9a-f]{24}$/),
        ...each.function,
      })),
      finish: choice.finish_reason,
      usage: whole.usage,
    });
    await server.stop(0);
  }
});

test.each([
  ["/v1/chat/completions", {}],
  ["/chat/completions", { "content-type": "application/json" }],
  ["/v1/chat/completions", { "content-type": "application/x-www-form-urlencoded" }],
])("%s with the headers %j answers, and with the loaded model's id", async (path, headers) => {
  const { server } = serve(() => hello);
  const body = JSON.stringify({ messages, model: "gpt-4o" });
  const response = await fetch(new URL(path, server.url), { method: "POST", headers, body });
  expect(await response.json()).toMatchObject({ model: "replay", choices: [{ message: { content: "Grüße 🌍" } }] });
  expect(response.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
});

test("a caller's request id comes back, unless it could not stand in a log", async () => {
  const { server } = serve(() => hello);
  const idOf = async (id: string) =>
    (await fetch(new URL("/health", server.url), { headers: { "x-request-id": id } })).headers.get("x-request-id");
  expect(await idOf("trace-1.a:b")).toBe("trace-1.a:b");
  expect(await idOf("a b")).toMatch(/^req_/);
});

test.each([
  [{}, "none"],
  [{ tools: [weather] }, "triggered"],
  [{ tools: [weather], tool_choice: "required" }, "enforced"],
  [{ response_format: { type: "json_object" } }, "enforced"],
])("%j says in a header how far a grammar holds: %s", async (fields, constraint) => {
  const { post } = serve(() => script(call(0, "weather", "{}")));
  for (const stream of [false, true]) {
    const response = await post({ messages, stream, ...fields, unknown_field: 1 });
    expect(response.headers.get("x-tenon-constraint")).toBe(constraint);
    expect(response.headers.get("x-tenon-ignored")).toBe("unknown_field");
    await response.text();
  }
});

test("unknown routes, wrong methods and broken bodies are errors in OpenAI's form", async () => {
  const { server, post } = serve(() => hello);
  const get = (path: string, method = "GET") => fetch(new URL(path, server.url), { method });
  const answer = async (response: Response) => [response.status, response.headers.get("allow"), await response.json()];
  const error = (message: string, code: string | null, param: string | null = null) => ({
    error: { message, type: "invalid_request_error", param, code },
  });
  expect(await answer(await get("/v1/nothing"))).toEqual([
    404,
    null,
    error("Unknown request URL: GET /v1/nothing. Please check the URL for typos.", "unknown_url"),
  ]);
  expect(await answer(await get("/v1/chat/completions"))).toEqual([
    405,
    "POST",
    error("Not allowed to GET on /v1/chat/completions; use POST.", "method_not_allowed"),
  ]);
  expect(await answer(await get("/v1/models/x/y", "DELETE"))).toEqual([
    405,
    "GET, HEAD",
    error("Not allowed to DELETE on /v1/models/x/y; use GET or HEAD.", "method_not_allowed"),
  ]);
  expect(await answer(await post("{"))).toEqual([
    400,
    null,
    error("The request body is not valid JSON. JSON Parse error: Expected '}'", null),
  ]);
  expect(await answer(await post({ messages, temperature: 3 }))).toEqual([
    400,
    null,
    error("Invalid value for 'temperature': expected a number from 0 to 2.", "invalid_value", "temperature"),
  ]);
  expect(await answer(await post(" ".repeat(bodyBytesMax + 1)))).toEqual([
    413,
    null,
    error("Request body too large.", null),
  ]);
});

test("models, one of them, and health", async () => {
  const { server } = serve(() => hello);
  const get = async (path: string) => {
    const response = await fetch(new URL(path, server.url));
    return [response.status, await response.json()];
  };
  const model = {
    id: "replay",
    object: "model",
    created: 1,
    owned_by: "tenon",
    context_length: 4096,
    capabilities: ["completion", "tools"],
    tool_dialect: "hermes",
    tool_dialect_detected: true,
    meta: { n_vocab: 256, n_ctx_train: 8192, n_embd: 64, n_params: 2000, size: 1000 },
  };
  expect(await get("/v1/models")).toEqual([200, { object: "list", data: [model] }]);
  expect(await get("/v1/models/replay")).toEqual([200, model]);
  expect(await get("/v1/models/org%2Fother")).toMatchObject([
    404,
    { error: { code: "model_not_found", param: "model" } },
  ]);
  expect(await get("/health")).toEqual([200, { status: "ok" }]);
});

test("--strict-models refuses another name, and no name is the loaded model", async () => {
  const { post } = serve(() => hello, { strictModels: true });
  const refused = await post({ messages, model: "x" });
  expect([refused.status, await refused.json()]).toEqual([
    404,
    {
      error: {
        message: "The model 'x' does not exist",
        type: "invalid_request_error",
        param: "model",
        code: "model_not_found",
      },
    },
  ]);
  for (const model of ["replay", undefined]) expect((await post({ messages, model })).status).toBe(200);
});

test("what the engine refuses at admission is a status, for streams too", async () => {
  let next: ReturnType<Parameters<typeof startChat>[0]> = { kind: "overloaded" };
  const { post } = serve(() => next);
  for (const stream of [false, true]) {
    next = { kind: "overloaded" };
    const busy = await post({ messages, stream });
    expect([busy.status, busy.headers.get("retry-after"), await busy.json()]).toEqual([
      503,
      "2",
      {
        error: {
          message: "All slots are busy. Please try again later.",
          type: "unavailable_error",
          param: null,
          code: "server_busy",
        },
      },
    ]);
    next = { kind: "context", needed: 5000, contextMax: 4096 };
    const long = await post({ messages, stream });
    expect([long.status, await long.json()]).toMatchObject([
      400,
      {
        error: {
          message: expect.stringContaining("This model's maximum context length is 4096 tokens."),
          code: "context_length_exceeded",
          n_ctx: 4096,
        },
      },
    ]);
  }
});

test("a limit below the shortest answer is refused before anything is generated", async () => {
  const { post, engine, requests } = serve(() => script(call(0, "weather", "{}")));
  const body = { messages, tools: [weather], tool_choice: "required" };
  const response = await post({ ...body, max_tokens: 4 });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { param: "max_tokens" } }]);
  expect(requests).toEqual([]);
  expect((await post({ ...body, max_tokens: 5 })).status).toBe(200);
  expect(engine.stats().grammars).toBe(0);
});

test("an engine's failure is a status, and in a stream an error before the end", async () => {
  const { post } = serve(() => script([["text", "a"]], "failed"));
  const whole = await post({ messages });
  expect([whole.status, whole.headers.get("x-should-retry")]).toEqual([500, "false"]);
  const chunks = await chunksOf(await post({ messages, stream: true }));
  expect(chunks.at(-1)).toMatchObject({ error: { type: "server_error" } });
});

test("sampling fields reach the engine, and a seed keeps its value", async () => {
  const { post, requests } = serve(() => hello);
  const fields = {
    temperature: 0.5,
    top_k: 3,
    seed: 42,
    max_tokens: 9,
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { "7": -1 },
  };
  await (await post({ messages, ...fields })).text();
  expect(requests).toMatchObject([
    {
      temperature: 0.5,
      topK: 3,
      seed: 42,
      tokensMax: 9,
      logprobs: 2,
      logitBias: [{ token: 7, bias: -1 }],
      step: false,
    },
  ]);
  const outside = await post({ messages, logit_bias: { "256": 1 } });
  expect([outside.status, await outside.json()]).toMatchObject([400, { error: { param: "logit_bias" } }]);
});

test("comments keep a silent stream alive", async () => {
  const { post } = serve(() => stuck([]), { pingMs: 5 });
  const gone = new AbortController();
  const response = await post({ messages, stream: true }, { signal: gone.signal });
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString();
    if (text.split(": ping\n\n").length > 3) break;
  }
  expect(text).toStartWith("data: {");
  gone.abort();
});

test("a client that leaves cancels, with and without stream", async () => {
  const { post, engine, logged } = serve(() => stuck([]));
  for (const stream of [true, false]) {
    const gone = new AbortController();
    const pending = post({ messages, stream }, { signal: gone.signal }).then((response) => response.text());
    await until(() => engine.stats().running === 1);
    gone.abort();
    await expect(pending).rejects.toThrow();
    await until(() => endsOf({ logged }).length === (stream ? 1 : 2));
    expect(engine.stats().running).toBe(0);
  }
  expect(endsOf({ logged })).toEqual(["cancelled", "cancelled"]);
  expect(logged.filter(([level]) => level !== "info")).toEqual([]);
});

test("a stop lets running answers finish and takes no others", async () => {
  const running = startChat(() => stuck([["text", "Grüße 🌍"]]));
  const response = await running.post({ messages, stream: true });
  const stopped = running.server.stop(10);
  expect((await running.post({ messages })).status).toBe(503);
  const text = await response.text();
  expect(text).toContain("Grüße 🌍");
  expect(text).toEndWith("data: [DONE]\n\n");
  await stopped;
  expect(endsOf(running)).toEqual(["cancelled"]);
});

test("a forced request without a call is logged with its reason, and its finish stays true", async () => {
  const { post, logged } = serve(() => script([["text", "no"]], "length"));
  const body = { messages, tools: [weather], tool_choice: "required", max_tokens: 5 };
  await (await post(body)).text();
  expect(logged.filter(([level]) => level === "warn").map(([, event]) => event)).toEqual(["forced_without_call"]);
});

/** How the answers of a chat ended that did not finish. */
function endsOf({ logged }: Pick<Chat, "logged">): unknown[] {
  return logged.flatMap(([, event, fields]) => (event === "answer_failed" ? [fields?.["reason"]] : []));
}

/** Resolves when `isTrue` is; the engine's counts change between two turns of the event loop. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
