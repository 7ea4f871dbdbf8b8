import { expect, test } from "bun:test";
import type { Event } from "../../generation/event.ts";
import type { Request as Asked } from "../../generation/request.ts";
import { ok } from "../../generation/result.ts";
import { samplingOf } from "../../generation/sampling.ts";
import type { Service } from "../service.ts";
import { unusedStore } from "../service-fixture.ts";
import { responsesRoutes } from "./routes.ts";
import { ResponseStore } from "./store.ts";

const usage = {
  promptTokens: 12,
  cachedTokens: 4,
  completionTokens: 5,
  reasoningTokens: 2,
  promptMs: 16,
  completionMs: 20,
  closedByRule: false,
};
const text = (text: string): Event => ({ kind: "text", text, logprobs: [] });
const stop: Event = { kind: "finish", reason: { kind: "stop" }, usage };

/** The room over a service that says these events, each when `go` lets it. */
function serve(events: readonly Event[], { go, store }: { go?: () => Promise<void>; store?: ResponseStore } = {}) {
  const asked: Asked[] = [];
  const signals: AbortSignal[] = [];
  const unused = () => {
    throw new Error("not part of this test");
  };
  async function* told(signal: AbortSignal) {
    const gone = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => gone.resolve(), { once: true });
    for (const event of events) {
      if (go !== undefined) await Promise.race([go(), gone.promise]);
      if (signal.aborted) {
        yield { kind: "failure", failure: { kind: "cancelled" } } as const;
        return;
      }
      yield event;
    }
  }
  const service: Service = {
    answer: async (request, signal) => {
      asked.push(request);
      signals.push(signal);
      return ok({
        model: "M",
        promptTokens: 12,
        constraint: "none",
        relaxed: [],
        sampling: samplingOf(request.sampling),
        events: told(signal),
      });
    },
    prompt: ({ messages }) => {
      const said = JSON.stringify(messages);
      return ok({ text: said, tokens: Uint32Array.from(Buffer.from(said)) });
    },
    tokenize: unused,
    detokenize: unused,
    pieces: unused,
    embed: unused,
    status: unused,
    describe: unused,
    store: unusedStore,
    chosen: unused,
    models: unused,
    holdCalls: false,
    pingMs: 60_000,
    strictFields: false,
    lexicon: undefined,
  };
  const app = responsesRoutes(service, store);
  const send = async (method: string, path: string, body?: unknown) => {
    // As the server passes them on.
    const headers = { "x-request-id": "req_1" };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    return app.handle(new Request(`http://tenon${path}`, init));
  };
  return {
    app,
    asked,
    signals,
    send,
    json: async (method: string, path: string, body?: unknown) =>
      JSON.parse(await (await send(method, path, body)).text()),
  };
}

type StreamEvent = { readonly type: string; readonly sequence_number: number; readonly response?: { id: string } };

function eventsIn(stream: string): readonly StreamEvent[] {
  return stream
    .split("\n\n")
    .filter((frame) => frame.startsWith("event: "))
    .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + "data: ".length)));
}

test("a response is kept, found, continued, listed and deleted", async () => {
  const { json, asked } = serve([text("Hello."), stop]);
  const first = await json("POST", "/v1/responses", { input: "Hi", instructions: "Be kind." });
  expect(first).toMatchObject({ status: "completed", output: [{ content: [{ text: "Hello." }] }], store: true });
  expect(await json("GET", `/v1/responses/${first.id}`)).toEqual(first);

  const second = await json("POST", "/responses", { input: "And now?", previous_response_id: first.id });
  expect(second.previous_response_id).toBe(first.id);
  expect(asked[1]?.messages).toEqual([
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello.", reasoning: undefined, calls: [] },
    { role: "user", content: "And now?" },
  ]);
  const items = await json("GET", `/responses/${second.id}/input_items?order=asc`);
  expect(
    items.data.map(({ role, content }: { role: string; content: { text: string }[] }) => [role, content[0]?.text]),
  ).toEqual([
    ["user", "Hi"],
    ["assistant", "Hello."],
    ["user", "And now?"],
  ]);

  expect(await json("DELETE", `/v1/responses/${first.id}`)).toEqual({
    id: first.id,
    object: "response",
    deleted: true,
  });
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/cancel"],
    ["GET", "/input_items"],
  ] as const) {
    const { error } = await json(method, `/v1/responses/${first.id}${path}`);
    expect(error).toEqual({
      message: `Response with id '${first.id}' not found.`,
      type: "invalid_request_error",
      param: "id",
      code: null,
    });
  }
  // The second one has its own copy of what was said.
  await json("POST", "/v1/responses", { input: "Once more?", previous_response_id: second.id });
  expect(asked[2]?.messages.length).toBe(5);
});

test("a stream ends complete, is the same as the answer without, and can be heard again from any event on", async () => {
  const { send, json } = serve([text("Hel"), text("lo."), stop]);
  const told = await (await send("POST", "/v1/responses", { input: "Hi", stream: true })).text();
  const events = eventsIn(told);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
  const last = events.at(-1);
  expect(last?.type).toBe("response.completed");
  const id = last?.response?.id;
  expect(await json("GET", `/v1/responses/${id}`)).toEqual(last?.response);
  expect(await (await send("GET", `/v1/responses/${id}?stream=true`)).text()).toBe(told);
  const later = await (await send("GET", `/v1/responses/${id}?stream=true&starting_after=3`)).text();
  expect(eventsIn(later)).toEqual(events.slice(4));
  for (const [name, value] of [
    ["starting_after", "x"],
    ["starting_after", "-1"],
    ["stream", "yes"],
  ]) {
    const { error } = await json("GET", `/v1/responses/${id}?${name}=${value}`);
    expect(error).toMatchObject({ param: name, code: "invalid_value" });
  }
});

test("store false keeps nothing", async () => {
  const { json } = serve([text("Hello."), stop]);
  const { id, store } = await json("POST", "/v1/responses", { input: "Hi", store: false });
  expect(store).toBe(false);
  expect((await json("GET", `/v1/responses/${id}`)).error.param).toBe("id");
  const { error } = await json("POST", "/v1/responses", { input: "Hi", previous_response_id: id });
  expect(error).toEqual({
    message: `Previous response with id '${id}' not found.`,
    type: "invalid_request_error",
    param: "previous_response_id",
    code: "previous_response_not_found",
  });
});

test("items of kept responses can be referred to", async () => {
  const { json, asked } = serve([text("Hello."), stop]);
  const first = await json("POST", "/v1/responses", { input: [{ role: "user", content: "Hi", id: "msg_mine" }] });
  const references = [{ type: "item_reference", id: "msg_mine" }, { id: first.output[0].id }];
  await json("POST", "/v1/responses", { input: [...references, { role: "user", content: "More" }] });
  expect(asked[1]?.messages.map(({ content }) => content)).toEqual(["Hi", "Hello.", "More"]);
  expect(await json("POST", "/v1/responses", { input: [{ type: "item_reference", id: "msg_none" }] })).toMatchObject({
    error: { message: "Item with id 'msg_none' not found.", param: "input[0].id" },
  });
});

test("in the background: queued, in progress, heard while it is made, completed", async () => {
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
  let passed = 0;
  const go = () => gates[passed++]?.promise ?? Promise.resolve();
  const { send, json } = serve([text("Hel"), text("lo."), stop], { go });
  const { id, status, background } = await json("POST", "/v1/responses", { input: "Hi", background: true });
  expect({ status, background }).toEqual({ status: "queued", background: true });
  expect(await json("POST", "/v1/responses", { input: "?", previous_response_id: id })).toMatchObject({
    error: { code: "previous_response_not_ready" },
  });
  const heard = (await send("GET", `/v1/responses/${id}?stream=true`)).text();
  gates[0]?.resolve();
  while ((await json("GET", `/v1/responses/${id}`)).status === "queued") await turn();
  expect(await json("GET", `/v1/responses/${id}`)).toMatchObject({
    status: "in_progress",
    usage: null,
    output: [{ status: "in_progress", content: [{ text: "Hel" }] }],
  });
  gates[1]?.resolve();
  gates[2]?.resolve();
  const events = eventsIn(await heard);
  expect(events.slice(0, 4).map(({ type }) => type)).toEqual([
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.output_item.added",
  ]);
  expect(events.at(-1)?.response).toEqual(await json("GET", `/v1/responses/${id}`));
  // What has ended is not cancelled any more.
  expect((await json("POST", `/v1/responses/${id}/cancel`)).status).toBe("completed");
});

test("in the background: cancelled, and deleted", async () => {
  const never = () => new Promise<void>(() => {});
  const { send, json, signals } = serve([text("Hel"), stop], { go: never });
  const { id } = await json("POST", "/v1/responses", { input: "Hi", background: true });
  const heard = (await send("GET", `/v1/responses/${id}?stream=true`)).text();
  expect(await json("POST", `/v1/responses/${id}/cancel`)).toMatchObject({ id, status: "cancelled", error: null });
  expect(signals[0]?.aborted).toBe(true);
  expect(eventsIn(await heard).at(-1)).toMatchObject({ type: "response.failed", response: { status: "cancelled" } });

  const other = await json("POST", "/v1/responses", { input: "Hi", background: true });
  expect((await json("DELETE", `/v1/responses/${other.id}`)).deleted).toBe(true);
  expect(signals[1]?.aborted).toBe(true);
});

test("only what runs in the background can be cancelled", async () => {
  const { json } = serve([text("Hello."), stop]);
  const { id } = await json("POST", "/v1/responses", { input: "Hi" });
  expect((await json("POST", `/v1/responses/${id}/cancel`)).error.param).toBe("id");
});

test("a listener that leaves ends nothing; a caller that leaves ends its response, which is not kept", async () => {
  const never = () => new Promise<void>(() => {});
  const store = new ResponseStore();
  const { send, json, signals } = serve([text("Hel"), stop], { go: never, store });
  const { id } = await json("POST", "/v1/responses", { input: "Hi", background: true });
  const listening = await send("GET", `/v1/responses/${id}?stream=true`);
  const ear = listening.body?.getReader();
  await ear?.read();
  await ear?.cancel();
  expect(signals[0]?.aborted).toBe(false);

  const streaming = await send("POST", "/v1/responses", { input: "Hi", stream: true });
  const reader = streaming.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect(signals[1]?.aborted).toBe(true);
  expect(store.count).toBe(1);
});

test("a listener that the server lets go hears that it is not the end", async () => {
  const never = () => new Promise<void>(() => {});
  const { send, json, app } = serve([text("Hel"), stop], { go: never });
  const { id } = await json("POST", "/v1/responses", { input: "Hi", background: true });
  const letGo = new AbortController();
  const listening = await app.handle(
    new Request(`http://tenon/v1/responses/${id}?stream=true`, { signal: letGo.signal }),
  );
  const heard = listening.text();
  letGo.abort();
  const events = eventsIn(await heard);
  expect(events.length).toBe(3);
  expect(events.at(-1)).toMatchObject({
    type: "error",
    sequence_number: 2,
    code: "server_error",
    message: "The stream was cut off: the server is stopping.",
    param: null,
  });
  expect((await send("GET", `/v1/responses/${id}`)).status).toBe(200);
});

test("a failure is a status without stream, and an event in one", async () => {
  const { send, json } = serve([text("Hel"), { kind: "failure", failure: { kind: "engine", message: "It broke." } }]);
  const whole = await send("POST", "/v1/responses", { input: "Hi" });
  expect(whole.status).toBe(500);
  expect(await whole.json()).toEqual({
    error: { message: "It broke.", type: "server_error", param: null, code: null },
  });
  const events = eventsIn(await (await send("POST", "/v1/responses", { input: "Hi", stream: true })).text());
  expect(events.at(-1)).toMatchObject({
    type: "response.failed",
    response: {
      status: "failed",
      error: { code: "server_error", message: "It broke." },
      output: [{ status: "incomplete", content: [{ text: "Hel" }] }],
    },
  });
  expect((await json("GET", `/v1/responses/${events.at(-1)?.response?.id}`)).status).toBe("failed");
});

test("tokens of an input are counted, with all that comes before it", async () => {
  const { json } = serve([text("Hello."), stop]);
  const { id } = await json("POST", "/v1/responses", { input: "Hi" });
  const count = async (body: object) => (await json("POST", "/v1/responses/input_tokens", body)).input_tokens;
  const alone = await count({ input: "Hi" });
  expect(alone).toBe(JSON.stringify([{ role: "user", content: "Hi" }]).length);
  expect(await count({ input: "Hi", previous_response_id: id })).toBeGreaterThan(alone);
  expect(await json("POST", "/v1/responses/input_tokens", {})).toMatchObject({ error: { param: "input" } });
});

test("headers say how far a grammar holds and what nobody read", async () => {
  const { send } = serve([text("Hello."), stop]);
  for (const fields of [{}, { stream: true }, { store: false }, { background: true }]) {
    const { headers } = await send("POST", "/v1/responses", { input: "Hi", ...fields, what_is_this: 1 });
    expect(headers.get("x-tenon-constraint")).toBe("none");
    expect(headers.get("x-tenon-ignored")).toBe("what_is_this");
  }
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
