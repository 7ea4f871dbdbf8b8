import { expect, test } from "bun:test";
import type { EngineEvent, EngineFinish } from "../engine/engine.ts";
import type { Event } from "../generation/event.ts";
import type { ChannelName } from "../grammar/ir.ts";
import { type EventOptions, toEvents } from "./events.ts";

const utf8 = new TextEncoder();
const timings = {
  promptTokens: 5,
  cachedTokens: 2,
  completionTokens: 9,
  promptMs: 1,
  completionMs: 2,
  closedByRule: false,
};

type Piece = readonly [ChannelName, string, number?];

async function eventsOf(
  source: Iterable<EngineEvent>,
  options: Partial<EventOptions> = {},
): Promise<{ events: readonly Event[]; cancelled: number }> {
  let ids = 0;
  let cancelled = 0;
  async function* engine() {
    yield* source;
  }
  const stream = toEvents(engine(), {
    stop: [],
    holdCalls: false,
    constraint: "none",
    tokenBytes: (token) => Uint8Array.of(token),
    callId: () => `call_${ids++}`,
    isCustom: (name) => name === "run",
    cancel: () => cancelled++,
    ...options,
  });
  return { events: await Array.fromAsync(stream), cancelled };
}

function pieces(items: readonly Piece[], reason: EngineFinish = "stop_token"): EngineEvent[] {
  return [
    ...items.map(
      ([channel, text, call = 0]): EngineEvent => ({ kind: "bytes", channel, call, bytes: utf8.encode(text) }),
    ),
    { kind: "finish", reason, timings },
  ];
}

/** The same, with every byte an event of its own. */
function bytewise(source: readonly EngineEvent[]): EngineEvent[] {
  return source.flatMap((event) =>
    event.kind === "bytes"
      ? [...event.bytes].map((byte): EngineEvent => ({ ...event, bytes: Uint8Array.of(byte) }))
      : [event],
  );
}

/** Neighbouring texts joined, so that two streams can be compared whatever their pieces. */
function joined(events: readonly Event[]): readonly Event[] {
  const out: Event[] = [];
  for (const event of events) {
    const last = out.at(-1);
    if (last?.kind === "text" && event.kind === "text") out[out.length - 1] = { ...last, text: last.text + event.text };
    else if (last?.kind === "reasoning" && event.kind === "reasoning")
      out[out.length - 1] = { ...last, text: last.text + event.text };
    else if (last?.kind === "call_arguments" && event.kind === "call_arguments")
      out[out.length - 1] = { ...last, text: last.text + event.text };
    else out.push(event);
  }
  return out;
}

/** One line an event, without usage. */
function lines(events: readonly Event[]): readonly string[] {
  return events.map((event) => {
    switch (event.kind) {
      case "text":
      case "reasoning":
        return `${event.kind} ${event.text}`;
      case "call_begin":
        return `begin ${event.index} ${event.id} ${event.name}${event.custom ? " custom" : ""}`;
      case "call_arguments":
        return `arguments ${event.index} ${event.text}`;
      case "call_end":
        return `end ${event.index}`;
      case "finish":
        return `finish ${event.reason.kind}`;
      case "failure":
        return `failure ${event.failure.kind}`;
      default:
        return event.kind;
    }
  });
}

const call = (index: number, name: string, json: string): readonly Piece[] => [
  ["markup", '<tool_call>\n{"name": "', index],
  ["call_name", name, index],
  ["markup", '", "arguments": ', index],
  ["argument_json", json, index],
  ["markup", "}\n</tool_call>", index],
];

const cases: readonly (readonly [string, readonly Piece[], EngineFinish, readonly string[]])[] = [
  ["text", [["text", "Grüße 🌍"]], "stop_token", ["text Grüße 🌍", "finish stop"]],
  ["an empty answer", [], "stop_token", ["finish stop"]],
  [
    "reasoning, then text",
    [
      ["reasoning", "hm 🤔"],
      ["markup", "</think>"],
      ["text", "so"],
    ],
    "stop_token",
    ["reasoning hm 🤔", "text so", "finish stop"],
  ],
  [
    "one call",
    call(0, "f", '{"a":"é"}'),
    "complete",
    ["begin 0 call_0 f", 'arguments 0 {"a":"é"}', "end 0", "finish calls"],
  ],
  [
    "calls with raw input, with none, and with a text as their argument",
    [
      ["markup", '<tool_call>\n{"name": "', 0],
      ["call_name", "run", 0],
      ["markup", '"}\n', 0],
      ["custom_input", 'print("é")\n', 0],
      ["markup", "\n</tool_call>", 0],
      ["call_name", "run", 1],
      ["markup", '"}\n\n</tool_call>', 1],
      ...call(2, "run", '{"input": "a\\n\\ud83c\\udf0d"}'),
    ],
    "complete",
    [
      "begin 0 call_0 run custom",
      'arguments 0 print("é")\n',
      "end 0",
      "begin 1 call_1 run custom",
      "end 1",
      "begin 2 call_2 run custom",
      "arguments 2 a\n🌍",
      "end 2",
      "finish calls",
    ],
  ],
  [
    "text and two calls",
    [["text", "Let me see."], ...call(0, "f", "{}"), ["markup", "\n"], ...call(1, "g", '{"x":[1]}')],
    "stop_token",
    [
      "text Let me see.",
      "begin 0 call_0 f",
      "arguments 0 {}",
      "end 0",
      "begin 1 call_1 g",
      'arguments 1 {"x":[1]}',
      "end 1",
      "finish calls",
    ],
  ],
  [
    "a call, then text",
    [...call(0, "f", "{}"), ["text", "done"]],
    "stop_token",
    ["begin 0 call_0 f", "arguments 0 {}", "end 0", "text done", "finish calls"],
  ],
  [
    "a call without any argument bytes",
    [
      ["call_name", "now"],
      ["markup", "</function>"],
    ],
    "complete",
    ["begin 0 call_0 now", "arguments 0 {}", "end 0", "finish calls"],
  ],
  [
    "arguments before their names",
    [
      ...call(0, "f", "{}"),
      ["markup", '<tool_call>{"arguments": ', 0],
      ["argument_json", '{"a":"é"}', 0],
      ["markup", ', "name": "', 0],
      ["call_name", "g", 1],
      ["markup", '"}</tool_call>', 1],
      ["markup", '<tool_call>{"arguments": ', 1],
      ["argument_json", '{"input":"x"}', 1],
      ["markup", ', "name": "', 1],
      ["call_name", "run", 2],
      ["markup", '"}</tool_call>', 2],
      ["text", "."],
    ],
    "stop_token",
    [
      "begin 0 call_0 f",
      "arguments 0 {}",
      "end 0",
      "begin 1 call_1 g",
      'arguments 1 {"a":"é"}',
      "end 1",
      "begin 2 call_2 run custom",
      "arguments 2 x",
      "end 2",
      "text .",
      "finish calls",
    ],
  ],
  [
    "arguments key by key",
    [
      ["call_name", "f"],
      ["argument_key", "path"],
      ["argument_text", 'a"b'],
      ["value_end", "</parameter>"],
      ["argument_key", "n"],
      ["argument_json", "3"],
      ["value_end", "</parameter>"],
      ["markup", "</function>"],
    ],
    "complete",
    ["begin 0 call_0 f", 'arguments 0 {"path":"a\\"b","n":3}', "end 0", "finish calls"],
  ],
  [
    "the limit inside a call: begun, never ended",
    [["text", "a"], ...call(0, "f", '{"a":').slice(0, 4)],
    "length",
    ["text a", "begin 0 call_0 f", 'arguments 0 {"a":', "finish length"],
  ],
  [
    "the limit inside the second call: the first stays",
    [...call(0, "f", "{}"), ...call(1, "g", '{"a":').slice(0, 4)],
    "length",
    ["begin 0 call_0 f", "arguments 0 {}", "end 0", "begin 1 call_1 g", 'arguments 1 {"a":', "finish length"],
  ],
  [
    "a complete call exactly at the limit",
    call(0, "f", "{}"),
    "length",
    ["begin 0 call_0 f", "arguments 0 {}", "end 0", "finish calls"],
  ],
  [
    "the limit in the text after a call",
    [...call(0, "f", "{}"), ["text", "and"]],
    "length",
    ["begin 0 call_0 f", "arguments 0 {}", "end 0", "text and", "finish length"],
  ],
  [
    "the limit before any argument",
    [
      ["call_name", "f"],
      ["markup", '",'],
    ],
    "length",
    ["finish length"],
  ],
  ["the end of the context", [["text", "a"]], "context", ["text a", "finish context"]],
  ["a cancelled request", [["text", "a"]], "cancelled", ["text a", "failure cancelled"]],
  ["a failed request", [["text", "a"]], "failed", ["text a", "failure engine"]],
];

test.each(cases)("%s", async (_, items, reason, expected) => {
  const source = pieces(items, reason);
  expect(lines(joined((await eventsOf(source)).events))).toEqual([...expected]);
  expect(lines(joined((await eventsOf(bytewise(source))).events))).toEqual([...expected]);
});

test("held calls come whole, and only complete ones", async () => {
  const items: Piece[] = [...call(0, "f", '{"a":1}'), ...call(1, "g", '{"b":').slice(0, 4)];
  const { events } = await eventsOf(bytewise(pieces(items, "length")), { holdCalls: true });
  expect(lines(events)).toEqual(["begin 0 call_0 f", 'arguments 0 {"a":1}', "end 0", "finish length"]);
});

test("a call ends, and a held one comes, with the markup after its object", async () => {
  async function* engine() {
    yield* pieces(call(0, "f", "{}"));
  }
  for (const holdCalls of [false, true]) {
    let ended: EngineEvent["kind"] | undefined;
    let last: EngineEvent["kind"] | undefined;
    async function* watched() {
      for await (const event of engine()) {
        last = event.kind;
        yield event;
      }
    }
    const options = { stop: [], holdCalls, constraint: "none", tokenBytes: () => new Uint8Array() } as const;
    const rest = { callId: () => "call", isCustom: () => false, cancel() {} };
    for await (const event of toEvents(watched(), { ...options, ...rest })) if (event.kind === "call_end") ended = last;
    expect(ended).toBe("bytes");
  }
});

test("arguments leave as they are generated", async () => {
  const { events } = await eventsOf(
    pieces([
      ["call_name", "f"],
      ["argument_json", '{"a":'],
      ["argument_json", "1}"],
    ]),
  );
  expect(lines(events)).toEqual(["begin 0 call_0 f", 'arguments 0 {"a":', "arguments 0 1}", "end 0", "finish calls"]);
});

test("under a grammar the limit ends an answer where it is complete", async () => {
  const text = pieces([["text", "[1]"]], "length");
  expect(lines((await eventsOf(text, { constraint: "enforced" })).events).at(-1)).toBe("finish stop");
  expect(lines((await eventsOf(text, { constraint: "triggered" })).events).at(-1)).toBe("finish length");
  const named = pieces(
    [
      ["call_name", "now"],
      ["markup", "</function>"],
    ],
    "length",
  );
  expect(lines((await eventsOf(named, { constraint: "triggered" })).events).at(-1)).toBe("finish calls");
});

test("a stop string ends the answer, cancels the engine once and keeps the counts", async () => {
  const source = pieces(
    [
      ["text", "one ST"],
      ["text", "OP two"],
      ["text", " STOP"],
    ],
    "cancelled",
  );
  const { events, cancelled } = await eventsOf(source, { stop: ["STOP"] });
  expect(cancelled).toBe(1);
  expect(events).toEqual([
    { kind: "text", text: "one ", logprobs: [] },
    { kind: "finish", reason: { kind: "stop_string", text: "STOP" }, usage: { ...timings, reasoningTokens: 0 } },
  ]);
});

test("stop strings do not apply to reasoning or arguments", async () => {
  const source = pieces([
    ["reasoning", "STOP"],
    ["markup", "</think>"],
    ["text", "a S"],
    ...call(0, "f", '{"a":"STOP"}'),
  ]);
  const { events } = await eventsOf(source, { stop: ["STOP"] });
  expect(lines(joined(events))).toEqual([
    "reasoning STOP",
    "text a S",
    "begin 0 call_0 f",
    'arguments 0 {"a":"STOP"}',
    "end 0",
    "finish calls",
  ]);
});

test("log-probabilities belong to the tokens of the text, not to those of markers and arguments", async () => {
  const token = (byte: string): EngineEvent => ({ kind: "token", token: byte.charCodeAt(0), logprob: -1, top: [] });
  const bytes = (channel: ChannelName, text: string): EngineEvent => ({
    kind: "bytes",
    channel,
    call: 0,
    bytes: utf8.encode(text),
  });
  const { events } = await eventsOf([
    token("a"),
    bytes("text", "a"),
    token("<"),
    token("b"),
    bytes("text", "<b"),
    token("{"),
    bytes("markup", "{"),
    token("f"),
    bytes("call_name", "f"),
    token("}"),
    bytes("argument_json", "{}"),
    token("c"),
    bytes("text", "c"),
    { kind: "finish", reason: "stop_token", timings },
  ]);
  const texts = events.filter((event) => event.kind === "text");
  expect(texts.map(({ text, logprobs }) => [text, logprobs.map((entry) => String.fromCharCode(entry.token))])).toEqual([
    ["a", ["a"]],
    ["<b", ["<", "b"]],
    ["c", ["c"]],
  ]);
});

test("progress passes, and an engine that ends without a word is a failure", async () => {
  const { events } = await eventsOf([{ kind: "progress", done: 1, total: 2 }]);
  expect(lines(events)).toEqual(["progress", "failure engine"]);
});

test("tokens of prompt and answer, up to the one that completes a stop string", async () => {
  const token = (token: number): EngineEvent => ({ kind: "token", token, logprob: 0, top: [] });
  const text = (bytes: string): EngineEvent => ({ kind: "bytes", channel: "text", call: 0, bytes: utf8.encode(bytes) });
  const end: EngineEvent = { kind: "finish", reason: "length", timings };
  const source = [token(65), text("A"), token(66), text("B"), token(67), text("C"), end];
  const tokensOf = async (options: Partial<EventOptions>) => {
    const last = (await eventsOf(source, options)).events.at(-1);
    return last?.kind === "finish" ? last.tokens : undefined;
  };
  const keptTokens = Uint32Array.of(1, 2);
  expect(await tokensOf({ keptTokens })).toEqual([1, 2, 65, 66, 67]);
  expect(await tokensOf({ keptTokens, stop: ["B"] })).toEqual([1, 2, 65, 66]);
  expect(await tokensOf({})).toBeUndefined();
});

test("the prompt is told before the answer, its first token without a log-probability", async () => {
  const source: EngineEvent[] = [
    { kind: "prompt_token", token: 66, logprob: -1, top: [{ token: 67, logprob: -2 }] },
    { kind: "prompt_token", token: 67, logprob: -3, top: [] },
    { kind: "token", token: 68, logprob: -4, top: [] },
    { kind: "bytes", channel: "text", call: 0, bytes: utf8.encode("D") },
    { kind: "finish", reason: "stop_token", timings, logprobSum: -18 },
  ];
  const prompt: Event = {
    kind: "prompt",
    tokens: [
      { token: 65, bytes: Uint8Array.of(65), logprob: undefined, top: [] },
      { token: 66, bytes: Uint8Array.of(66), logprob: -1, top: [{ token: 67, bytes: Uint8Array.of(67), logprob: -2 }] },
      { token: 67, bytes: Uint8Array.of(67), logprob: -3, top: [] },
    ],
  };
  const options = { scoredTokens: Uint32Array.of(65, 66, 67), logprobs: true };
  const { events } = await eventsOf(source, options);
  expect(events[0]).toEqual(prompt);
  expect(events.map(({ kind }) => kind)).toEqual(["prompt", "text", "finish"]);
  expect(events.at(-1)).toMatchObject({ meanLogprob: -2 });
  // Without an answer too, but not where the prompt was not read to its end.
  const end = source.slice(-1);
  expect((await eventsOf([...source.slice(0, 2), ...end], options)).events[0]).toEqual(prompt);
  const cancelled: EngineEvent = { kind: "finish", reason: "cancelled", timings };
  expect((await eventsOf([...source.slice(0, 1), cancelled], options)).events).toMatchObject([{ kind: "failure" }]);
});
