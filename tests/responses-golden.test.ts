import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import OpenAI from "openai";
import { echoOf } from "../src/api/responses/echo.ts";
import { encodeStream, encodeWhole } from "../src/api/responses/encode.ts";
import { errorResponse } from "../src/api/responses/error.ts";
import type { ResponseFrame } from "../src/api/responses/response.ts";
import type { Event } from "../src/generation/event.ts";
import { responsesFaults } from "./fixtures/responses-document.ts";

// Exact bytes, once read and agreed on. TENON_GOLDEN=write writes them anew, to be read again.

const frame: ResponseFrame = {
  id: "resp_0123456789abcdef0123456789abcdef",
  createdAt: 1_700_000_000,
  endedAt: () => 1_700_000_001,
  model: "M",
  echo: echoOf({}),
  logprobs: false,
  reasoningAs: "content",
  sealReasoning: false,
};
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
const finish = (kind: "stop" | "calls" | "length" | "context"): Event => ({ kind: "finish", reason: { kind }, usage });
const thoughts: readonly Event[] = [
  { kind: "reasoning", text: "Hm …" },
  { kind: "reasoning", text: " 🤔" },
];
const calls: readonly Event[] = [
  { kind: "call_begin", index: 0, id: "call_a", name: "weather", custom: false },
  { kind: "call_arguments", index: 0, text: '{"city":' },
  { kind: "call_arguments", index: 0, text: '"Łódź"}' },
  { kind: "call_end", index: 0 },
  { kind: "call_begin", index: 1, id: "call_b", name: "patch", custom: true },
  { kind: "call_arguments", index: 1, text: "*** Begin" },
  { kind: "call_end", index: 1 },
];
const token = (byte: number, logprob: number) => ({ token: byte, bytes: Uint8Array.of(byte), logprob });

type Transcript = {
  readonly name: string;
  readonly events: readonly Event[];
  readonly frame?: Partial<ResponseFrame>;
};

const tools = [
  { type: "function", name: "weather" },
  { type: "custom", name: "patch" },
];
const transcripts: readonly Transcript[] = [
  { name: "text", events: [{ kind: "progress", done: 1, total: 2 }, text("Grüße "), text("🌍"), finish("stop")] },
  {
    name: "stop",
    events: [text("one "), { kind: "finish", reason: { kind: "stop_string", text: "STOP" }, usage }],
  },
  { name: "nothing", events: [finish("stop")] },
  { name: "length", events: [text("Grüße"), finish("length")] },
  { name: "tools", events: [text("See:"), ...calls, finish("calls")], frame: { echo: echoOf({ tools }) } },
  { name: "call-cut-off", events: [...calls.slice(0, 2), finish("context")], frame: { echo: echoOf({ tools }) } },
  { name: "reasoning", events: [...thoughts, text("Yes."), finish("stop")], frame: { sealReasoning: true } },
  {
    name: "reasoning-summary",
    events: [...thoughts, ...calls.slice(0, 4), finish("calls")],
    frame: { reasoningAs: "summary", echo: echoOf({ tools, reasoning: { effort: "low", summary: "auto" } }) },
  },
  {
    name: "logprobs",
    events: [{ kind: "text", text: "a", logprobs: [{ ...token(97, -0.5), top: [token(98, -1)] }] }, finish("stop")],
    frame: { logprobs: true },
  },
  {
    name: "error",
    events: [text("Grüße"), { kind: "failure", failure: { kind: "engine", message: "It broke." } }],
  },
  {
    name: "background-cancelled",
    events: [
      { kind: "progress", done: 1, total: 2 },
      { kind: "failure", failure: { kind: "cancelled" } },
    ],
    frame: { echo: echoOf({ background: true }) },
  },
];

describe.each(transcripts)("$name", ({ name, events, frame: special }) => {
  const written = { ...frame, ...special };
  const stream = async () => (await Array.fromAsync(encodeStream(written, told(events)))).join("");

  test("the stream, byte for byte", async () => {
    await compare(`${name}.sse`, await stream());
  });

  test("is valid, and OpenAI's client puts it together, byte by byte, to the answer without stream", async () => {
    const wire = await stream();
    const headers = { "content-type": "text/event-stream" };
    expect(responsesFaults("POST /v1/responses", 200, wire)).toEqual([]);
    const client = new OpenAI({
      apiKey: "none",
      fetch: async () => new Response(bytewise(wire), { headers }),
    });
    const final = await client.responses.stream({ model: "M", input: "Hi" }).finalResponse();
    const whole = await encodeWhole(written, told(events));
    const last: { readonly response: object } = JSON.parse(wire.split("data: ").at(-1) ?? "");
    if (whole.ok) expect(whole.value).toEqual(last.response);
    else expect(["failed", "cancelled"]).toContain(final.status ?? "");
    expect(final).toMatchObject(last.response);
  });
});

test("an error without stream, byte for byte", async () => {
  const response = errorResponse({
    kind: "invalid",
    message: "Invalid value for 'temperature': expected a number from 0 to 2.",
    param: "temperature",
    code: "invalid_value",
  });
  const body = await response.text();
  expect(responsesFaults("POST /v1/responses", response.status, body)).toEqual([]);
  await compare("error.txt", body);
});

async function compare(name: string, written: string): Promise<void> {
  const file = Bun.file(join(import.meta.dir, "fixtures/responses", name));
  if (process.env["TENON_GOLDEN"] === "write") await file.write(written);
  expect(written).toBe(await file.text());
}

function bytewise(text: string): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text).values();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = bytes.next();
      if (next.done === true) controller.close();
      else controller.enqueue(Uint8Array.of(next.value));
    },
  });
}

async function* told(events: readonly Event[]) {
  yield* events;
}
