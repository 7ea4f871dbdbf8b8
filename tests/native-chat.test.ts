import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import Ajv from "ajv";
import OpenAI from "openai";
import { standardFunction, standardResponseFormat } from "openai/helpers/standard-schema";
import { modelPath, startTenon } from "./fixtures/running.ts";

const vocabulary = modelPath("Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf");
const run = test.skipIf(vocabulary === undefined);
if (vocabulary === undefined)
  console.log("skipped: tests over the noise model need the Qwen2.5-Coder file in the models folder");

// Tokens of a large vocabulary on a busy machine.
setDefaultTimeout(120_000);

let tenon: Awaited<ReturnType<typeof startTenon>>;
beforeAll(async () => {
  if (vocabulary !== undefined) tenon = await startTenon(["-m", "noise", "--vocabulary", vocabulary, "--slots", "8"]);
});
afterAll(() => tenon?.stop(0));

const trip = {
  type: "object",
  properties: {
    city: { type: "string", maxLength: 20 },
    nights: { type: "integer", minimum: 1, maximum: 30 },
    tags: { type: "array", items: { enum: ["sea", "snow", "quiet"] }, maxItems: 3 },
  },
  required: ["city", "nights"],
  additionalProperties: false,
};
const tools = [
  { type: "function", function: { name: "book_trip", parameters: trip } },
  { type: "function", function: { name: "now" } },
];
const ajv = new Ajv();
const isTrip = ajv.compile(trip);
const isEmpty = ajv.compile({ type: "object", additionalProperties: false });

type Message = {
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
};
type Answer = { readonly message: Message; readonly finish: string };

function post(fields: object): Promise<Response> {
  const body = JSON.stringify({
    messages: [{ role: "user", content: "Plan something." }],
    temperature: 1.5,
    ...fields,
  });
  return fetch(new URL("/v1/chat/completions", tenon.server.url), { method: "POST", body });
}

async function answerOf(fields: object): Promise<Answer> {
  const response = await post(fields);
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  const [choice] = JSON.parse(text).choices;
  return { message: choice.message, finish: choice.finish_reason };
}

async function streamedAnswerOf(fields: object): Promise<Answer> {
  const response = await post({ ...fields, stream: true });
  const text = await response.text();
  let content: string | null = null;
  let finish = "";
  const calls: { id: string; function: { name: string; arguments: string } }[] = [];
  for (const line of text.split("\n\n").filter((frame) => frame.startsWith("data: {"))) {
    const [choice] = JSON.parse(line.slice("data: ".length)).choices;
    finish = choice.finish_reason ?? finish;
    if (typeof choice.delta.content === "string") content = (content ?? "") + choice.delta.content;
    for (const { index, id, function: called } of choice.delta.tool_calls ?? []) {
      const call = calls[index];
      if (call === undefined) calls[index] = { id, function: { name: called.name, arguments: called.arguments } };
      else call.function.arguments += called.arguments;
    }
  }
  return { message: { content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }, finish };
}

/** Whether every call is to a tool that was offered, with arguments that fit. */
function callsAreRight({ message }: Answer): boolean {
  return (message.tool_calls ?? []).every(({ function: { name, arguments: text } }) =>
    name === "book_trip" ? isTrip(JSON.parse(text)) : name === "now" && isEmpty(JSON.parse(text)),
  );
}

/** An answer without what is random in it. */
function essence({ message, finish }: Answer) {
  return { content: message.content, calls: (message.tool_calls ?? []).map((call) => call.function), finish };
}

const named = { type: "function", function: { name: "book_trip" } };

run.each([
  ["required", {}],
  [named, {}],
  ["required", { parallel_tool_calls: false }],
  [{ type: "allowed_tools", allowed_tools: { mode: "required", tools: [named] } }, {}],
] as const)("forced by %j with %j: nothing but right calls, streamed or not", async (toolChoice, fields) => {
  for (let seed = 0; seed < 12; seed++) {
    const request = { tools, tool_choice: toolChoice, seed, max_tokens: 40 + 9 * seed, ...fields };
    const answer = await answerOf(request);
    expect(answer).toMatchObject({ message: { content: null }, finish: "tool_calls" });
    expect(callsAreRight(answer)).toBe(true);
    const names = (answer.message.tool_calls ?? []).map((call) => call.function.name);
    expect(names.length).toBeGreaterThan(0);
    if (toolChoice !== "required") expect(new Set(names)).toEqual(new Set(["book_trip"]));
    if (toolChoice === named || "parallel_tool_calls" in fields) expect(names.length).toBe(1);
    expect(essence(await streamedAnswerOf(request))).toEqual(essence(answer));
  }
});

run("auto: free text, and every call in it is right; none: no call", async () => {
  let calls = 0;
  for (let seed = 0; seed < 6; seed++) {
    const request = { tools, seed, max_tokens: 120 };
    const answer = await answerOf(request);
    calls += answer.message.tool_calls?.length ?? 0;
    expect(callsAreRight(answer)).toBe(true);
    expect(answer.message.content ?? "").not.toContain("<tool_call>");
    expect(essence(await streamedAnswerOf(request))).toEqual(essence(answer));
    const none = await answerOf({ ...request, tool_choice: "none" });
    expect(none.message.tool_calls).toBeUndefined();
    expect(none.message.content ?? "").not.toContain("<tool_call>");
  }
  expect(calls).toBeGreaterThan(0);
});

run("answers in JSON fit their schema within any limit that can hold them", async () => {
  for (let seed = 0; seed < 12; seed++) {
    const request = { seed, max_tokens: 40 + 5 * seed };
    const format = { type: "json_schema", json_schema: { name: "trip", schema: trip } };
    const answer = await answerOf({ ...request, response_format: format });
    expect(isTrip(JSON.parse(answer.message.content ?? ""))).toBe(true);
    expect(answer.finish).toBe("stop");
    const object = await answerOf({ ...request, response_format: { type: "json_object" } });
    expect(JSON.parse(object.message.content ?? "")).toBeObject();
  }
});

run("a limit that holds no answer, and a schema that cannot be enforced, are refused", async () => {
  const short = await post({ tools, tool_choice: "required", max_tokens: 1 });
  expect([short.status, await short.json()]).toMatchObject([400, { error: { param: "max_tokens" } }]);
  const parameters = { type: "object", properties: { a: { type: "array", uniqueItems: true } } };
  const strange = await post({ tools: [{ type: "function", function: { name: "f", parameters } }] });
  expect([strange.status, await strange.json()]).toMatchObject([
    400,
    {
      error: {
        message: expect.stringMatching(/'f'.*'uniqueItems'.*\/properties\/a/),
        param: "tools[0].function.parameters",
        code: "invalid_function_parameters",
      },
    },
  ]);
});

run("the openai SDK: chat, stream, tools, parsed answers and an abort on the native engine", async () => {
  const client = new OpenAI({ baseURL: new URL("/v1", tenon.server.url).href, apiKey: "none", maxRetries: 0 });
  const messages = [{ role: "user", content: "Plan something." } as const];
  const limits = { model: "any", messages, max_tokens: 80, seed: 3 };
  const whole = await client.chat.completions.create(limits);
  const streamed = await client.chat.completions
    .stream({ ...limits, stream_options: { include_usage: true } })
    .finalChatCompletion();
  expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content ?? "");
  expect(streamed.usage).toEqual(whole.usage);

  const validator = {
    "~standard": {
      version: 1,
      vendor: "tests",
      validate: (value: unknown) => (isTrip(value) ? { value } : { issues: [{ message: "no trip" }] }),
    },
  } as const;
  // The helpers want every property required.
  const { tags, ...properties } = trip.properties;
  const schema = { ...trip, properties };
  const tool = standardFunction({ name: "book_trip", parameters: validator, schema });
  const called = await client.chat.completions.parse({ ...limits, tools: [tool], tool_choice: "required" });
  expect(called.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    function: { parsed_arguments: { nights: expect.any(Number) } },
  });
  const format = standardResponseFormat(validator, "trip", { schema });
  const parsed = await client.chat.completions.parse({ ...limits, response_format: format });
  expect(isTrip(parsed.choices[0]?.message.parsed)).toBe(true);

  const endless = await client.chat.completions.create({ ...limits, max_tokens: 30_000, stream: true });
  for await (const _ of endless) break;
  const { engine } = tenon.loaded.model;
  while (engine.stats().running > 0) await new Promise((resolve) => setImmediate(resolve));
});
