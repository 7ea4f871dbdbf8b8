import { afterEach, expect, test } from "bun:test";
import Anthropic, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
} from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { type Chat, call, script, startChat, stuck } from "./fixtures/chat.ts";

let chat: Chat | undefined;
afterEach(async () => {
  await chat?.server.stop(0);
  chat = undefined;
});

function connect(...[next, options]: Parameters<typeof startChat>) {
  chat = startChat(next, options);
  const client = new Anthropic({ baseURL: chat.server.url.origin, apiKey: "none", maxRetries: 0 });
  return { client, ...chat };
}

const messages: MessageParam[] = [{ role: "user", content: "What is the weather in Łódź?" }];
const base = { model: "any", max_tokens: 100, messages };
const citySchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;
const weather = {
  name: "weather",
  description: "The weather of a city",
  input_schema: { ...citySchema, required: ["city"] },
};

test("a message", async () => {
  const { client } = connect(() => script([["text", "Grüße 🌍"]]));
  const message = await client.messages.create(base);
  expect(message.content).toEqual([{ type: "text", text: "Grüße 🌍", citations: null }]);
  expect(message).toMatchObject({ model: "replay", role: "assistant", stop_reason: "end_turn", stop_sequence: null });
  expect(message.id).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(message.usage).toMatchObject({ input_tokens: 2, cache_read_input_tokens: 1, output_tokens: 2 });
  expect(message._request_id).toMatch(/^req_/);
});

test("a stream, event by event and through the SDK's accumulator", async () => {
  const { client } = connect(() =>
    script([
      ["text", "Grüße "],
      ["text", "🌍"],
    ]),
  );
  const kinds: string[] = [];
  for await (const event of await client.messages.create({ ...base, stream: true })) kinds.push(event.type);
  expect(kinds).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);

  const texts: string[] = [];
  const stream = client.messages.stream(base).on("text", (text) => texts.push(text));
  const final = await stream.finalMessage();
  expect(texts).toEqual(["Grüße ", "🌍"]);
  expect(await stream.finalText()).toBe("Grüße 🌍");
  const whole = await client.messages.create(base);
  expect<unknown>({ ...final, id: "" }).toEqual({ ...whole, id: "", parsed_output: null });
});

test("thoughts, text and calls: the stream's message is the one without stream", async () => {
  const pieces = [
    ["reasoning", "Hm, "],
    ["reasoning", "weather."],
    ["text", "See:"],
    ...call(0, "weather", '{"city":"Łódź"}'),
    ...call(1, "weather", "{}"),
  ] as const;
  const { client } = connect(() => script(pieces));
  const asked = { ...base, tools: [weather], thinking: { type: "adaptive" } as const };
  const whole = await client.messages.create(asked);
  expect(whole.stop_reason).toBe("tool_use");
  expect(whole.content.map((block) => block.type)).toEqual(["thinking", "text", "tool_use", "tool_use"]);
  const inputs: string[] = [];
  const stream = client.messages.stream(asked).on("inputJson", (partial) => inputs.push(partial));
  const final = await stream.finalMessage();
  expect(inputs.join("|")).toBe('{"city":"Łódź"}|{}');
  const withoutIds = ({ content }: typeof whole) =>
    content.map((block) => (block.type === "tool_use" ? { ...block, id: block.id.replace(/\w{24}$/, "") } : block));
  expect(withoutIds(final)).toEqual(withoutIds(whole));
  expect(withoutIds(whole)[2]).toMatchObject({ id: "toolu_", input: { city: "Łódź" } });
});

test("a tool's call, its result, and the answer", async () => {
  const scripts = [script(call(0, "weather", '{"city":"Łódź"}')), script([["text", "Rain."]])];
  const { client, requests } = connect(() => scripts.shift() ?? script([]));
  const first = await client.messages.create({ ...base, tools: [weather], tool_choice: { type: "any" } });
  const [used] = first.content;
  if (used?.type !== "tool_use") throw new Error("no call");
  expect(used).toMatchObject({ name: "weather", input: { city: "Łódź" } });
  const second = await client.messages.create({
    ...base,
    tools: [weather],
    messages: [
      ...messages,
      { role: "assistant", content: first.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: used.id, content: "rain" }] },
    ],
  });
  expect(second.content).toMatchObject([{ text: "Rain." }]);
  expect(requests.length).toBe(2);
});

test("the tool runner calls our function and sends back what it says, or that it failed", async () => {
  for (const stream of [false, true]) {
    const scripts = [
      script(call(0, "weather", '{"city":"Łódź"}')),
      script(call(0, "weather", '{"city":"nowhere"}')),
      script([["text", "Rain."]]),
    ];
    const { client, requests } = connect(() => scripts.shift() ?? script([]));
    const asked: unknown[] = [];
    const run = ({ city }: { readonly city: string }) => {
      asked.push(city);
      if (city === "nowhere") throw new Error("no such place");
      return "rain";
    };
    const tool = betaTool({ name: "weather", description: "The weather of a city", inputSchema: citySchema, run });
    const final = await client.beta.messages.toolRunner({ ...base, tools: [tool], stream });
    expect(final.content).toMatchObject([{ type: "text", text: "Rain." }]);
    expect(asked).toEqual(["Łódź", "nowhere"]);
    const last = requests.at(-1);
    expect(Buffer.from(last?.tokens ?? []).toString()).toContain('"role":"tool","content":"Error: no such place"');
    await chat?.server.stop(0);
  }
});

test("an output format is parsed by the SDK", async () => {
  const { client } = connect(() => script([["text", '{"city":"Łódź"}']], "complete"));
  const format = jsonSchemaOutputFormat(citySchema);
  const parsed = await client.messages.parse({ ...base, output_config: { format } });
  expect(parsed.parsed_output).toEqual({ city: "Łódź" });
});

test("stop sequences and the token limit are told apart", async () => {
  const { client } = connect(() => script([["text", "one END two"]], "length"));
  const stopped = await client.messages.create({ ...base, stop_sequences: ["END"] });
  expect(stopped).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: "END", content: [{ text: "one " }] });
  expect(await client.messages.create(base)).toMatchObject({ stop_reason: "max_tokens", stop_sequence: null });
});

test("an answer goes on from the assistant's last words", async () => {
  const { client, requests } = connect(() => script([["text", " rainy."]]));
  const begun: MessageParam[] = [...messages, { role: "assistant", content: "It is" }];
  const message = await client.messages.create({ ...base, messages: begun });
  expect(message.content).toMatchObject([{ text: " rainy." }]);
  expect(Buffer.from(requests[0]?.tokens ?? []).toString()).toEndWith('Łódź?"}]It is');
});

test("counting tokens is exact, and runs nothing", async () => {
  const { client, requests } = connect(() => script([]));
  const fields = { system: "Be kind.", tools: [weather], messages };
  const counted = await client.messages.countTokens({ model: "any", ...fields });
  expect(Object.keys(counted)).toEqual(["input_tokens"]);
  expect(requests).toEqual([]);
  const stream = client.messages.stream({ ...base, ...fields });
  const started = await new Promise<number>((resolve) =>
    stream.on("streamEvent", (event) => {
      if (event.type === "message_start") resolve(event.message.usage.input_tokens);
    }),
  );
  expect(counted.input_tokens).toBe(started);
  expect(requests[0]?.tokens.length).toBe(counted.input_tokens);
  await stream.done();
});

test("models", async () => {
  const { client } = connect(() => script([]));
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toEqual(["replay"]);
  expect(await client.models.retrieve("replay")).toMatchObject({
    type: "model",
    display_name: "replay",
    created_at: "1970-01-01T00:00:01.000Z",
    max_input_tokens: 4096,
  });
  expect(await client.models.list({ limit: 1, after_id: "replay" })).toMatchObject({ data: [], has_more: false });
  const missing = await errorOf(client.models.retrieve("a/b"));
  expect(missing).toBeInstanceOf(NotFoundError);
  expect(missing).toMatchObject({ type: "not_found_error", apiMessage: "model: a/b" });
});

test("errors become the SDK's classes, with type and request id", async () => {
  const { client } = connect(() => ({ kind: "overloaded" }), { strictModels: true });
  const ask = (fields: object) => errorOf(client.messages.create({ ...base, model: "replay", ...fields }));
  const bad = await ask({ temperature: 9 });
  expect(bad).toBeInstanceOf(BadRequestError);
  expect(bad).toMatchObject({
    status: 400,
    type: "invalid_request_error",
    apiMessage: "temperature: Invalid value for 'temperature': expected a number from 0 to 1.",
    requestID: expect.stringMatching(/^req_/),
  });
  expect(await ask({ tool_choice: { type: "any" } })).toMatchObject({ status: 400 });
  expect(await ask({ max_tokens: undefined })).toMatchObject({ apiMessage: "max_tokens: Field required" });
  const missing = await ask({ model: "claude" });
  expect(missing).toBeInstanceOf(NotFoundError);
  expect(missing).toMatchObject({ apiMessage: "model: claude" });
  const busy = await ask({});
  expect(busy).toMatchObject({ status: 529, type: "overloaded_error" });
  expect(await errorOf(client.messages.batches.list())).toMatchObject({ status: 404, type: "not_found_error" });
  expect(await errorOf(client.beta.files.list())).toMatchObject({ status: 404, type: "not_found_error" });
});

test("a failure in a stream is thrown", async () => {
  const { client } = connect(() => script([["text", "a"]], "failed"));
  const seen: string[] = [];
  const stream = client.messages.stream(base).on("text", (text) => seen.push(text));
  const error = await errorOf(stream.finalMessage());
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ type: "api_error" });
  expect(seen).toEqual(["a"]);
});

test("an abort, and leaving the loop, cancel the engine", async () => {
  const { client, engine, requests, logged } = connect(() => stuck([["text", "a"]]));
  for await (const event of await client.messages.create({ ...base, stream: true })) {
    if (event.type === "content_block_delta") break;
  }
  await cancelled(1);

  const controller = new AbortController();
  const whole = errorOf(client.messages.create(base, { signal: controller.signal }));
  while (requests.length < 2) await turn();
  controller.abort();
  expect(await whole).toBeInstanceOf(APIUserAbortError);
  await cancelled(2);

  async function cancelled(count: number): Promise<void> {
    while (logged.filter(([, event]) => event === "answer_failed").length < count) await turn();
    expect(engine.stats().running).toBe(0);
  }
});

test("pings keep a silent stream alive, and the SDK passes over them", async () => {
  const silent = Promise.withResolvers<void>();
  const { client, server } = connect(() => ({ ...script([["text", "late"]]), pace: () => silent.promise }), {
    pingMs: 1,
  });
  const stream = client.messages.stream(base);
  const raw = await fetch(new URL("/v1/messages", server.url), {
    method: "POST",
    body: JSON.stringify({ ...base, stream: true }),
  });
  if (raw.body === null) throw new Error("no body");
  let text = "";
  for await (const chunk of raw.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split('event: ping\ndata: {"type":"ping"}\n\n').length > 3) silent.resolve();
  }
  expect(text).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n');
  expect(await stream.finalText()).toBe("late");
});

test("keys are the server's affair, and refused in this shape", async () => {
  const started = startChat(() => script([["text", "a"]]), { server: { apiKeys: ["sk-right"] } });
  chat = started;
  const with_ = (apiKey: string) => new Anthropic({ baseURL: started.server.url.origin, apiKey, maxRetries: 0 });
  const refused = await errorOf(with_("sk-wrong").messages.create(base));
  expect(refused).toBeInstanceOf(AuthenticationError);
  expect(refused).toMatchObject({ type: "authentication_error" });
  expect((await with_("sk-right").messages.create(base)).content).toMatchObject([{ text: "a" }]);
});

function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(promise).then(
    () => undefined,
    (error: unknown) => error,
  );
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
