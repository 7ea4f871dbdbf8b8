import { expect, test } from "bun:test";
import type { Message, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { Event, FinishReason } from "../../generation/event.ts";
import { encodeMessage, encodeStream, type MessageFrame } from "./encode.ts";
import { signatureOf } from "./signature.ts";

const frame: MessageFrame = { id: "msg_1", model: "M", promptTokens: 12, display: "shown", requestId: "req_1" };
const usage = {
  promptTokens: 12,
  cachedTokens: 4,
  completionTokens: 5,
  reasoningTokens: 2,
  promptMs: 16,
  completionMs: 20,
  closedByRule: false,
};
const finish = (reason: FinishReason): Event => ({ kind: "finish", reason, usage });
const stop = finish({ kind: "stop" });
const said = (text: string): Event => ({ kind: "text", text, logprobs: [] });
const reasoning = (text: string): Event => ({ kind: "reasoning", text });
const aCall = (index = 0, ...pieces: readonly string[]): readonly Event[] => [
  { kind: "call_begin", index, id: `call_${index}`, name: "f", custom: false },
  ...pieces.map((text): Event => ({ kind: "call_arguments", index, text })),
  { kind: "call_end", index },
];

async function* stream(events: readonly Event[]) {
  yield* events;
}

async function wire(events: readonly Event[], options: Partial<MessageFrame> = {}): Promise<string> {
  return (await Array.fromAsync(encodeStream({ ...frame, ...options }, stream(events)))).join("");
}

async function bodyOf(events: readonly Event[], options: Partial<MessageFrame> = {}): Promise<string> {
  const encoded = await encodeMessage({ ...frame, ...options }, stream(events));
  if (!encoded.ok) throw new Error(encoded.failure.kind);
  return encoded.value;
}

async function answer(events: readonly Event[], options: Partial<MessageFrame> = {}): Promise<Message> {
  return JSON.parse(await bodyOf(events, options));
}

/** One event as it stands on the wire. */
function sse(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

const start =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"M","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,"diagnostics":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"output_tokens_details":{"thinking_tokens":0},"server_tool_use":null,"cache_creation":null,"service_tier":"standard","inference_geo":null,"speed":null}}}\n\n' +
  'event: ping\ndata: {"type":"ping"}\n\n';
const deltaUsage = {
  input_tokens: 8,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 4,
  output_tokens: 5,
  output_tokens_details: { thinking_tokens: 2 },
  server_tool_use: null,
};
const end = (stop_reason: string, stop_sequence: string | null = null) =>
  sse("message_delta", {
    delta: { stop_reason, stop_sequence, stop_details: null, container: null },
    usage: deltaUsage,
  }) + sse("message_stop", {});
const opened = (index: number, content_block: object) => sse("content_block_start", { index, content_block });
const delta = (index: number, delta: object) => sse("content_block_delta", { index, delta });
const closed = (index: number) => sse("content_block_stop", { index });
const textBlock = { type: "text", text: "", citations: null };
const callBlock = (id: string) => ({ type: "tool_use", id, name: "f", input: {}, caller: { type: "direct" } });
const thinkingBlock = { type: "thinking", thinking: "", signature: "" };

test("a text, byte for byte", async () => {
  expect(await wire([{ kind: "progress", done: 1, total: 2 }, said("Grüße "), said("🌍"), stop])).toBe(
    [
      start,
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße "}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"🌍"}}\n\n',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null},"usage":{"input_tokens":8,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":5,"output_tokens_details":{"thinking_tokens":2},"server_tool_use":null}}\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ].join(""),
  );
});

test("blocks come in order, each closed before the next", async () => {
  const events = [
    reasoning("h"),
    reasoning("m"),
    said("See:"),
    ...aCall(0, '{"x":', '"ü"}'),
    ...aCall(1, "{}"),
    said("."),
    finish({ kind: "calls" }),
  ];
  expect(await wire(events)).toBe(
    [
      start,
      opened(0, thinkingBlock),
      delta(0, { type: "thinking_delta", thinking: "h" }),
      delta(0, { type: "thinking_delta", thinking: "m" }),
      delta(0, { type: "signature_delta", signature: signatureOf("hm", "shown") }),
      closed(0),
      opened(1, textBlock),
      delta(1, { type: "text_delta", text: "See:" }),
      closed(1),
      opened(2, callBlock("toolu_0")),
      delta(2, { type: "input_json_delta", partial_json: '{"x":' }),
      delta(2, { type: "input_json_delta", partial_json: '"ü"}' }),
      closed(2),
      opened(3, callBlock("toolu_1")),
      delta(3, { type: "input_json_delta", partial_json: "{}" }),
      closed(3),
      opened(4, textBlock),
      delta(4, { type: "text_delta", text: "." }),
      closed(4),
      end("tool_use"),
    ].join(""),
  );
});

test("a thought that is not shown is signed", async () => {
  const signature = signatureOf("hm", "omitted");
  const events = [reasoning("hm"), said("a"), stop];
  expect(await wire(events, { display: "omitted" })).toStartWith(
    start + opened(0, thinkingBlock) + delta(0, { type: "signature_delta", signature }) + closed(0),
  );
  expect((await answer(events, { display: "omitted" })).content[0]).toEqual({
    type: "thinking",
    thinking: "",
    signature,
  });
});

test("a failure is an event of its own, and the last", async () => {
  const events: Event[] = [said("a"), { kind: "failure", failure: { kind: "engine", message: "It broke." } }];
  expect(await wire(events)).toBe(
    [
      start,
      opened(0, textBlock),
      delta(0, { type: "text_delta", text: "a" }),
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"It broke."},"request_id":"req_1"}\n\n',
    ].join(""),
  );
  expect(await encodeMessage(frame, stream(events))).toEqual({
    ok: false,
    failure: { kind: "engine", message: "It broke." },
  });
});

test("an answer without stream has every field of the client's types", async () => {
  const events = [
    reasoning("hm"),
    said("See: "),
    said("this"),
    ...aCall(0, '{"x":', '"ü"}'),
    finish({ kind: "calls" }),
  ];
  const message: Message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "M",
    content: [
      { type: "thinking", thinking: "hm", signature: signatureOf("hm", "shown") },
      { type: "text", text: "See: this", citations: null },
      { type: "tool_use", id: "toolu_0", name: "f", input: { x: "ü" }, caller: { type: "direct" } },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      ...deltaUsage,
      cache_creation: null,
      service_tier: "standard",
      inference_geo: null,
      speed: null,
    },
  };
  expect(await answer(events)).toEqual(message);
});

test("a stream's events have every field of the client's types", async () => {
  const events: RawMessageStreamEvent[] = [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "M",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        diagnostics: null,
        usage: {
          input_tokens: 12,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 0,
          output_tokens_details: { thinking_tokens: 0 },
          server_tool_use: null,
          cache_creation: null,
          service_tier: "standard",
          inference_geo: null,
          speed: null,
        },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm" } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", signature: signatureOf("hm", "shown") },
    },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "", citations: null } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "See:" } },
    { type: "content_block_stop", index: 1 },
    {
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "toolu_0", name: "f", input: {}, caller: { type: "direct" } },
    },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "{}" } },
    { type: "content_block_stop", index: 2 },
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null, stop_details: null, container: null },
      usage: deltaUsage,
    },
    { type: "message_stop" },
  ];
  const text = await wire([reasoning("hm"), said("See:"), ...aCall(0, "{}"), finish({ kind: "calls" })]);
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, json = ""]): unknown => JSON.parse(json));
  expect(data.filter((event) => JSON.stringify(event) !== '{"type":"ping"}')).toEqual(events);
});

test("a call's input keeps the order of its keys and the digits of its numbers", async () => {
  const json = '{"b": 12345678901234567890, "1": 1.50,\n "a": "content\\":[]"}';
  expect(await bodyOf([...aCall(0, json), finish({ kind: "calls" })])).toContain(
    `"content":[{"type":"tool_use","id":"toolu_0","name":"f","caller":{"type":"direct"},"input":${json}}]`,
  );
});

test("what an answer says cannot break its frame", async () => {
  const { content } = await answer([said('"content":[]'), said("$&"), stop], { model: '"content":[]' });
  expect(content).toEqual([{ type: "text", text: '"content":[]$&', citations: null }]);
});

test("an answer without anything has no block", async () => {
  expect((await answer([stop])).content).toEqual([]);
  expect(await wire([stop])).toBe(start + end("end_turn"));
});

test("a call that was cut off is closed in a stream, and none without", async () => {
  const events = [...aCall(0, '{"x":').slice(0, 2), finish({ kind: "length" })];
  expect(await wire(events)).toBe(
    [
      start,
      opened(0, callBlock("toolu_0")),
      delta(0, { type: "input_json_delta", partial_json: '{"x":' }),
      closed(0),
      end("max_tokens"),
    ].join(""),
  );
  expect(await answer(events)).toMatchObject({ content: [], stop_reason: "max_tokens" });
});

test.each([
  [{ kind: "stop" }, "end_turn", null],
  [{ kind: "stop_string", text: "END" }, "stop_sequence", "END"],
  [{ kind: "calls" }, "tool_use", null],
  [{ kind: "length" }, "max_tokens", null],
  [{ kind: "context" }, "model_context_window_exceeded", null],
] as const)("%j is %s", async (reason, stop_reason, stop_sequence) => {
  const events = [said("a"), finish(reason)];
  expect(await answer(events)).toMatchObject({ stop_reason, stop_sequence });
  expect(await wire(events)).toEndWith(end(stop_reason, stop_sequence));
});
