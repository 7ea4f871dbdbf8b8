import { expect, test } from "bun:test";
import type { Event } from "../../generation/event.ts";
import { encodeAnswer, encodeLoad, encodeStream, type Frame } from "./encode.ts";

const usage = {
  promptTokens: 12,
  cachedTokens: 4,
  completionTokens: 5,
  reasoningTokens: 2,
  promptMs: 16.25,
  completionMs: 20,
  closedByRule: false,
};
const text = (text: string): Event => ({ kind: "text", text, logprobs: [] });
const finish = (kind: "stop" | "calls" | "length" | "context"): Event => ({ kind: "finish", reason: { kind }, usage });
const frame: Frame = { endpoint: "chat", model: "m:latest", startMs: performance.now(), logprobs: false };
const statistics = {
  load_duration: 0,
  prompt_eval_count: 12,
  prompt_eval_duration: 16_250_000,
  eval_count: 5,
  eval_duration: 20_000_000,
};

async function* stream(events: readonly Event[]) {
  yield* events;
}

async function whole(events: readonly Event[], more: Partial<Frame> = {}) {
  const answer = await encodeAnswer({ ...frame, ...more }, stream(events));
  return answer.ok ? fieldsOf(answer.value) : answer.failure;
}

async function lines(events: readonly Event[], more: Partial<Frame> = {}) {
  return (await Array.fromAsync(encodeStream({ ...frame, ...more }, stream(events)))).map(fieldsOf);
}

/** Without what differs from run to run, which has to be there all the same. */
function fieldsOf(line: string): Record<string, unknown> {
  const { created_at, total_duration, ...rest } = JSON.parse(line);
  if (!("error" in rest)) expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  if (rest.done === true && rest.done_reason !== "load") expect(Number.isInteger(total_duration)).toBe(true);
  return rest;
}

const call = (index: number, id: string, name: string, json: string): Event[] => [
  { kind: "call_begin", index, id, name, custom: false },
  { kind: "call_arguments", index, text: json },
  { kind: "call_end", index },
];

test("text, thoughts and calls, in a stream and as a whole", async () => {
  const events = [
    { kind: "progress", done: 1, total: 2 } as const,
    { kind: "reasoning", text: "Hm" } as const,
    { kind: "reasoning", text: "." } as const,
    text("a"),
    text("b"),
    ...call(0, "c0", 'say "x"', '{"b": 1.50,"a":1}'),
    ...call(1, "c1", "now", "{}"),
    finish("calls"),
  ];
  const calls = [
    { id: "c0", function: { index: 0, name: 'say "x"', arguments: { b: 1.5, a: 1 } } },
    { id: "c1", function: { index: 1, name: "now", arguments: {} } },
  ];
  const said = (message: object) => ({
    model: "m:latest",
    message: { role: "assistant", content: "", ...message },
    done: false,
  });
  const end = { done: true, done_reason: "stop", ...statistics };
  expect(await lines(events)).toEqual([
    said({ thinking: "Hm" }),
    said({ thinking: "." }),
    said({ content: "a" }),
    said({ content: "b" }),
    said({ tool_calls: [calls[0]] }),
    said({ tool_calls: [calls[1]] }),
    { ...said({}), ...end },
  ]);
  expect(await whole(events)).toEqual({ ...said({ content: "ab", thinking: "Hm.", tool_calls: calls }), ...end });
  const answer = await encodeAnswer(frame, stream(events));
  expect(answer.ok && answer.value).toContain('"arguments":{"b": 1.50,"a":1}');
});

test("a generation has its context", async () => {
  const end: Event = { kind: "finish", reason: { kind: "stop" }, usage, tokens: [1, 2, 3] };
  const events = [{ kind: "reasoning", text: "Hm" } as const, text("a"), end];
  const generate = { endpoint: "generate" } as const;
  const model = "m:latest";
  const last = { done: true, done_reason: "stop", context: [1, 2, 3], ...statistics };
  expect(await lines(events, generate)).toEqual([
    { model, response: "", thinking: "Hm", done: false },
    { model, response: "a", done: false },
    { model, response: "", ...last },
  ]);
  expect(await whole(events, generate)).toEqual({ model, response: "a", thinking: "Hm", ...last });
});

test.each([
  ["stop", "stop"],
  ["calls", "stop"],
  ["length", "length"],
  ["context", "length"],
] as const)("an end by %s is %s", async (kind, done_reason) => {
  expect(await whole([finish(kind)])).toMatchObject({ done: true, done_reason });
  expect((await lines([finish(kind)])).at(-1)).toMatchObject({ done: true, done_reason });
});

test("a stop string is a stop", async () => {
  const end: Event = { kind: "finish", reason: { kind: "stop_string", text: "x" }, usage };
  expect(await whole([end])).toMatchObject({ done_reason: "stop" });
});

test("what fails on the way is the last line, or the failure of the whole", async () => {
  const failure = { kind: "engine", message: "The engine failed." } as const;
  const events = [text("a"), { kind: "failure", failure } as const, text("never")];
  expect(await lines(events)).toEqual([
    { model: "m:latest", message: { role: "assistant", content: "a" }, done: false },
    { error: "The engine failed." },
  ]);
  expect(await whole(events)).toEqual(failure);
  expect((await lines([{ kind: "failure", failure: { kind: "cancelled" } }])).at(-1)).toEqual({
    error: "the request was cancelled",
  });
  expect(await whole([])).toMatchObject({ kind: "engine" });
});

test("log-probabilities where they are asked for", async () => {
  const bytes = Buffer.from("a");
  const logprobs = [{ token: 1, bytes, logprob: -0.5, top: [{ token: 2, bytes, logprob: -1 }] }];
  const events: Event[] = [{ kind: "text", text: "a", logprobs }, finish("stop")];
  const entry = { token: "a", logprob: -0.5, bytes: [97] };
  const encoded = [{ ...entry, top_logprobs: [{ ...entry, logprob: -1 }] }];
  expect(await whole(events, { logprobs: true })).toMatchObject({ logprobs: encoded });
  expect((await lines(events, { logprobs: true })).map((line) => line["logprobs"])).toEqual([encoded, undefined]);
  expect(await whole(events)).not.toHaveProperty("logprobs");
});

test("loading", () => {
  expect(fieldsOf(encodeLoad({ endpoint: "chat", model: "m" }, "load"))).toEqual({
    model: "m",
    message: { role: "assistant", content: "" },
    done: true,
    done_reason: "load",
  });
  expect(JSON.parse(encodeLoad({ endpoint: "generate", model: "m" }, "unload"))).toMatchObject({
    response: "",
    done_reason: "unload",
  });
});
