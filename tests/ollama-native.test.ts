import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv from "ajv";
import type { ChatRequest, ChatResponse, GenerateResponse, Ollama } from "ollama";
import { checkedClient } from "./fixtures/checked-ollama.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

// Tokens of a large vocabulary on a busy machine.
setDefaultTimeout(120_000);

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
  { type: "function", function: { name: "book_trip", description: "Books a trip", parameters: trip } },
  { type: "function", function: { name: "now", parameters: { type: "object", properties: {} } } },
];
const model = "any";
const messages = [{ role: "user", content: "Plan something." }];
const ajv = new Ajv();
const isTrip = ajv.compile(trip);
const isEmpty = ajv.compile({ type: "object", additionalProperties: false });

const home = mkdtempSync(join(tmpdir(), "tenon-ollama-"));
let tenon: Awaited<ReturnType<typeof startTenon>> | undefined;
const start = async (...flags: string[]) => {
  await tenon?.stop(0);
  tenon = await startTenon(flags, home);
};
afterAll(async () => {
  await tenon?.stop(0);
  rmSync(home, { recursive: true });
});

let faults: (() => Promise<readonly string[]>) | undefined;
afterEach(async () => expect((await faults?.()) ?? []).toEqual([]));

function connect(): Ollama {
  if (tenon === undefined) throw new Error("no server");
  const checked = checkedClient(tenon.server.url);
  ({ faults } = checked);
  return checked.client;
}

/** With our own field, which the client passes on. */
function asked(request: ChatRequest, tool_choice?: unknown): ChatRequest & { stream: false } {
  return Object.assign({ ...request, stream: false } as const, { tool_choice });
}

/** Names of the calls; a call that nobody offered, or whose arguments do not fit, is thrown. */
function callsOf({ tool_calls = [] }: ChatResponse["message"]): readonly string[] {
  return tool_calls.map(({ function: { name, arguments: given } }) => {
    if (name === "book_trip" ? isTrip(given) : name === "now" && isEmpty(given)) return name;
    throw new Error(`a wrong call: ${name} ${JSON.stringify(given)}`);
  });
}

/** An answer without what is random in it. */
function essence({ message, done_reason, eval_count, prompt_eval_count }: ChatResponse) {
  const { content, thinking } = message;
  const calls = (message.tool_calls ?? []).map((each) => each.function);
  return { content, thinking, calls, done_reason, eval_count, prompt_eval_count };
}

/** The same of a stream. */
async function streamed(client: Ollama, request: ChatRequest): Promise<ReturnType<typeof essence>> {
  let said: ChatResponse["message"] = { role: "assistant", content: "" };
  let last: ChatResponse | undefined;
  for await (const part of await client.chat({ ...request, stream: true })) {
    const { content, thinking, tool_calls } = part.message;
    said = {
      ...said,
      content: said.content + content,
      ...(thinking === undefined ? {} : { thinking: (said.thinking ?? "") + thinking }),
      tool_calls: [...(said.tool_calls ?? []), ...(tool_calls ?? [])],
    };
    last = part;
  }
  if (last === undefined) throw new Error("no line");
  return essence({ ...last, message: said });
}

const vocabulary = modelPath("Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf");
if (vocabulary === undefined)
  console.log("skipped: tests over the noise model need the Qwen2.5-Coder file in the models folder");

describe.skipIf(vocabulary === undefined)("noise", () => {
  beforeAll(() => start("-m", "noise", "--vocabulary", vocabulary ?? "", "--slots", "8"));

  test.each([["required"], [{ type: "function", function: { name: "book_trip" } }]] satisfies [unknown][])(
    "forced by %j: nothing but right calls, streamed or not",
    async (choice) => {
      const client = connect();
      for (let seed = 0; seed < 8; seed++) {
        const options = { seed, num_predict: 40 + 9 * seed };
        const request = asked({ model, messages, tools, options }, choice);
        const answer = await client.chat(request);
        expect(answer).toMatchObject({ done_reason: "stop", message: { content: "" } });
        const names = callsOf(answer.message);
        expect(names.length).toBeGreaterThan(0);
        if (choice !== "required") expect(names).toEqual(["book_trip"]);
        expect(await streamed(client, request)).toEqual(essence(answer));
      }
    },
  );

  test("auto: free text, and every call in it is right; none: no call", async () => {
    const client = connect();
    let calls = 0;
    for (let seed = 0; seed < 6; seed++) {
      const request = { model, messages, tools, options: { seed, num_predict: 120 } };
      const answer = await client.chat(asked(request));
      calls += callsOf(answer.message).length;
      expect(await streamed(client, request)).toEqual(essence(answer));
      const none = await client.chat(asked(request, "none"));
      expect(none.message.tool_calls).toBeUndefined();
      expect(none.message.content).not.toContain("<tool_call>");
    }
    expect(calls).toBeGreaterThan(0);
  });

  test("a format fits within any limit that can hold it, in chats and generations", async () => {
    const client = connect();
    for (let seed = 0; seed < 8; seed++) {
      const options = { seed, num_predict: 40 + 5 * seed };
      const { message, done_reason } = await client.chat({ model, messages, format: trip, options });
      expect(isTrip(JSON.parse(message.content))).toBe(true);
      expect(done_reason).toBe("stop");
      const { response } = await client.generate({ model, prompt: "Plan.", format: trip, options });
      expect(isTrip(JSON.parse(response ?? ""))).toBe(true);
      const json = await client.generate({ model, prompt: "Plan.", raw: true, format: "json", options });
      expect(JSON.parse(json.response ?? "")).toBeObject();
    }
  });

  test("a limit that holds no answer, and a schema that cannot be enforced, are refused by name", async () => {
    const client = connect();
    const messageOf = (request: ChatRequest) =>
      client.chat({ ...request, stream: false }).then(
        () => "",
        (error: unknown) => (error instanceof Error ? error.message : `${error}`),
      );
    expect(await messageOf(asked({ model, messages, tools, options: { num_predict: 1 } }, "required"))).toMatch(
      /^The shortest answer that fits takes \d+ tokens, more than the limit of 1\.$/,
    );
    expect(await messageOf(asked({ model, messages }, "required"))).toStartWith("Invalid value for 'tool_choice'");
    const format = { type: "object", properties: { a: { $ref: "#/nowhere" } } };
    expect(await messageOf({ model, messages, format })).toStartWith("format: ");
    expect(await messageOf(asked({ model, messages, tools, format: "json" }, "required"))).toContain(
      "two constraints cannot be composed",
    );
    const long = [{ role: "user", content: "word ".repeat(40_000) }];
    expect(await messageOf({ model, messages: long })).toStartWith("This model's maximum context length is");
  });
});

const file = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (file === undefined) console.log("skipped: tests over the default model need its file in the models folder");

describe.skipIf(file === undefined)("the default model", () => {
  beforeAll(() => start("-m", file ?? ""));

  const post = async (path: string, body: object): Promise<{ choices: { message: { content: string } }[] } & Usage> =>
    JSON.parse(
      await (await fetch(new URL(path, tenon?.server.url), { method: "POST", body: JSON.stringify(body) })).text(),
    );
  type Usage = { readonly usage: { readonly prompt_tokens: number } };

  test("the same conversation and seed say the same through OpenAI's chat", async () => {
    const client = connect();
    const talk = [{ role: "system", content: "Be brief." }, ...messages];
    for (const temperature of [0, 1]) {
      const options = { num_predict: 24, temperature, seed: 7 };
      const answer = await client.chat({ model, messages: talk, options });
      const chat = await post("/v1/chat/completions", { messages: talk, max_tokens: 24, temperature, seed: 7 });
      expect(answer.message.content).toBe(chat.choices[0]?.message.content ?? "");
      expect(answer.prompt_eval_count).toBe(chat.usage.prompt_tokens);
      const generated = await client.generate({ model, prompt: "Plan something.", system: "Be brief.", options });
      expect(generated.response).toBe(answer.message.content);
    }
  });

  test("a generation goes on from its context, token by token", async () => {
    const client = connect();
    const options = { num_predict: 12, temperature: 0 };
    const first = await client.generate({ model, prompt: "Once upon a time", raw: true, options });
    expect(first.context.length).toBe(first.prompt_eval_count + first.eval_count);
    const more = await client.generate({ model, prompt: "Go on.", context: first.context, options });
    expect(more.context.slice(0, first.context.length)).toEqual(first.context);
    expect(more.context.length).toBe(more.prompt_eval_count + more.eval_count);
    const parts: GenerateResponse[] = [];
    const request = { model, prompt: "Go on.", context: first.context, options, stream: true } as const;
    for await (const part of await client.generate(request)) parts.push(part);
    expect(parts.map(({ response }) => response).join("")).toBe(more.response ?? "");
    expect(parts.at(-1)?.context).toEqual(more.context);
  });

  test("a context is the tokens that were generated, not those of their text", async () => {
    const client = connect();
    for (let seed = 0; seed < 6; seed++) {
      const options = { num_predict: 16, temperature: 2, seed };
      const { context, response, prompt_eval_count } = await client.generate({ model, prompt: "Hi", options });
      const body = JSON.stringify({ tokens: context.slice(prompt_eval_count) });
      const told = await fetch(new URL("/detokenize", tenon?.server.url), { method: "POST", body });
      const { content }: { content: string } = JSON.parse(await told.text());
      // A stop token, which has a text, may come last; half a code point is never sent.
      expect(content.startsWith(response ?? "\0")).toBe(true);
    }
  });

  test("a model made of it, with its own template, answers under its name", async () => {
    const client = connect();
    const template = "{{ messages[-1].content }}";
    await client.create({
      model: "echo:v1",
      from: "smollm2",
      template,
      parameters: { num_predict: 5, temperature: 0 },
    });
    const made = await client.generate({ model: "echo:v1", prompt: "Once upon a time" });
    const raw = { model, prompt: "Once upon a time", raw: true, options: { num_predict: 5, temperature: 0 } };
    const plain = await client.generate(raw);
    expect(made).toMatchObject({ model: "echo:v1", response: plain.response, context: plain.context });
    expect((await client.list()).models.map(({ name }) => name)).toContain("echo:v1");
    const shown = await client.show({ model: "echo:v1" });
    expect(shown).toMatchObject({ template, details: { family: "llama", quantization_level: "Q4_1" } });
    expect(Object.entries(shown.model_info)).toContainEqual(["llama.context_length", 8192]);
    const broken = client.generate({ model, prompt: "x", template: "{{ .Prompt }}" });
    expect(await broken.catch((error: unknown) => String(error))).toContain("no Jinja");
    await client.delete({ model: "echo:v1" });
  });

  test("a call that is forced, its result, and another one", async () => {
    const client = connect();
    const options = { seed: 5, num_predict: 60 };
    const first = await client.chat(asked({ model, messages, tools, options }, "required"));
    expect(callsOf(first.message).length).toBeGreaterThan(0);
    const results = (first.message.tool_calls ?? []).map(({ function: { name } }) => ({
      role: "tool",
      tool_name: name,
      content: "done",
    }));
    const talk = [...messages, first.message, ...results];
    const choice = { type: "function", function: { name: "now" } };
    const second = await client.chat(asked({ model, messages: talk, tools, options }, choice));
    expect(callsOf(second.message)).toEqual(["now"]);
  });

  test("leaving a stream frees its slot", async () => {
    const stream = await connect().chat({ model, messages, stream: true, options: { num_predict: 1000 } });
    for await (const _ of stream) break;
    stream.abort();
    while ((tenon?.loaded.model.engine.stats().running ?? 0) > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});
