import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { embedMany, generateObject, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import type { Script } from "../src/engine/scripted.ts";
import { ok } from "../src/generation/result.ts";
import { type Chat, type ChatOptions, call, script } from "./fixtures/chat.ts";
import { serveScripts } from "./fixtures/scripted-openai.ts";

/** What most agents are built on, over the scripted engine: their readers check more than the official client does. */

let chat: Chat | undefined;
afterEach(async () => {
  await chat?.server.stop(0);
  chat = undefined;
});
// `ai` prints a notice about every model name that it does not know.
beforeAll(() => Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }));

const citySchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;
const prompt = "What is the weather in Łódź?";
const weatherCall = call(0, "weather", '{"city":"Łódź"}');

function serve(...given: Parameters<typeof serveScripts>) {
  const { chat: started, ...served } = serveScripts(...given);
  chat = started;
  return served;
}

/** Where to, and by what. */
type Connection = Pick<ReturnType<typeof serveScripts>, "baseURL" | "fetch">;

const compatible = ({ baseURL, fetch }: Connection) =>
  createOpenAICompatible({ name: "tenon", baseURL, fetch, includeUsage: true, supportsStructuredOutputs: true });
const openai = ({ baseURL, fetch }: Connection) => createOpenAI({ baseURL, fetch, apiKey: "none" });

const providers = [
  { name: "openai-compatible", modelOf: (to: Connection) => compatible(to).chatModel("any"), reasons: true },
  // OpenAI's own chats have no reasoning.
  { name: "openai", modelOf: (to: Connection) => openai(to).chat("any"), reasons: false },
] as const;

describe.each(providers)("ai with @ai-sdk/$name", ({ modelOf, reasons }) => {
  const connect = (...scripts: Script[]) => {
    const { baseURL, fetch, ...rest } = serve(scripts);
    return { model: modelOf({ baseURL, fetch }), ...rest };
  };
  const weather = tool({
    description: "The weather of a city",
    inputSchema: jsonSchema<{ city: string }>(citySchema),
    execute: async ({ city }) => `rain in ${city}`,
  });

  test("generateText: reasoning, text, usage and the end", async () => {
    const { model, valid } = connect(
      script([
        ["reasoning", "Hm."],
        ["text", "Grüße 🌍"],
      ]),
    );
    const result = await generateText({ model, prompt });
    expect(result.text).toBe("Grüße 🌍");
    expect(result.reasoningText).toBe(reasons ? "Hm." : undefined);
    expect(result.finishReason).toBe("stop");
    expect(result.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
    expect(result.usage.inputTokenDetails.cacheReadTokens).toBe(1);
    await valid();
  });

  test("generateText: several steps with a tool", async () => {
    const { model, bodies, valid } = connect(script(weatherCall), script([["text", "Rain."]]));
    const result = await generateText({ model, prompt, tools: { weather }, stopWhen: isStepCount(3) });
    expect(result.text).toBe("Rain.");
    expect(result.steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expect(bodies[1]?.["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ function: { name: "weather", arguments: '{"city":"Łódź"}' } }] },
      { role: "tool", content: "rain in Łódź" },
    ]);
    await valid();
  });

  test.each(["required", { type: "tool", toolName: "weather" }] as const)("the choice %j", async (toolChoice) => {
    const { model, valid } = connect(script(weatherCall));
    const result = await generateText({ model, prompt, tools: { weather }, toolChoice });
    expect(result.toolCalls).toMatchObject([{ toolName: "weather", input: { city: "Łódź" } }]);
    await valid();
  });

  test("streamText: parts in order, arguments as they come, usage at the end", async () => {
    const { model, valid } = connect(
      script([["reasoning", "Hm."], ["text", "See:"], ...weatherCall, ...call(1, "weather", '{"city":"a"}')]),
    );
    const result = streamText({ model, prompt, tools: { weather } });
    const kinds: string[] = [];
    for await (const part of result.fullStream) if (kinds.at(-1) !== part.type) kinds.push(part.type);
    const thoughts = reasons ? ["reasoning-start", "reasoning-delta", "reasoning-end"] : [];
    const first = [...thoughts, "text-start", "text-delta"];
    expect(kinds.filter((kind) => first.includes(kind))).toEqual(first);
    expect(kinds.filter((kind) => kind === "tool-call").length).toBe(2);
    expect((await result.toolCalls).map(({ input }) => input)).toEqual([{ city: "Łódź" }, { city: "a" }]);
    expect(await result.finishReason).toBe("tool-calls");
    expect(await result.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
    await valid();
  });

  test("a failure in a stream is an error part", async () => {
    const { model, valid } = connect(script([["text", "a"]], "failed"));
    const kinds: string[] = [];
    for await (const part of streamText({ model, prompt, onError: () => {} }).fullStream) kinds.push(part.type);
    expect(kinds).toContain("error");
    await valid();
  });

  test("generateObject asks for a schema and reads it", async () => {
    const { model, bodies, valid } = connect(script([["text", '{"city":"Łódź"}']], "complete"));
    const { object } = await generateObject({ model, prompt, schema: jsonSchema<{ city: string }>(citySchema) });
    expect(object).toEqual({ city: "Łódź" });
    expect(bodies[0]?.["response_format"]).toMatchObject({ type: "json_schema", json_schema: { schema: citySchema } });
    await valid();
  });

  test("an error's message reaches the caller", async () => {
    const { model } = connect();
    const asked = generateText({ model, prompt, temperature: 9, maxRetries: 0 });
    await expect(asked).rejects.toThrow("Invalid value for 'temperature': expected a number from 0 to 2.");
  });
});

describe("ai's completions and embeddings", () => {
  test.each([
    ["openai-compatible", (to: Connection) => compatible(to).completionModel("any")],
    ["openai", (to: Connection) => openai(to).completion("any")],
  ] as const)("a completion by @ai-sdk/%s", async (_, modelOf) => {
    const answers = [script([["text", " upon"]]), script([["text", " upon"]])];
    const { baseURL, fetch, valid } = serve(answers);
    const model = modelOf({ baseURL, fetch });
    expect((await generateText({ model, prompt: "Once" })).text).toBe(" upon");
    let text = "";
    for await (const piece of streamText({ model, prompt: "Once" }).textStream) text += piece;
    expect(text).toBe(" upon");
    await valid();
  });

  test.each([
    ["openai-compatible", (to: Connection) => compatible(to).embeddingModel("any")],
    ["openai", (to: Connection) => openai(to).embedding("any")],
  ] as const)("embeddings by @ai-sdk/%s", async (_, modelOf) => {
    const { baseURL, fetch, valid } = serve([], embedding);
    const { embeddings } = await embedMany({ model: modelOf({ baseURL, fetch }), values: ["a", "b"] });
    expect(embeddings).toEqual([
      [0.5, -2],
      [0.5, -2],
    ]);
    await valid();
  });

  test("embeddings by @langchain/openai", async () => {
    const { baseURL, fetch, valid } = serve([], embedding);
    const model = new OpenAIEmbeddings({ model: "any", apiKey: "none", configuration: { baseURL, fetch } });
    expect(await model.embedQuery("a")).toEqual([0.5, -2]);
    expect(await model.embedDocuments(["a", "b"])).toHaveLength(2);
    await valid();
  });
});

const embedding: ChatOptions = {
  service: { embed: async (inputs) => ok({ vectors: inputs.map(() => Float32Array.of(0.5, -2)), promptTokens: 2 }) },
};

describe("@langchain/openai", () => {
  const connect = (...scripts: Script[]) => {
    const { baseURL, fetch, ...rest } = serve(scripts);
    const model = new ChatOpenAI({ model: "any", apiKey: "none", maxRetries: 0, configuration: { baseURL, fetch } });
    return { model, ...rest };
  };
  const weather = { type: "function", function: { name: "weather", parameters: citySchema } } as const;

  test("invoke and stream", async () => {
    const { model, valid } = connect(
      script([["text", "Grüße 🌍"]]),
      script([
        ["text", "Grüße "],
        ["text", "🌍"],
      ]),
    );
    const whole = await model.invoke(prompt);
    expect(whole.content).toBe("Grüße 🌍");
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 3, output_tokens: 2, total_tokens: 5 });
    let text = "";
    for await (const chunk of await model.stream(prompt)) text += chunk.text;
    expect(text).toBe("Grüße 🌍");
    await valid();
  });

  test.each(["required", "any", "weather", { type: "function", function: { name: "weather" } }] as const)(
    "bindTools with the choice %j",
    async (choice) => {
      const { model, bodies, valid } = connect(script(weatherCall));
      const message = await model.bindTools([weather], { tool_choice: choice }).invoke(prompt);
      expect(message.tool_calls).toMatchObject([{ name: "weather", args: { city: "Łódź" } }]);
      expect(bodies[0]?.["tool_choice"]).toBeDefined();
      await valid();
    },
  );

  test("a tool's result goes back", async () => {
    const { model, valid } = connect(script(weatherCall), script([["text", "Rain."]]));
    const bound = model.bindTools([weather]);
    const message = await bound.invoke(prompt);
    const [called] = message.tool_calls ?? [];
    const result = new ToolMessage({ content: "rain", tool_call_id: called?.id ?? "" });
    const answer = await bound.invoke([new HumanMessage(prompt), message, result]);
    expect(answer.content).toBe("Rain.");
    await valid();
  });

  test("streamed calls are put together", async () => {
    const { model, valid } = connect(script([["text", "See:"], ...weatherCall, ...call(1, "weather", '{"city":"a"}')]));
    const chunks = await Array.fromAsync(await model.bindTools([weather]).stream(prompt));
    const [first, ...others] = chunks;
    const message = others.reduce((sum, chunk) => sum?.concat(chunk), first);
    expect(message?.tool_calls?.map(({ args }) => args)).toEqual([{ city: "Łódź" }, { city: "a" }]);
    await valid();
  });

  test.each([
    ["functionCalling", weatherScript("extract"), "tools"],
    ["jsonSchema", script([["text", '{"city":"Łódź"}']], "complete"), "response_format"],
    ["jsonMode", script([["text", '{"city":"Łódź"}']], "complete"), "response_format"],
  ] as const)("withStructuredOutput by %s", async (method, answer, field) => {
    const { model, bodies, valid } = connect(answer);
    const structured = model.withStructuredOutput(citySchema, { name: "extract", method });
    expect(await structured.invoke(prompt)).toEqual({ city: "Łódź" });
    expect(bodies[0]?.[field]).toBeDefined();
    await valid();
  });
});

function weatherScript(name: string): Script {
  return script(call(0, name, '{"city":"Łódź"}'));
}
