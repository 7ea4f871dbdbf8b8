import { afterEach, expect, test } from "bun:test";
import { APIError, APIUserAbortError, BadRequestError, InternalServerError, NotFoundError } from "openai";
import { standardFunction, standardResponseFormat } from "openai/helpers/standard-schema";
import { ok } from "../src/generation/result.ts";
import { type Chat, call, script, startChat, stuck } from "./fixtures/chat.ts";
import { checkedClient } from "./fixtures/checked-openai.ts";

let chat: Chat | undefined;
let faults: (() => Promise<readonly string[]>) | undefined;
afterEach(async () => {
  expect((await faults?.()) ?? []).toEqual([]);
  await chat?.server.stop(0);
  chat = undefined;
});

function connect(...[next, options]: Parameters<typeof startChat>) {
  chat = startChat(next, options);
  const checked = checkedClient(chat.server.url);
  ({ faults } = checked);
  return { client: checked.client, ...chat };
}

const model = "any";
const messages = [{ role: "user", content: "What is the weather in Łódź?" } as const];
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { type: "function", function: { name: "weather", parameters: schema } } as const;

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

test("a chat", async () => {
  const { client } = connect(() => script([["text", "Grüße 🌍"]]));
  const completion = await client.chat.completions.create({ model, messages });
  expect(completion.choices[0]?.message.content).toBe("Grüße 🌍");
  expect(completion.choices[0]?.finish_reason).toBe("stop");
  expect(completion.model).toBe("replay");
  expect(completion.usage?.total_tokens).toBe(5);
  expect(completion._request_id).toMatch(/^req_/);
});

test("a stream, chunk by chunk and through the SDK's accumulator", async () => {
  const { client } = connect(() =>
    script([
      ["text", "Grüße "],
      ["text", "🌍"],
    ]),
  );
  const stream = await client.chat.completions.create({ model, messages, stream: true });
  const contents: (string | null | undefined)[] = [];
  for await (const chunk of stream) contents.push(chunk.choices[0]?.delta.content);
  expect(contents).toEqual(["", "Grüße ", "🌍", undefined]);

  const accumulated = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
  const final = await accumulated.finalChatCompletion();
  expect(final.choices[0]?.message.content).toBe("Grüße 🌍");
  expect(final.choices[0]?.finish_reason).toBe("stop");
  expect(final.usage?.prompt_tokens).toBe(3);
});

test("tools: the call, its result, and the answer", async () => {
  const scripts = [script(call(0, "weather", '{"city":"Łódź"}')), script([["text", "Rain."]])];
  const { client, requests } = connect(() => scripts.shift() ?? script([]));
  const first = await client.chat.completions.create({ model, messages, tools: [weather], tool_choice: "required" });
  const message = first.choices[0]?.message;
  const [called] = message?.tool_calls ?? [];
  if (message === undefined || called?.type !== "function") throw new Error("no function call");
  expect(message.content).toBeNull();
  expect(called.function).toEqual({ name: "weather", arguments: '{"city":"Łódź"}' });
  expect(first.choices[0]?.finish_reason).toBe("tool_calls");

  const result = { role: "tool", tool_call_id: called.id, content: "rain" } as const;
  const second = await client.chat.completions.create({
    model,
    messages: [...messages, message, result],
    tools: [weather],
  });
  expect(second.choices[0]?.message.content).toBe("Rain.");
  expect(requests.length).toBe(2);
});

test("streamed calls are accumulated, also when they are held", async () => {
  for (const holdCalls of [false, true]) {
    const { client } = connect(
      () => script([["text", "See:"], ...call(0, "weather", '{"city":"a"}'), ...call(1, "weather", '{"city":"b"}')]),
      { holdCalls },
    );
    const stream = client.chat.completions.stream({ model, messages, tools: [weather] });
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0] ?? {};
    expect(finish_reason).toBe("tool_calls");
    expect(message?.content).toBe("See:");
    expect(message?.tool_calls?.map((each) => each.type === "function" && each.function.arguments)).toEqual([
      '{"city":"a"}',
      '{"city":"b"}',
    ]);
    await chat?.server.stop(0);
  }
});

test("parse helpers: a response format and a strict tool", async () => {
  const scripts = [script([["text", '{"city":"Łódź"}']], "complete"), script(call(0, "weather", '{"city":"Łódź"}'))];
  const { client } = connect(() => scripts.shift() ?? script([]));
  const format = standardResponseFormat(city, "city", { schema });
  const parsed = await client.chat.completions.parse({ model, messages, response_format: format });
  expect(parsed.choices[0]?.message.parsed).toEqual({ city: "Łódź" });

  const tool = standardFunction({ name: "weather", parameters: city, schema });
  const called = await client.chat.completions.parse({ model, messages, tools: [tool] });
  expect(called.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    function: { parsed_arguments: { city: "Łódź" } },
  });
});

test("the tool runner calls our function and sends back what it says", async () => {
  const scripts = [script(call(0, "weather", '{"city":"Łódź"}')), script([["text", "Rain."]])];
  const { client } = connect(() => scripts.shift() ?? script([]));
  const asked: unknown[] = [];
  const tool = standardFunction({
    name: "weather",
    parameters: city,
    schema,
    function: (args) => {
      asked.push(args);
      return "rain";
    },
  });
  const runner = client.chat.completions.runTools({ model, messages, tools: [tool], stream: true });
  expect(await runner.finalContent()).toBe("Rain.");
  expect(asked).toEqual([{ city: "Łódź" }]);
});

test("errors become the SDK's classes, with parameter and code", async () => {
  const { client } = connect(() => ({ kind: "overloaded" }), { strictModels: true });
  const errorOf = (fields: object) =>
    client.chat.completions.create({ model: "replay", messages, ...fields }).then(
      () => undefined,
      (error: unknown) => error,
    );
  const bad = await errorOf({ temperature: 9 });
  expect(bad).toBeInstanceOf(BadRequestError);
  expect(bad).toMatchObject({
    status: 400,
    param: "temperature",
    code: "invalid_value",
    type: "invalid_request_error",
  });
  expect(await errorOf({ tool_choice: "required" })).toMatchObject({ status: 400, param: "tool_choice" });
  const missing = await errorOf({ model: "gpt-4o" });
  expect(missing).toBeInstanceOf(NotFoundError);
  expect(missing).toMatchObject({ code: "model_not_found" });
  const busy = await errorOf({});
  expect(busy).toBeInstanceOf(InternalServerError);
  expect(busy).toMatchObject({ status: 503 });
});

test("a failure in a stream is thrown", async () => {
  const { client } = connect(() => script([["text", "a"]], "failed"));
  const stream = await client.chat.completions.create({ model, messages, stream: true });
  const seen: unknown[] = [];
  const read = async () => {
    for await (const chunk of stream) seen.push(chunk.choices[0]?.delta.content);
  };
  await expect(read()).rejects.toBeInstanceOf(APIError);
  expect(seen).toEqual(["", "a"]);
});

test("an abort, and leaving the loop, cancel the engine", async () => {
  const { client, engine, requests, logged } = connect(() => stuck([["text", "a"]]));
  const left = await client.chat.completions.create({ model, messages, stream: true });
  for await (const chunk of left) if (chunk.choices[0]?.delta.content === "a") break;
  await cancelled(1);

  const controller = new AbortController();
  const { signal } = controller;
  const whole = client.chat.completions.create({ model, messages }, { signal }).then((completion) => completion);
  while (requests.length < 2) await turn();
  controller.abort();
  await expect(whole).rejects.toBeInstanceOf(APIUserAbortError);
  await cancelled(2);

  async function cancelled(count: number): Promise<void> {
    while (logged.filter(([, event]) => event === "answer_failed").length < count) await turn();
    expect(engine.stats().running).toBe(0);
  }
});

test("models", async () => {
  const { client } = connect(() => script([]));
  expect((await client.models.list()).data.map((each) => each.id)).toEqual(["replay"]);
  expect((await client.models.retrieve("replay")).object).toBe("model");
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("several choices, streamed and not", async () => {
  const { client, requests } = connect(() => script([["text", `answer ${requests.length}`]]));
  const whole = await client.chat.completions.create({ model, messages, n: 2 });
  expect(whole.choices.map(({ message }) => message.content)).toEqual(["answer 1", "answer 2"]);
  const streamed = await client.chat.completions.stream({ model, messages, n: 2 }).finalChatCompletion();
  expect(streamed.choices.map(({ message }) => message.content)).toEqual(["answer 3", "answer 4"]);
});

test("custom tools: the call, its input, and the result", async () => {
  const input = 'print("Łódź")\n';
  const called = script([
    ["markup", '<tool_call>\n{"name": "', 0],
    ["call_name", "run", 0],
    ["markup", '"}\n', 0],
    ["custom_input", input, 0],
    ["markup", "\n</tool_call>", 0],
  ]);
  const scripts = [called, script([["text", "Done."]])];
  const { client } = connect(() => scripts.shift() ?? script([]));
  const tools = [{ type: "custom", custom: { name: "run", description: "Runs code." } } as const];
  const tool_choice = { type: "custom", custom: { name: "run" } } as const;
  const first = await client.chat.completions.create({ model, messages, tools, tool_choice });
  const message = first.choices[0]?.message;
  const [call] = message?.tool_calls ?? [];
  if (message === undefined || call?.type !== "custom") throw new Error("no custom call");
  expect(call.custom).toEqual({ name: "run", input });
  const result = { role: "tool", tool_call_id: call.id, content: "Łódź" } as const;
  const second = await client.chat.completions.create({ model, messages: [...messages, message, result], tools });
  expect(second.choices[0]?.message.content).toBe("Done.");
});

test("log-probabilities beside tools, in a stream", async () => {
  const { events, ...rest } = script([["text", "H"], ...call(0, "weather", "{}")]);
  const token = { kind: "token", token: 72, logprob: -0.5, top: [{ token: 71, logprob: -1 }] } as const;
  const { client } = connect(() => ({ ...rest, events: [token, ...events] }));
  const asked = { model, messages, tools: [weather], logprobs: true, top_logprobs: 1 };
  const { choices } = await client.chat.completions.stream(asked).finalChatCompletion();
  expect(choices[0]?.logprobs?.content).toEqual([
    { token: "H", logprob: -0.5, bytes: [72], top_logprobs: [{ token: "G", logprob: -1, bytes: [71] }] },
  ]);
  expect(choices[0]?.message.tool_calls?.length).toBe(1);
});

test("a prompt's log-probabilities, and the best of several completions", async () => {
  const prompt = { kind: "prompt_token", token: 98, logprob: -1, top: [{ token: 99, logprob: -0.5 }] } as const;
  const { client } = connect(() => ({ events: [prompt], finish: "length", logprobSum: -2 }));
  const asked = { model, prompt: "ab", echo: true, logprobs: 1, max_tokens: 0 };
  const { choices } = await client.completions.create(asked);
  expect(choices[0]?.text).toBe("ab");
  expect(choices[0]?.logprobs?.text_offset).toEqual([0, 1]);
  const best = await client.completions.create({ ...asked, best_of: 3 });
  expect(best.choices).toEqual(choices);
});

test("completions, whole and streamed", async () => {
  const { client } = connect(() => script([["text", " upon"]]));
  const whole = await client.completions.create({ model, prompt: ["Once", "Twice"], echo: true });
  expect(whole.choices.map(({ text }) => text)).toEqual(["Once upon", "Twice upon"]);
  expect(whole.usage).toMatchObject({ prompt_tokens: 6, completion_tokens: 4 });
  const stream = await client.completions.create({ model, prompt: [79, 110], stream: true });
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.text;
  expect(text).toBe(" upon");
});

test("embeddings come as the SDK asks for them, and are refused by other models", async () => {
  const { client } = connect(() => script([]), {
    service: {
      embed: async (inputs) => ok({ vectors: inputs.map(() => Float32Array.of(0.5, -2)), promptTokens: 4 }),
    },
  });
  const { data } = await client.embeddings.create({ model, input: ["a", "b"] });
  expect(data.map(({ embedding }) => [...embedding])).toEqual([
    [0.5, -2],
    [0.5, -2],
  ]);
  await chat?.server.stop(0);
  const { client: other } = connect(() => script([]));
  const refused = other.embeddings.create({ model, input: "a" }).then((answer) => answer);
  await expect(refused).rejects.toBeInstanceOf(BadRequestError);
});
