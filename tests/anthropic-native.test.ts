import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import type { Message, MessageParam, Tool, ToolChoice } from "@anthropic-ai/sdk/resources/messages";
import Ajv from "ajv";
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
} as const;
const tools: Tool[] = [
  { name: "book_trip", description: "Books a trip", input_schema: { ...trip, required: ["city", "nights"] } },
  { name: "now", input_schema: { type: "object", properties: {} } },
];
const messages: MessageParam[] = [{ role: "user", content: "Plan something." }];
const ajv = new Ajv();
const isTrip = ajv.compile(trip);
const isEmpty = ajv.compile({ type: "object", additionalProperties: false });

let tenon: Awaited<ReturnType<typeof startTenon>> | undefined;
const start = async (...flags: string[]) => {
  tenon = await startTenon(flags);
};
afterAll(() => tenon?.stop(0));

function connect(): Anthropic {
  if (tenon === undefined) throw new Error("no server");
  return new Anthropic({ baseURL: tenon.server.url.origin, apiKey: "none", maxRetries: 0 });
}

/** Fields of every request; the client passes on what it has no type for. */
function base(seed: number, max_tokens: number, temperature = 1) {
  return { model: "any", messages, max_tokens, temperature, seed };
}

/** Names of the calls; a call that nobody offered, or whose input does not fit, is thrown. */
function callsOf({ content }: Message): readonly string[] {
  return content.flatMap((block) => {
    if (block.type !== "tool_use") return [];
    if (!(block.name === "book_trip" ? isTrip(block.input) : block.name === "now" && isEmpty(block.input)))
      throw new Error(`a wrong call: ${JSON.stringify(block)}`);
    return [block.name];
  });
}

/** A message without what is random in it. */
function essence({ content, stop_reason, usage }: Message) {
  const blocks = content.map((block) => (block.type === "tool_use" ? { ...block, id: "" } : block));
  // A repeated prompt comes from the cache, and both numbers together are the prompt.
  const { input_tokens, cache_read_input_tokens, output_tokens } = usage;
  return { blocks, stop_reason, prompt: input_tokens + (cache_read_input_tokens ?? 0), output_tokens };
}

const vocabulary = modelPath("Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf");
if (vocabulary === undefined)
  console.log("skipped: tests over the noise model need the Qwen2.5-Coder file in the models folder");

describe.skipIf(vocabulary === undefined)("noise", () => {
  beforeAll(() => start("-m", "noise", "--vocabulary", vocabulary ?? "", "--slots", "8"));

  test.each([
    { type: "any" },
    { type: "any", disable_parallel_tool_use: true },
    { type: "tool", name: "book_trip" },
  ] satisfies ToolChoice[])("forced by %j: nothing but right calls, streamed or not", async (tool_choice) => {
    const client = connect();
    for (let seed = 0; seed < 12; seed++) {
      const request = { ...base(seed, 40 + 9 * seed), tools, tool_choice };
      const message = await client.messages.create(request);
      expect(message.stop_reason).toBe("tool_use");
      const names = callsOf(message);
      expect(names.length).toBe(message.content.length);
      expect(names.length).toBeGreaterThan(0);
      if (tool_choice.type === "tool") expect(new Set(names)).toEqual(new Set(["book_trip"]));
      if (tool_choice.type === "tool" || tool_choice.disable_parallel_tool_use) expect(names.length).toBe(1);
      expect(essence(await client.messages.stream(request).finalMessage())).toEqual(essence(message));
    }
  });

  test("auto: free text, and every call in it is right; none: no call", async () => {
    const client = connect();
    let calls = 0;
    for (let seed = 0; seed < 6; seed++) {
      const request = { ...base(seed, 120), tools };
      const message = await client.messages.create(request);
      calls += callsOf(message).length;
      expect(essence(await client.messages.stream(request).finalMessage())).toEqual(essence(message));
      const none = await client.messages.create({ ...request, tool_choice: { type: "none" } });
      expect(none.content.map(({ type }) => type)).toEqual(["text"]);
      expect(JSON.stringify(none.content)).not.toContain("<tool_call>");
    }
    expect(calls).toBeGreaterThan(0);
  });

  test("an output format fits within any limit that can hold it", async () => {
    const client = connect();
    // The SDK's own changes to the schema would drop its bounds.
    const format = jsonSchemaOutputFormat(trip, { transform: false });
    for (let seed = 0; seed < 12; seed++) {
      const { parsed_output, stop_reason } = await client.messages.parse({
        ...base(seed, 40 + 5 * seed),
        output_config: { format },
      });
      expect(isTrip(parsed_output)).toBe(true);
      expect(stop_reason).toBe("end_turn");
    }
  });

  test("a limit that holds no answer, and a schema that cannot be enforced, are refused by name", async () => {
    const client = connect();
    const messageOf = (fields: object) =>
      client.messages.create({ ...base(0, 100), ...fields }).then(
        () => "",
        (error: unknown) => (error instanceof Anthropic.BadRequestError ? error.apiMessage : `${error}`),
      );
    expect(await messageOf({ tools, tool_choice: { type: "any" }, max_tokens: 1 })).toStartWith("max_tokens: ");
    expect(await messageOf({ tool_choice: { type: "any" } })).toStartWith("tool_choice: ");
    expect(await messageOf({ tools, tool_choice: { type: "tool", name: "x" } })).toBe(
      "tool_choice: Tool choice 'x' not found in 'tools' parameter.",
    );
    const input_schema = { type: "object", properties: { a: { $ref: "#/nowhere" } } };
    expect(await messageOf({ tools: [{ name: "f", input_schema }] })).toMatch(
      /^tools\.0\.input_schema: Invalid schema for function 'f': '\$ref' at '\/properties\/a/,
    );
    expect(await messageOf({ messages: [{ role: "user", content: "word ".repeat(40_000) }] })).toMatch(
      /^prompt is too long: \d+ tokens > \d+ maximum$/,
    );
  });
});

const model = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (model === undefined) console.log("skipped: tests over the default model need its file in the models folder");

describe.skipIf(model === undefined)("the default model", () => {
  beforeAll(async () => {
    await tenon?.stop(0);
    await start("-m", model ?? "");
  });

  test("counting is exact, whatever the cache holds", async () => {
    const client = connect();
    const fields = { system: "Be brief.", tools, messages };
    const { input_tokens: counted } = await client.messages.countTokens({ model: "any", ...fields });
    for (let turn = 0; turn < 2; turn++) {
      const { usage } = await client.messages.create({ ...base(1, 4), ...fields });
      expect(usage.input_tokens + (usage.cache_read_input_tokens ?? 0)).toBe(counted);
    }
  });

  test("the same conversation and seed say the same through OpenAI's chat", async () => {
    const client = connect();
    for (const temperature of [0, 1]) {
      const message = await client.messages.create({ ...base(7, 24, temperature), system: "Be brief." });
      const response = await fetch(new URL("/v1/chat/completions", tenon?.server.url), {
        method: "POST",
        body: JSON.stringify({
          messages: [{ role: "system", content: "Be brief." }, ...messages],
          max_tokens: 24,
          temperature,
          seed: 7,
        }),
      });
      const chat: { choices: { message: { content: string } }[]; usage: { prompt_tokens: number } } = JSON.parse(
        await response.text(),
      );
      expect(message.content).toEqual([
        { type: "text", text: chat.choices[0]?.message.content ?? "", citations: null },
      ]);
      expect(essence(message).prompt).toBe(chat.usage.prompt_tokens);
    }
  });

  test("an answer goes on from the assistant's last words", async () => {
    const client = connect();
    const request = base(0, 12, 0);
    const { content } = await client.messages.create(request);
    const [whole] = content;
    if (whole?.type !== "text") throw new Error("no text");
    const begun = whole.text.slice(0, whole.text.indexOf(" ", 4));
    const rest = await client.messages.create({
      ...request,
      messages: [...messages, { role: "assistant", content: begun }],
      stop_sequences: [whole.text.slice(-1)],
    });
    const [said] = rest.content;
    expect(said?.type === "text" && whole.text.startsWith(begun + said.text)).toBe(true);
  });

  test("the tool runner makes a call, and gets on with its result", async () => {
    const client = connect();
    const asked: unknown[] = [];
    const tool = betaTool({
      name: "book_trip",
      description: "Books a trip",
      inputSchema: trip,
      run: (input) => {
        asked.push(input);
        return "booked";
      },
    });
    const final = await client.beta.messages.toolRunner({
      ...base(5, 60),
      tools: [tool],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      max_iterations: 2,
    });
    expect(asked.length).toBe(2);
    expect(asked.every((input) => isTrip(input))).toBe(true);
    expect(final.stop_reason).toBe("tool_use");
  });

  test("leaving a stream frees its slot", async () => {
    const stream = await connect().messages.create({ ...base(1, 1000), stream: true });
    for await (const event of stream) if (event.type === "content_block_delta") break;
    while ((tenon?.loaded.model.engine.stats().running ?? 0) > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});
