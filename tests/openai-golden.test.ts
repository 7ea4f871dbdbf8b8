import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import type { Script } from "../src/engine/scripted.ts";
import { bytewise, call, type Piece, script, startChat } from "./fixtures/chat.ts";
import { answerFaults } from "./fixtures/checked-openai.ts";

/**
 * What stands on the wire, byte for byte: one file a case, with the answer and then the stream. Ids, times and the fingerprint are
 * replaced by words. TENON_GOLDEN=write writes the files anew; what changed in them is then for a reviewer to see.
 */
type Case = {
  readonly path: "/v1/chat/completions" | "/v1/completions";
  readonly script: Script;
  readonly body: Readonly<Record<string, unknown>>;
};

const messages = [{ role: "user", content: "hello" }];
const chatCase = (script: Script, body: object = {}): Case => ({
  path: "/v1/chat/completions",
  script,
  body: { messages, ...body },
});
const completionCase = (script: Script, body: object = {}): Case => ({
  path: "/v1/completions",
  script,
  body: { prompt: "Once", ...body },
});

const tools = [
  { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } },
  { type: "custom", custom: { name: "run" } },
];
const rawCall: readonly Piece[] = [
  ["markup", '<tool_call>\n{"name": "', 1],
  ["call_name", "run", 1],
  ["markup", '"}\n', 1],
  ["custom_input", "print(1)\n", 1],
  ["markup", "\n</tool_call>", 1],
];
const said: Script = script([["text", "Grüße 🌍"]]);
const logged: Script = {
  ...said,
  events: [
    { kind: "token", token: 71, logprob: -0.5, top: [{ token: 72, logprob: -1 }] },
    { kind: "bytes", channel: "text", call: 0, bytes: Buffer.from("G") },
    { kind: "token", token: 72, logprob: -2, top: [{ token: 71, logprob: -0.25 }] },
    { kind: "bytes", channel: "text", call: 0, bytes: Buffer.from("H") },
  ],
};

const cases: Readonly<Record<string, Case>> = {
  text: chatCase(said),
  nothing: chatCase(script([])),
  reasoning: chatCase(
    script([
      ["reasoning", "hm 🤔"],
      ["markup", "</think>"],
      ["text", "So."],
    ]),
  ),
  tools: chatCase(script([["text", "See:"], ...call(0, "weather", '{"city":"Łódź"}'), ...rawCall]), { tools }),
  "held-tools": chatCase(script(call(0, "weather", '{"city":"Łódź"}')), { tools, tenon_hold_calls: true }),
  functions: chatCase(script(call(0, "weather", "{}")), { functions: [{ name: "weather" }] }),
  stop: chatCase(script([["text", "one STOP two"]]), { stop: "STOP" }),
  length: chatCase(script([["text", "one two"]], "length"), { max_tokens: 2 }),
  logprobs: chatCase(logged, { logprobs: true, top_logprobs: 1 }),
  choices: chatCase(said, { n: 2 }),
  failure: chatCase(script([["text", "a"]], "failed")),
  completion: completionCase(said, { echo: true }),
  "completion-logprobs": completionCase(logged, { logprobs: 1 }),
  "completion-length": completionCase(script([["text", "one two"]], "length")),
};

const servers: ReturnType<typeof startChat>[] = [];
afterAll(() => Promise.all(servers.map(({ server }) => server.stop(0))));

function serve(answer: Script) {
  const chat = startChat(() => answer);
  servers.push(chat);
  const ask = async (path: string, body: object): Promise<{ status: number; text: string }> => {
    const response = await fetch(new URL(path, chat.server.url), { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  };
  return { ...chat, ask };
}

const streamed = { stream: true, stream_options: { include_usage: true } };

test.each(Object.entries(cases))("%s, as it stands on the wire", async (name, { path, script, body }) => {
  const { ask } = serve(script);
  const whole = await ask(path, body);
  const stream = await ask(path, { ...body, ...streamed });
  expect(answerFaults(path, whole.status, whole.text)).toEqual([]);
  expect(answerFaults(path, stream.status, stream.text)).toEqual([]);
  const transcript = `${normal(whole.text)}\n\n${normal(stream.text)}`;
  const file = join(import.meta.dir, "golden/openai", `${name}.txt`);
  if (process.env["TENON_GOLDEN"] === "write") writeFileSync(file, transcript);
  if (!existsSync(file)) throw new Error(`there is no ${file}; TENON_GOLDEN=write writes it`);
  expect(transcript).toBe(readFileSync(file, "utf8"));
});

const chats = Object.entries(cases).filter(([name, { path }]) => path === "/v1/chat/completions" && name !== "failure");

test.each(chats)(
  "%s: the stream says what the answer says, whatever the bytes come in",
  async (_, { path, script, body }) => {
    for (const answer of [script, bytewise(script)]) {
      const { ask, server } = serve(answer);
      const whole: OpenAI.ChatCompletion = JSON.parse((await ask(path, body)).text);
      const client = new OpenAI({ baseURL: new URL("/v1", server.url).href, apiKey: "none", maxRetries: 0 });
      const chunks = await client.chat.completions.create({
        model: "any",
        messages: [],
        ...body,
        ...streamed,
        stream: true,
      });
      const accumulated = await accumulate(chunks);
      expect(accumulated).toEqual(
        whole.choices.map(({ message, logprobs, finish_reason }) => ({
          content: message.content ?? "",
          calls: (message.tool_calls ?? []).map((each) => (each.type === "function" ? each.function : each.custom)),
          function_call: message.function_call,
          logprobs: logprobs?.content ?? [],
          finish_reason,
        })),
      );
    }
  },
);

type Accumulated = {
  content: string;
  calls: unknown[];
  function_call: unknown;
  logprobs: unknown[];
  finish_reason: string | null;
};

/** What a client puts together from a stream, choice by choice. */
async function accumulate(chunks: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<Accumulated[]> {
  const choices: Accumulated[] = [];
  for await (const { choices: pieces } of chunks) {
    for (const { index, delta, finish_reason, logprobs } of pieces) {
      choices[index] ??= { content: "", calls: [], function_call: undefined, logprobs: [], finish_reason: null };
      const choice = choices[index];
      choice.content += delta.content ?? "";
      choice.logprobs.push(...(logprobs?.content ?? []));
      choice.finish_reason = finish_reason ?? choice.finish_reason;
      choice.function_call = joined(choice.function_call, delta.function_call);
      for (const { index, id: _, type: __, ...piece } of delta.tool_calls ?? []) {
        const [text] = Object.values(piece);
        choice.calls[index] = joined(choice.calls[index], text);
      }
    }
  }
  return choices;
}

/** Texts of the same name, one after another. */
function joined(before: unknown, piece: unknown): unknown {
  if (typeof piece !== "object" || piece === null) return before;
  const known: Record<string, string> = { ...Object(before) };
  for (const [name, text] of Object.entries(piece)) known[name] = (known[name] ?? "") + String(text);
  return known;
}

function normal(text: string): string {
  return text
    .replace(/"(chatcmpl|cmpl)-[0-9a-f]{32}"/g, '"$1-ID"')
    .replace(/"call_[0-9a-f]{24}"/g, '"call_ID"')
    .replace(/"created":\d+/g, '"created":0')
    .replace(/"fp_[0-9a-f]+"/g, '"fp_ID"');
}
