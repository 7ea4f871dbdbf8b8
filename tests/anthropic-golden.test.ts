import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import type { Message } from "@anthropic-ai/sdk/resources/messages";
import type { Script } from "../src/engine/scripted.ts";
import { bytewise, call, script, startChat } from "./fixtures/chat.ts";

/**
 * What stands on the wire, byte for byte: one file a case, with the answer and then the stream. Ids are replaced by words.
 * TENON_GOLDEN=write writes the files anew; what changed in them is then for a reviewer to see.
 */
type Case = { readonly script: Script; readonly body: Readonly<Record<string, unknown>> };

const asked = (script: Script, body: object = {}): Case => ({
  script,
  body: { max_tokens: 100, messages: [{ role: "user", content: "hello" }], ...body },
});

const schema = { type: "object", properties: { city: { type: "string" } } };
const tools = [
  { name: "weather", input_schema: schema },
  { name: "now", input_schema: { type: "object", properties: {} } },
];
const thought = script([
  ["reasoning", "hm 🤔"],
  ["markup", "</think>"],
  ["text", "So."],
]);
const weather = call(0, "weather", '{"city":"Łódź", "1": 1.50}');

const cases: Readonly<Record<string, Case>> = {
  text: asked(script([["text", "Grüße 🌍"]])),
  nothing: asked(script([])),
  thinking: asked(thought, { thinking: { type: "adaptive" } }),
  "thinking-omitted": asked(thought, { thinking: { type: "adaptive", display: "omitted" } }),
  tools: asked(script([["text", "See:"], ...weather, ...call(1, "now", "{}")]), { tools }),
  "held-tools": asked(script(weather), { tools, tool_choice: { type: "any" }, tenon_hold_calls: true }),
  format: asked(script([["text", '{"city":"Łódź"}']], "complete"), {
    output_config: { format: { type: "json_schema", schema } },
  }),
  stop: asked(script([["text", "one STOP two"]]), { stop_sequences: ["STOP"] }),
  length: asked(script([["text", "one two"]], "length")),
  context: asked(script([["text", "one two"]], "context")),
  failure: asked(script([["text", "a"]], "failed")),
  refused: asked(script([]), { messages: [{ role: "user", content: [{ type: "image" }] }] }),
};

const servers: ReturnType<typeof startChat>[] = [];
afterAll(() => Promise.all(servers.map(({ server }) => server.stop(0))));

function serve(answer: Script) {
  const chat = startChat(() => answer);
  servers.push(chat);
  const ask = async (body: object): Promise<string> => {
    const url = new URL("/v1/messages", chat.server.url);
    const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    return response.text();
  };
  return { ask, client: new Anthropic({ baseURL: chat.server.url.origin, apiKey: "none", maxRetries: 0 }) };
}

test.each(Object.entries(cases))("%s, as it stands on the wire", async (name, { script, body }) => {
  const { ask } = serve(script);
  const transcript = `${normal(await ask(body))}\n\n${normal(await ask({ ...body, stream: true }))}`;
  const file = join(import.meta.dir, "golden/anthropic", `${name}.txt`);
  if (process.env["TENON_GOLDEN"] === "write") writeFileSync(file, transcript);
  if (!existsSync(file)) throw new Error(`there is no ${file}; TENON_GOLDEN=write writes it`);
  expect(transcript).toBe(readFileSync(file, "utf8"));
});

const answered = Object.entries(cases).filter(([name]) => name !== "failure" && name !== "refused");

test.each(answered)(
  "%s: the stream says what the answer says, whatever the bytes come in",
  async (_, { script, body }) => {
    for (const answer of [script, bytewise(script)]) {
      const { ask, client } = serve(answer);
      const whole: Message = JSON.parse(await ask(body));
      const stream = client.messages.stream({ model: "any", messages: [], max_tokens: 1, ...body });
      const { parsed_output: _, ...final } = await stream.finalMessage();
      expect(withoutIds(final)).toEqual(withoutIds(whole));
    }
  },
);

/** Everything but the ids, which are another's. */
function withoutIds(message: Message): object {
  return JSON.parse(normal(JSON.stringify(message)));
}

function normal(text: string): string {
  return text
    .replace(/"msg_[0-9a-f]{32}"/g, '"msg_ID"')
    .replace(/"req_[0-9a-f]{32}"/g, '"req_ID"')
    .replace(/"toolu_[0-9a-f]{24}"/g, '"toolu_ID"');
}
