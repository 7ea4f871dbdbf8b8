import { afterEach, expect, test } from "bun:test";
import { APIUserAbortError, BadRequestError, InternalServerError, NotFoundError } from "openai";
import { standardResponsesFunction, standardTextFormat } from "openai/helpers/standard-schema";
import { bytewise, type Chat, call, type Piece, script, startChat, stuck } from "./fixtures/chat.ts";
import { checkedClient } from "./fixtures/checked-openai.ts";

let chat: Chat | undefined;
let faults: () => Promise<readonly string[]> = async () => [];
afterEach(async () => {
  await chat?.server.stop(0);
  chat = undefined;
  expect(await faults()).toEqual([]);
});

function connect(...[next, options]: Parameters<typeof startChat>) {
  chat = startChat(next, options);
  const checked = checkedClient(chat.server.url);
  faults = checked.faults;
  return { ...chat, client: checked.client };
}

const model = "any";
const input = "What is the weather in Łódź?";
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { type: "function", name: "weather", parameters: schema, strict: true } as const;
const patch = { type: "custom", name: "patch" } as const;

/** A Standard Schema of {city: string}. */
const city = {
  "~standard": {
    version: 1,
    vendor: "tests",
    validate: (value: unknown) =>
      typeof value === "object" && value !== null && "city" in value && typeof value.city === "string"
        ? { value: { city: value.city } }
        : { issues: [{ message: "not a city" }] },
  },
} as const;

test("create", async () => {
  const { client } = connect(() => script([["text", "Grüße 🌍"]]));
  const response = await client.responses.create({ model, input, metadata: { a: "b" }, instructions: "Be kind." });
  expect(response.output_text).toBe("Grüße 🌍");
  expect(response).toMatchObject({
    status: "completed",
    model: "replay",
    instructions: "Be kind.",
    metadata: { a: "b" },
    usage: { input_tokens: 3, input_tokens_details: { cached_tokens: 1 }, output_tokens: 2, total_tokens: 5 },
  });
  expect(response._request_id).toMatch(/^req_/);
});

/** A response as its body has it, without what differs from one time to the next. */
function comparable(response: object): object {
  const left = ["id", "call_id", "created_at", "completed_at", "parsed", "parsed_arguments", "output_parsed"];
  return JSON.parse(JSON.stringify(response, (key, value: unknown) => (left.includes(key) ? undefined : value)));
}

type Told = readonly [what: string, pieces: readonly Piece[], finish: "stop_token" | "length", fields: object];
const everything: readonly Piece[] = [
  ["reasoning", "Hm … 🤔"],
  ["text", "Grüße "],
  ["text", "🌍"],
  ...call(0, "weather", '{"city":"Łódź"}'),
  ["call_name", "patch", 1],
  ["custom_input", "*** Begin ü", 1],
  ["text", "Done."],
];

const told: readonly Told[] = [
  ["text", everything.slice(1, 3), "stop_token", {}],
  ["nothing", [], "stop_token", {}],
  ["everything", everything, "stop_token", { tools: [weather, patch] }],
  ["held calls", everything, "stop_token", { tools: [weather, patch], tenon_hold_calls: true }],
  ["a summary", everything, "stop_token", { tools: [weather, patch], reasoning: { summary: "auto" } }],
  ["thoughts alone", everything.slice(0, 1), "length", {}],
  ["a text cut off", everything.slice(0, 2), "length", {}],
  ["a stop string", everything.slice(1, 3), "stop_token", { stop: "e 🌍" }],
];
test.each(told)("the stream helper puts together the same as create returns: %s", async (_, pieces, finish, fields) => {
  for (const answer of [script(pieces, finish), bytewise(script(pieces, finish))]) {
    const { client, server } = connect(() => answer);
    const whole = await client.responses.create({ model, input, ...fields });
    const stream = client.responses.stream({ model, input, ...fields });
    const deltas: string[] = [];
    stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
    const final = await stream.finalResponse();
    expect(comparable(final)).toEqual(comparable(whole));
    expect(deltas.join("")).toBe(whole.output_text);
    expect(final.status).toBe(finish === "length" ? "incomplete" : "completed");
    // Told again, it is the same to the last id.
    const [found, heard] = [
      await client.responses.retrieve(final.id),
      client.responses.stream({ response_id: final.id }),
    ];
    expect(comparable(await heard.finalResponse())).toEqual(comparable(found));
    expect(found.output.map(({ id }) => id)).toEqual(final.output.map(({ id }) => id));
    expect(await faults()).toEqual([]);
    await server.stop(0);
  }
});

test("tools: the call, its result, and the answer; with the conversation sent back, and with it kept here", async () => {
  const answers = () => [script(call(0, "weather", '{"city":"Łódź"}')), script([["text", "Rain."]])];
  for (const kept of [false, true]) {
    const scripts = answers();
    const { client, requests, server } = connect(() => scripts.shift() ?? script([]));
    const first = await client.responses.create({ model, input, tools: [weather], tool_choice: "required" });
    const [called] = first.output;
    if (called?.type !== "function_call") throw new Error("no function call");
    expect(called).toMatchObject({ name: "weather", arguments: '{"city":"Łódź"}', status: "completed" });
    const result = { type: "function_call_output", call_id: called.call_id, output: "rain" } as const;
    const question = { role: "user", content: input } as const;
    const second = await client.responses.create({
      model,
      tools: [weather],
      ...(kept ? { previous_response_id: first.id, input: [result] } : { input: [question, called, result] }),
    });
    expect(second.output_text).toBe("Rain.");
    const [asked, answered] = requests.map(({ tokens }) => JSON.parse(Buffer.from(tokens).toString()));
    expect(asked).toEqual([question]);
    expect(answered).toMatchObject([
      question,
      { role: "assistant", calls: [{ name: "weather" }] },
      { role: "tool", content: "rain" },
    ]);
    await server.stop(0);
  }
});

test("curl's own content type, and no model", async () => {
  const { server } = connect(() => script([["text", "Hello."]]));
  for (const path of ["/v1/responses", "/responses"]) {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const body = JSON.stringify({ input });
    const response = await fetch(new URL(path, server.url), { method: "POST", headers, body });
    expect(await response.json()).toMatchObject({ model: "replay", output: [{ content: [{ text: "Hello." }] }] });
  }
});

test("custom tools, in and out", async () => {
  const scripts = [
    script([
      ["call_name", "patch", 0],
      ["custom_input", "*** Begin", 0],
    ]),
    script([["text", "Applied."]]),
  ];
  const { client } = connect(() => scripts.shift() ?? script([]));
  const first = await client.responses.create({ model, input, tools: [patch], tool_choice: patch });
  const [called] = first.output;
  if (called?.type !== "custom_tool_call") throw new Error("no custom tool call");
  expect(called).toMatchObject({ name: "patch", input: "*** Begin" });
  const output = { type: "custom_tool_call_output", call_id: called.call_id, output: "ok" } as const;
  const second = await client.responses.create({
    model,
    tools: [patch],
    previous_response_id: first.id,
    input: [output],
  });
  expect(second.output_text).toBe("Applied.");
});

test("parse helpers: a text format and a strict tool", async () => {
  const scripts = [script([["text", '{"city":"Łódź"}']], "complete"), script(call(0, "weather", '{"city":"Łódź"}'))];
  const { client } = connect(() => scripts.shift() ?? script([]));
  const format = standardTextFormat(city, "city", { schema });
  const parsed = await client.responses.parse({ model, input, text: { format } });
  expect(parsed.output_parsed).toEqual({ city: "Łódź" });
  const tool = standardResponsesFunction({ name: "weather", parameters: city, schema });
  const called = await client.responses.parse({ model, input, tools: [tool] });
  expect(called.output[0]).toMatchObject({ type: "function_call", parsed_arguments: { city: "Łódź" } });
});

test("log-probabilities where they are included", async () => {
  const token = { kind: "token", token: 97, logprob: -0.5, top: [{ token: 98, logprob: -1 }] } as const;
  const { events, ...rest } = script([["text", "a"]]);
  const { client, requests } = connect(() => ({ events: [token, ...events], ...rest }));
  const include = ["message.output_text.logprobs" as const];
  const told = [
    await client.responses.create({ model, input, include, top_logprobs: 1 }),
    await client.responses.stream({ model, input, include, top_logprobs: 1 }).finalResponse(),
    await client.responses.create({ model, input, top_logprobs: 1 }),
  ];
  const logprobs = told.map(({ output: [item] }) => {
    const part = item?.type === "message" ? item.content[0] : undefined;
    return part?.type === "output_text" ? part.logprobs : undefined;
  });
  const entry = {
    token: "a",
    logprob: -0.5,
    bytes: [97],
    top_logprobs: [{ token: "b", logprob: -1, bytes: [98] }],
  };
  expect(logprobs).toEqual([[entry], [entry], []]);
  expect(requests.map((request) => request.logprobs)).toEqual([1, 1, undefined]);
});

test("kept responses: retrieved, listed page by page, deleted", async () => {
  const { client } = connect(() => script([["text", "Hello."]]));
  const first = await client.responses.create({ model, input: "one" });
  const second = await client.responses.create({ model, input: "two", previous_response_id: first.id });
  expect(await client.responses.retrieve(second.id)).toMatchObject({ ...second });
  const listed: unknown[] = [];
  for await (const item of client.responses.inputItems.list(second.id, { limit: 2, order: "asc" })) {
    listed.push(item.type === "message" ? item.content : item);
  }
  expect(listed).toMatchObject([[{ text: "one" }], [{ text: "Hello." }], [{ text: "two" }]]);
  const [last] = (await client.responses.inputItems.list(second.id, { order: "asc" })).data.slice(-1);
  const beyond = await client.responses.inputItems.list(second.id, { order: "asc", after: last?.id ?? "" });
  expect(beyond.data).toEqual([]);
  await client.responses.delete(first.id);
  await expect(client.responses.retrieve(first.id).then((found) => found)).rejects.toBeInstanceOf(NotFoundError);
  expect((await client.responses.retrieve(second.id)).output_text).toBe("Hello.");
});

test("counting input tokens", async () => {
  const { client } = connect(() => script([]));
  const { input_tokens } = await client.responses.inputTokens.count({ model, input: "one" });
  expect(input_tokens).toBe(JSON.stringify([{ role: "user", content: "one" }]).length);
});

test("in the background: made, waited for, cancelled", async () => {
  const scripts = [script([["text", "Hello."]]), stuck([["text", "Hel"]])];
  const { client, engine } = connect(() => scripts.shift() ?? script([]));
  const first = await client.responses.create({ model, input, background: true });
  expect(["queued", "in_progress"]).toContain(String(first.status));
  let found = await client.responses.retrieve(first.id);
  for (; found.status !== "completed"; found = await client.responses.retrieve(first.id)) await turn();
  expect(found.output_text).toBe("Hello.");

  const second = await client.responses.create({ model, input, background: true, stream: true });
  let id = "";
  for await (const event of second) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  expect(engine.stats().running).toBe(1);
  const cancelled = await client.responses.cancel(id);
  expect(cancelled).toMatchObject({ id, status: "cancelled", error: null, output: [{ status: "incomplete" }] });
  expect(engine.stats().running).toBe(0);
  expect((await client.responses.retrieve(id)).status).toBe("cancelled");
  await expect(client.responses.cancel("resp_none").then((found) => found)).rejects.toBeInstanceOf(NotFoundError);
});

test("errors become the SDK's classes, with parameter and code", async () => {
  const { client } = connect(() => ({ kind: "overloaded" }), { strictModels: true });
  const errorOf = (fields: object) =>
    client.responses.create({ model: "replay", input, ...fields }).then(
      () => undefined,
      (error: unknown) => error,
    );
  const bad = await errorOf({ temperature: 9 });
  expect(bad).toBeInstanceOf(BadRequestError);
  expect(bad).toMatchObject({ param: "temperature", code: "invalid_value", type: "invalid_request_error" });
  expect(await errorOf({ tool_choice: "required" })).toMatchObject({ status: 400, param: "tool_choice" });
  const format = { type: "json_object" };
  expect(await errorOf({ tools: [weather], tool_choice: "required", text: { format } })).toMatchObject({
    status: 400,
    param: "tool_choice",
    message: expect.stringContaining("two constraints cannot be composed"),
  });
  expect(await errorOf({ conversation: "conv_1" })).toMatchObject({ status: 400, param: "conversation" });
  expect(await errorOf({ tools: [{ type: "web_search" }] })).toMatchObject({ status: 400, param: "tools[0].type" });
  expect(await errorOf({ previous_response_id: "resp_none" })).toMatchObject({ code: "previous_response_not_found" });
  expect(await errorOf({ tools: [weather], tool_choice: "required", max_output_tokens: 2 })).toMatchObject({
    status: 400,
    param: "max_output_tokens",
  });
  expect(await errorOf({ input: "long ".repeat(2000) })).toMatchObject({ status: 503 });
  const missing = await errorOf({ model: "gpt-4o" });
  expect(missing).toBeInstanceOf(NotFoundError);
  expect(missing).toMatchObject({ code: "model_not_found" });
  const busy = await errorOf({});
  expect(busy).toBeInstanceOf(InternalServerError);
  expect(busy).toMatchObject({ status: 503 });
});

test("a failure without stream is a status, and in one the last event", async () => {
  const { client } = connect(() => script([["text", "a"]], "failed"));
  const whole = client.responses.create({ model, input }).then((response) => response);
  await expect(whole).rejects.toMatchObject({ status: 500, type: "server_error" });
  const final = await client.responses.stream({ model, input }).finalResponse();
  expect(final).toMatchObject({
    status: "failed",
    error: { code: "server_error" },
    output: [{ status: "incomplete" }],
  });
});

test("an abort, and leaving the loop, cancel the engine", async () => {
  const { client, engine, requests, logged } = connect(() => stuck([["text", "a"]]));
  const left = await client.responses.create({ model, input, stream: true });
  for await (const event of left) if (event.type === "response.output_text.delta") break;
  await cancelled(1);

  const controller = new AbortController();
  const { signal } = controller;
  const whole = client.responses.create({ model, input }, { signal }).then((response) => response);
  while (requests.length < 2) await turn();
  controller.abort();
  await expect(whole).rejects.toBeInstanceOf(APIUserAbortError);
  await cancelled(2);

  async function cancelled(count: number): Promise<void> {
    while (logged.filter(([, event]) => event === "answer_failed").length < count) await turn();
    expect(engine.stats().running).toBe(0);
  }
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
