import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChatResponse, type GenerateResponse, Ollama } from "ollama";
import type { Script } from "../src/engine/scripted.ts";
import { bytewise, call, detail, script, startChat } from "./fixtures/chat.ts";
import { ollamaFaults } from "./fixtures/ollama-document.ts";

/**
 * What stands on the wire, byte for byte: one file a case, with the answer and then the stream. What differs from run to run is replaced
 * by words. TENON_GOLDEN=write writes the files anew; what changed in them is then for a reviewer to see.
 */
type Case = { readonly path: string; readonly script: Script; readonly body: Readonly<Record<string, unknown>> };

const asked = (script: Script, body: object = {}): Case => ({
  path: "/api/chat",
  script,
  body: { messages: [{ role: "user", content: "hello" }], ...body },
});
const generated = (script: Script, body: object = {}): Case => ({
  path: "/api/generate",
  script,
  body: { prompt: "hi", raw: true, ...body },
});

const parameters = { type: "object", properties: { city: { type: "string" } } };
const tools = [
  { type: "function", function: { name: "weather", parameters } },
  { type: "function", function: { name: "now" } },
];
const thought = script([
  ["reasoning", "hm 🤔"],
  ["markup", "</think>"],
  ["text", "So."],
]);
const said = script([["text", "Grüße 🌍"]]);
const weather = call(0, "weather", '{"city":"Łódź", "1": 1.50}');
const token = { kind: "token", token: 97, logprob: -0.5, top: [{ token: 98, logprob: -1.5 }] } as const;
const logged: Script = { ...script([]), events: [token, ...script([["text", "a"]]).events] };

const cases: Readonly<Record<string, Case>> = {
  text: asked(said),
  nothing: asked(script([])),
  thinking: asked(thought, { think: true }),
  tools: asked(script([["text", "See:"], ...weather, ...call(1, "now", "{}")]), { tools }),
  forced: asked(script(weather), { tools, tool_choice: "required" }),
  format: asked(script([["text", '{"city":"Łódź"}']], "complete"), { format: parameters }),
  stop: asked(script([["text", "one STOP two"]]), { options: { stop: ["STOP"] } }),
  length: asked(script([["text", "one two"]], "length")),
  context: asked(script([["text", "one two"]], "context")),
  logprobs: asked(logged, { logprobs: true, top_logprobs: 1 }),
  failure: asked(script([["text", "a"]], "failed")),
  refused: asked(script([]), { format: "xml" }),
  load: asked(script([]), { messages: [] }),
  generate: generated(said),
  "generate-thinking": generated(thought),
  "generate-context": generated(logged, { raw: false, context: [1, 2] }),
  "generate-length": generated(script([["text", "one two"]], "length")),
  "generate-failure": generated(script([["text", "a"]], "failed")),
};

const servers: ReturnType<typeof startChat>[] = [];
afterAll(() => Promise.all(servers.map(({ server }) => server.stop(0))));

function serve(answer: Script) {
  const describe = () => ({ ...detail, capabilities: ["completion", "tools", "thinking"] as const });
  const chat = startChat(() => answer, { service: { describe } });
  servers.push(chat);
  const ask = async (path: string, body: object): Promise<string> => {
    const response = await fetch(new URL(path, chat.server.url), { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    const type = response.headers.get("content-type") ?? "";
    expect(ollamaFaults("POST", path, { status: response.status, type, text })).toEqual([]);
    return text;
  };
  return { ask, client: new Ollama({ host: chat.server.url.origin }) };
}

test.each(Object.entries(cases))("%s, as it stands on the wire", async (name, { path, script, body }) => {
  const { ask } = serve(script);
  const transcript = `${normal(await ask(path, { ...body, stream: false }))}\n\n${normal(await ask(path, body))}`;
  const file = join(import.meta.dir, "golden/ollama", `${name}.txt`);
  if (process.env["TENON_GOLDEN"] === "write") writeFileSync(file, transcript);
  if (!existsSync(file)) throw new Error(`there is no ${file}; TENON_GOLDEN=write writes it`);
  expect(transcript).toBe(readFileSync(file, "utf8"));
});

const answered = Object.entries(cases).filter(([name]) => !/failure|refused|load/.test(name));

test.each(answered)(
  "%s: the stream says what the answer says, whatever the bytes come in",
  async (_, { path, script, body }) => {
    for (const answer of [script, bytewise(script)]) {
      const { ask, client } = serve(answer);
      const whole = JSON.parse(normal(await ask(path, { ...body, stream: false })));
      const request = { model: "any", ...body, stream: true } as const;
      const stream =
        path === "/api/chat"
          ? accumulateChat(await client.chat(request))
          : accumulateText(await client.generate({ prompt: "", ...request }));
      expect(JSON.parse(normal(JSON.stringify(await stream)))).toEqual(whole);
    }
  },
);

/** What a client puts together from a stream: what was said, and the last line. */
async function accumulateChat(parts: AsyncIterable<ChatResponse>): Promise<object> {
  const message: ChatResponse["message"] = { role: "assistant", content: "" };
  const logprobs: unknown[] = [];
  let last: object = {};
  for await (const part of parts) {
    const { content, thinking, tool_calls } = part.message;
    message.content += content;
    if (thinking !== undefined) message.thinking = (message.thinking ?? "") + thinking;
    if (tool_calls !== undefined) message.tool_calls = [...(message.tool_calls ?? []), ...tool_calls];
    logprobs.push(...(part.logprobs ?? []));
    last = part;
  }
  return { ...last, message, ...(logprobs.length === 0 ? {} : { logprobs }) };
}

async function accumulateText(parts: AsyncIterable<GenerateResponse>): Promise<object> {
  let response = "";
  let thinking = "";
  let last: object = {};
  for await (const part of parts) {
    response += part.response ?? "";
    thinking += part.thinking ?? "";
    last = part;
  }
  return { ...last, response, ...(thinking === "" ? {} : { thinking }) };
}

function normal(text: string): string {
  return text
    .replace(/"call_[0-9a-f]{24}"/g, '"call_ID"')
    .replace(/"created_at":"[^"]+"/g, '"created_at":"TIME"')
    .replace(/"total_duration":\d+/g, '"total_duration":0');
}
