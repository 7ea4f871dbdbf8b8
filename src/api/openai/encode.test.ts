import { expect, test } from "bun:test";
import type { Event } from "../../generation/event.ts";
import { type ChatFrame, encodeAnswer, encodeStream } from "./encode.ts";

const frame: ChatFrame = {
  id: "chatcmpl-1",
  created: 1_700_000_000,
  model: "M",
  choices: 1,
  choicesPerPrompt: 1,
  legacy: false,
  reasoningAlias: false,
  toolsOffered: false,
  holdCalls: false,
  logprobs: false,
  includeUsage: false,
};
const fingerprint = `fp_${Bun.hash("M").toString(16)}`;
const usage = {
  promptTokens: 12,
  cachedTokens: 4,
  completionTokens: 5,
  reasoningTokens: 2,
  promptMs: 16,
  completionMs: 20,
  closedByRule: false,
};
const timings = {
  cache_n: 4,
  prompt_n: 8,
  prompt_ms: 16,
  prompt_per_token_ms: 2,
  prompt_per_second: 500,
  predicted_n: 5,
  predicted_ms: 20,
  predicted_per_token_ms: 4,
  predicted_per_second: 250,
};
const wireUsage = {
  prompt_tokens: 12,
  completion_tokens: 5,
  total_tokens: 17,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
};
const stop: Event = { kind: "finish", reason: { kind: "stop" }, usage };
const calls: Event = { kind: "finish", reason: { kind: "calls" }, usage };
const text = (text: string): Event => ({ kind: "text", text, logprobs: [] });
const aCall: readonly Event[] = [
  { kind: "call_begin", index: 0, id: "call_a", name: "f", custom: false },
  { kind: "call_arguments", index: 0, text: '{"x":' },
  { kind: "call_arguments", index: 0, text: '"ü"}' },
  { kind: "call_end", index: 0 },
];

async function* stream(events: readonly Event[]) {
  for (const event of events) yield { choice: 0, event };
}

async function wire(events: readonly Event[], options: Partial<ChatFrame> = {}): Promise<string> {
  return (await Array.fromAsync(encodeStream({ ...frame, ...options }, stream(events)))).join("");
}

async function answer(events: readonly Event[], options: Partial<ChatFrame> = {}): Promise<unknown> {
  const encoded = await encodeAnswer({ ...frame, ...options }, stream(events));
  return encoded.ok ? encoded.value : encoded.failure;
}

/** One data line as it stands on the wire. */
function chunk(delta: object, reason: string | null = null, rest: object = {}, logprobs: object | null = null): string {
  return `data: ${JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "M",
    system_fingerprint: fingerprint,
    choices: [{ index: 0, delta, logprobs, finish_reason: reason }],
    ...rest,
  })}\n\n`;
}

test("a plain stream, byte for byte", async () => {
  const events: Event[] = [
    { kind: "progress", done: 1, total: 2 },
    { kind: "reasoning", text: "hm" },
    text("Grüße "),
    text("🌍"),
    stop,
  ];
  expect(await wire(events)).toBe(
    [
      `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"M","system_fingerprint":"${fingerprint}","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}\n\n`,
      chunk({ reasoning_content: "hm" }),
      chunk({ content: "Grüße " }),
      chunk({ content: "🌍" }),
      chunk({}, "stop", { timings }),
      "data: [DONE]\n\n",
    ].join(""),
  );
});

test("thoughts under both of their names", async () => {
  const events: Event[] = [{ kind: "reasoning", text: "hm" }, stop];
  expect(await wire(events, { reasoningAlias: true })).toContain(chunk({ reasoning_content: "hm", reasoning: "hm" }));
  expect(await answer(events, { reasoningAlias: true })).toMatchObject({
    choices: [{ message: { reasoning_content: "hm", reasoning: "hm" } }],
  });
});

test("usage comes after the finish when it is asked for, and null before", async () => {
  expect(await wire([text("a"), stop], { includeUsage: true })).toBe(
    [
      chunk({ role: "assistant", content: "" }, null, { usage: null }),
      chunk({ content: "a" }, null, { usage: null }),
      chunk({}, "stop", { usage: null, timings }),
      `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "M", system_fingerprint: fingerprint, choices: [], usage: wireUsage, timings })}\n\n`,
      "data: [DONE]\n\n",
    ].join(""),
  );
});

test("a call: id, type and name once, then its arguments", async () => {
  expect(await wire([...aCall, calls], { toolsOffered: true })).toBe(
    [
      chunk({ role: "assistant", content: null }),
      chunk({ tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "f", arguments: "" } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"ü"}' } }] }),
      chunk({}, "tool_calls", { timings }),
      "data: [DONE]\n\n",
    ].join(""),
  );
});

test("a held call is one chunk", async () => {
  const events: Event[] = [
    { kind: "call_begin", index: 0, id: "call_a", name: "f", custom: false },
    { kind: "call_arguments", index: 0, text: "{}" },
    { kind: "call_end", index: 0 },
    calls,
  ];
  expect(await wire(events, { toolsOffered: true, holdCalls: true })).toBe(
    [
      chunk({ role: "assistant", content: null }),
      chunk({ tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "f", arguments: "{}" } }] }),
      chunk({}, "tool_calls", { timings }),
      "data: [DONE]\n\n",
    ].join(""),
  );
});

test("log-probabilities stand beside their text", async () => {
  const bytes = Uint8Array.of(0xc3);
  const logprobs = [{ token: 1, bytes, logprob: -0.5, top: [{ token: 2, bytes: Uint8Array.of(97), logprob: -1 }] }];
  const wireLogprobs = {
    content: [
      {
        token: "\uFFFD",
        logprob: -0.5,
        bytes: [0xc3],
        top_logprobs: [{ token: "a", logprob: -1, bytes: [97] }],
      },
    ],
    refusal: null,
  };
  const events: Event[] = [{ kind: "text", text: "ü", logprobs }, stop];
  expect(await wire(events, { logprobs: true })).toContain(chunk({ content: "ü" }, null, {}, wireLogprobs));
  expect(await answer(events, { logprobs: true })).toMatchObject({ choices: [{ logprobs: wireLogprobs }] });
});

test("a failure in the stream is an error and then its end", async () => {
  const events: Event[] = [text("a"), { kind: "failure", failure: { kind: "engine", message: "It broke." } }];
  expect(await wire(events)).toBe(
    [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "a" }),
      'data: {"error":{"message":"It broke.","type":"server_error","param":null,"code":null}}\n\n',
      "data: [DONE]\n\n",
    ].join(""),
  );
  expect(await answer(events)).toEqual({ kind: "engine", message: "It broke." });
});

test("an answer without stream", async () => {
  const events = [{ kind: "reasoning", text: "hm" } as const, text("See: "), text("this"), ...aCall, calls];
  expect(await answer(events, { toolsOffered: true })).toEqual({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "M",
    system_fingerprint: fingerprint,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "See: this",
          refusal: null,
          annotations: [],
          reasoning_content: "hm",
          tool_calls: [{ id: "call_a", type: "function", function: { name: "f", arguments: '{"x":"ü"}' } }],
        },
        logprobs: null,
        finish_reason: "tool_calls",
      },
    ],
    usage: wireUsage,
    service_tier: "default",
    timings,
  });
});

test("content is null only where tools were offered and no text came", async () => {
  expect(await answer([...aCall, calls], { toolsOffered: true })).toMatchObject({
    choices: [{ message: { content: null } }],
  });
  expect(await answer([stop])).toMatchObject({ choices: [{ message: { content: "" } }] });
});

test("a call that was not ended is no call", async () => {
  const events: Event[] = [...aCall.slice(0, 2), { kind: "finish", reason: { kind: "length" }, usage }];
  const encoded = await answer(events, { toolsOffered: true });
  expect(encoded).toMatchObject({ choices: [{ finish_reason: "length" }] });
  expect(JSON.stringify(encoded)).not.toContain("tool_calls");
});

test.each([
  [{ kind: "stop" }, "stop"],
  [{ kind: "stop_string", text: "x" }, "stop"],
  [{ kind: "calls" }, "tool_calls"],
  [{ kind: "length" }, "length"],
  [{ kind: "context" }, "length"],
] as const)("%j is %s", async (reason, expected) => {
  const events: Event[] = [text("a"), { kind: "finish", reason, usage }];
  expect(await answer(events)).toMatchObject({ choices: [{ finish_reason: expected }] });
  expect(await wire(events)).toContain(chunk({}, expected, { timings }));
});
