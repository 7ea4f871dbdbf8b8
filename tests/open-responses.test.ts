import { afterEach, expect, test } from "bun:test";
import { type Chat, call, type Piece, script, startChat } from "./fixtures/chat.ts";
import { eventFaults, resourceFaults } from "./fixtures/open-responses.ts";

// The cases of the Open Responses compliance suite that are about text and functions, asked as it asks them and judged by what it looks at.
// Of the others: images are refused by name, and there are neither WebSockets nor a compaction endpoint.

let chat: Chat | undefined;
afterEach(async () => {
  await chat?.server.stop(0);
  chat = undefined;
});

function ask(body: object, pieces: readonly Piece[]): Promise<Response> {
  chat = startChat(() => script(pieces));
  const headers = { "content-type": "application/json", authorization: "Bearer none" };
  const asked = JSON.stringify({ model: "replay", ...body });
  return fetch(new URL("/v1/responses", chat.server.url), { method: "POST", headers, body: asked });
}

const said = (role: string, content: string) => ({ type: "message", role, content });
const weather = {
  type: "function",
  name: "get_weather",
  description: "Get the current weather for a location",
  parameters: {
    type: "object",
    properties: { location: { type: "string", description: "The city and state, e.g. San Francisco, CA" } },
    required: ["location"],
  },
};
const tools = { input: [said("user", "What's the weather like in San Francisco?")], tools: [weather] };
const text: readonly Piece[] = [
  ["text", "Hello "],
  ["text", "to you!"],
];
const called = call(0, "get_weather", '{"location": "San Francisco, CA"}');

test.each<[name: string, body: object, pieces: readonly Piece[], output: string]>([
  ["basic-response", { input: [said("user", "Say hello in exactly 3 words.")] }, text, "message"],
  [
    "assistant-phase",
    {
      input: [
        { ...said("assistant", "I should answer with the saved number."), phase: "commentary" },
        { ...said("assistant", "The number is four."), phase: "final_answer" },
        said("user", "Repeat only the number."),
      ],
    },
    text,
    "message",
  ],
  [
    "system-prompt",
    {
      input: [said("system", "You are a pirate. Always respond in pirate speak."), said("user", "Say hello.")],
    },
    text,
    "message",
  ],
  ["tool-calling", tools, called, "function_call"],
  [
    "multi-turn",
    {
      input: [
        said("user", "My name is Alice."),
        said("assistant", "Hello Alice! Nice to meet you. How can I help you today?"),
        said("user", "What is my name?"),
      ],
    },
    text,
    "message",
  ],
])("%s", async (_, body, pieces, output) => {
  const response = await ask({ ...body, stream: false }, pieces);
  expect(response.status).toBe(200);
  const resource = JSON.parse(await response.text());
  expect(resourceFaults(resource)).toEqual([]);
  expect(resource.status).toBe("completed");
  expect(resource.output.map(({ type }: { type: string }) => type)).toEqual([output]);
});

type Event = { readonly type: string; readonly item?: { readonly type: string }; readonly response?: object };

async function eventsOf(response: Response): Promise<readonly Event[]> {
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const frames = (await response.text()).split("\n\n").slice(0, -1);
  return frames.map((frame) => {
    const [, name, data = ""] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
    const event: Event = JSON.parse(data);
    expect(event.type).toBe(name ?? "");
    return event;
  });
}

test("streaming-response", async () => {
  const events = await eventsOf(await ask({ input: [said("user", "Count from 1 to 5.")], stream: true }, text));
  expect(events.flatMap(eventFaults)).toEqual([]);
  const last = events.at(-1);
  expect(last?.type).toBe("response.completed");
  expect(resourceFaults(last?.response)).toEqual([]);
  expect(last?.response).toMatchObject({ status: "completed" });
});

test("tool-calling-streaming", async () => {
  const events = await eventsOf(await ask({ ...tools, stream: true }, called));
  expect(events.flatMap(eventFaults)).toEqual([]);
  const told = events.map(({ type, item }) => (item === undefined ? type : `${type} ${item.type}`));
  for (const wanted of [
    "response.output_item.added function_call",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done function_call",
  ])
    expect(told).toContain(wanted);
  expect(resourceFaults(events.at(-1)?.response)).toEqual([]);
});

test("image-input is refused by name", async () => {
  const image = { type: "input_image", image_url: "data:image/png;base64,AA==" };
  const question = { type: "input_text", text: "What do you see in this image? Answer in one sentence." };
  const response = await ask({ input: [{ type: "message", role: "user", content: [question, image] }] }, text);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { message: "image input is not supported", param: "input[0].content[1].type", code: "unsupported_value" },
  });
});

test("compaction is not there", async () => {
  chat = startChat(() => script([]));
  const compact = await fetch(new URL("/v1/responses/compact", chat.server.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{",
  });
  expect(compact.status).toBe(404);
  expect(await compact.json()).toMatchObject({ error: { code: "unknown_url" } });
});
