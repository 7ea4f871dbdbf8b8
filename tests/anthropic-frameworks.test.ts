import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { generateObject, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import type { Script } from "../src/engine/scripted.ts";
import { type Chat, call, script, startChat } from "./fixtures/chat.ts";

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

/** A server that answers with these scripts, one after another, and the bodies that it was sent. */
function serve(scripts: readonly Script[]) {
  const left = [...scripts];
  chat = startChat(() => left.shift() ?? script([]));
  const { origin } = chat.server.url;
  const bodies: Readonly<Record<string, unknown>>[] = [];
  const sent = async (input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]) => {
    if (typeof init?.body === "string") bodies.push(JSON.parse(init.body));
    return fetch(input, init);
  };
  return { origin, bodies, fetch: Object.assign(sent, { preconnect: fetch.preconnect }) };
}

describe("ai with @ai-sdk/anthropic", () => {
  const connect = (...scripts: Script[]) => {
    const { origin, bodies, fetch } = serve(scripts);
    const model = createAnthropic({ baseURL: `${origin}/v1`, apiKey: "none", fetch })("any");
    return { model, bodies };
  };
  const providerOptions = { anthropic: { thinking: { type: "adaptive" } } };
  const weather = tool({
    description: "The weather of a city",
    inputSchema: jsonSchema<{ city: string }>(citySchema),
    execute: async ({ city }) => `rain in ${city}`,
  });

  test("generateText: reasoning, text, usage and the end", async () => {
    const { model } = connect(
      script([
        ["reasoning", "Hm."],
        ["text", "Grüße 🌍"],
      ]),
    );
    const result = await generateText({ model, prompt, providerOptions });
    expect(result.text).toBe("Grüße 🌍");
    expect(result.reasoningText).toBe("Hm.");
    expect(result.finishReason).toBe("stop");
    expect(result.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
    expect(result.usage.inputTokenDetails.cacheReadTokens).toBe(1);
  });

  test("generateText: several steps with a tool", async () => {
    const { model, bodies } = connect(script(weatherCall), script([["text", "Rain."]]));
    const result = await generateText({ model, prompt, tools: { weather }, stopWhen: isStepCount(3) });
    expect(result.text).toBe("Rain.");
    expect(result.steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expect(bodies[1]?.["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "tool_use", name: "weather", input: { city: "Łódź" } }] },
      { role: "user", content: [{ type: "tool_result", content: "rain in Łódź" }] },
    ]);
  });

  test.each(["required", { type: "tool", toolName: "weather" }] as const)("the choice %j", async (toolChoice) => {
    const { model } = connect(script(weatherCall));
    const result = await generateText({ model, prompt, tools: { weather }, toolChoice });
    expect(result.toolCalls).toMatchObject([{ toolName: "weather", input: { city: "Łódź" } }]);
  });

  test("streamText: parts in order, arguments as they come", async () => {
    const { model } = connect(
      script([["reasoning", "Hm."], ["text", "See:"], ...weatherCall, ...call(1, "weather", '{"city":"a"}')]),
    );
    const result = streamText({ model, prompt, tools: { weather }, providerOptions });
    const kinds: string[] = [];
    for await (const part of result.fullStream) if (kinds.at(-1) !== part.type) kinds.push(part.type);
    expect(kinds.filter((kind) => !/^(start|custom|finish|tool-result)/.test(kind))).toEqual([
      "reasoning-start",
      "reasoning-delta",
      "reasoning-end",
      "text-start",
      "text-delta",
      "text-end",
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
    ]);
    expect((await result.toolCalls).map(({ input }) => input)).toEqual([{ city: "Łódź" }, { city: "a" }]);
    expect(await result.finishReason).toBe("tool-calls");
  });

  test("a failure in a stream is an error part", async () => {
    const { model } = connect(script([["text", "a"]], "failed"));
    const kinds: string[] = [];
    for await (const part of streamText({ model, prompt, onError: () => {} }).fullStream) kinds.push(part.type);
    expect(kinds).toContain("error");
  });

  test("generateObject: by the output's format, and by a tool", async () => {
    for (const structuredOutputMode of ["outputFormat", "jsonTool"] as const) {
      const { model, bodies } = connect(
        structuredOutputMode === "jsonTool"
          ? script(call(0, "json", '{"city":"Łódź"}'))
          : script([["text", '{"city":"Łódź"}']], "complete"),
      );
      const providerOptions = { anthropic: { structuredOutputMode } };
      const schema = jsonSchema<{ city: string }>(citySchema);
      const { object } = await generateObject({ model, prompt, schema, providerOptions });
      expect(object).toEqual({ city: "Łódź" });
      expect(Object.keys(bodies[0] ?? {})).toContain(
        structuredOutputMode === "jsonTool" ? "tool_choice" : "output_config",
      );
      await chat?.server.stop(0);
    }
  });
});

describe("@langchain/anthropic", () => {
  const connect = (...scripts: Script[]) => {
    const { origin, bodies, fetch } = serve(scripts);
    const options = { anthropicApiUrl: origin, apiKey: "none", clientOptions: { fetch } };
    return { model: new ChatAnthropic({ model: "any", maxTokens: 100, maxRetries: 0, ...options }), bodies };
  };
  const weather = { name: "weather", description: "The weather of a city", schema: citySchema };

  test("invoke and stream", async () => {
    const text = script([
      ["text", "Grüße "],
      ["text", "🌍"],
    ]);
    const { model } = connect(text, text);
    const answer = await model.invoke(prompt);
    expect(answer.text).toBe("Grüße 🌍");
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 3, output_tokens: 2 });
    let streamed = "";
    for await (const chunk of await model.stream(prompt)) streamed += chunk.text;
    expect(streamed).toBe("Grüße 🌍");
  });

  test.each(["auto", "any", "weather"])("bindTools with the choice %p, and the result's way back", async (choice) => {
    const { model, bodies } = connect(script(weatherCall), script([["text", "Rain."]]));
    const bound = model.bindTools([weather], { tool_choice: choice });
    const question = new HumanMessage(prompt);
    const called = await bound.invoke([question]);
    const [used] = called.tool_calls ?? [];
    expect(used).toMatchObject({ name: "weather", args: { city: "Łódź" } });
    expect(bodies[0]?.["tool_choice"]).toEqual(
      choice === "weather" ? { type: "tool", name: "weather" } : { type: choice },
    );
    const result = new ToolMessage({ content: "rain", tool_call_id: used?.id ?? "" });
    expect((await bound.invoke([question, called, result])).text).toBe("Rain.");
  });

  test.each(["functionCalling", "jsonSchema"] as const)("withStructuredOutput by %s", async (method) => {
    const { model } = connect(
      method === "functionCalling"
        ? script(call(0, "place", '{"city":"Łódź"}'))
        : script([["text", '{"city":"Łódź"}']], "complete"),
    );
    const structured = model.withStructuredOutput(citySchema, { name: "place", method });
    expect(await structured.invoke(prompt)).toEqual({ city: "Łódź" });
  });
});
