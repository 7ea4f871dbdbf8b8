import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateObject, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import type { Script } from "../src/engine/scripted.ts";
import { type Chat, call, script } from "./fixtures/chat.ts";
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

function serve(scripts: readonly Script[]) {
  const { chat: started, ...served } = serveScripts(scripts);
  chat = started;
  return served;
}

describe("ai with @ai-sdk/openai", () => {
  const connect = (...scripts: Script[]) => {
    const { baseURL, fetch, ...rest } = serve(scripts);
    return { model: createOpenAI({ baseURL, fetch, apiKey: "none" }).responses("any"), ...rest };
  };
  const weather = tool({
    description: "The weather of a city",
    inputSchema: jsonSchema<{ city: string }>(citySchema),
    execute: async ({ city }) => `rain in ${city}`,
  });
  const summarised = { openai: { reasoningSummary: "auto", forceReasoning: true } } as const;

  test("generateText: reasoning, text, usage and the end", async () => {
    const { model, valid } = connect(
      script([
        ["reasoning", "Hm."],
        ["text", "Grüße 🌍"],
      ]),
    );
    const result = await generateText({ model, prompt, providerOptions: summarised });
    expect(result.text).toBe("Grüße 🌍");
    expect(result.reasoningText).toBe("Hm.");
    expect(result.finishReason).toBe("stop");
    expect(result.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
    expect(result.usage.inputTokenDetails.cacheReadTokens).toBe(1);
    await valid();
  });

  test.each([true, false])("generateText: several steps with a tool, store %p", async (store) => {
    const { model, bodies, valid } = connect(
      script([["reasoning", "Hm."], ["text", "Let me see."], ...weatherCall]),
      script(call(0, "weather", '{"city":"a"}')),
      script([["text", "Rain."]]),
    );
    const result = await generateText({
      model,
      prompt,
      tools: { weather },
      stopWhen: isStepCount(4),
      providerOptions: { openai: { ...summarised.openai, store, include: ["reasoning.encrypted_content"] } },
    });
    expect(result.text).toBe("Rain.");
    expect(result.steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "tool-calls", "stop"]);
    // What is kept is referred to by its id, but for calls; what is not comes back whole.
    const input = bodies[2]?.["input"];
    const kinds = Array.isArray(input) ? input.map(({ type, role }) => type ?? role) : [];
    const [thought, said] = store ? ["item_reference", "item_reference"] : ["reasoning", "assistant"];
    const called = ["function_call", "function_call_output"];
    expect(kinds).toEqual(["user", thought, said, ...called, ...called]);
    const asked = JSON.parse(Buffer.from(chatRequests().at(-1) ?? []).toString());
    expect(asked).toMatchObject([
      { role: "user", content: prompt },
      {
        role: "assistant",
        content: "Let me see.",
        reasoning: "Hm.",
        calls: [{ name: "weather", arguments: '{"city":"Łódź"}' }],
      },
      { role: "tool", content: "rain in Łódź" },
      { role: "assistant", calls: [{ name: "weather", arguments: '{"city":"a"}' }] },
      { role: "tool", content: "rain in a" },
    ]);
    await valid();
  });

  test.each(["required", { type: "tool", toolName: "weather" }] as const)("the choice %j", async (toolChoice) => {
    const { model, valid } = connect(script(weatherCall));
    const result = await generateText({ model, prompt, tools: { weather }, toolChoice });
    expect(result.toolCalls).toMatchObject([{ toolName: "weather", input: { city: "Łódź" } }]);
    expect(result.finishReason).toBe("tool-calls");
    await valid();
  });

  test("streamText: parts in order, arguments as they come, usage at the end", async () => {
    const { model, valid } = connect(
      script([["reasoning", "Hm."], ["text", "See:"], ...weatherCall, ...call(1, "weather", '{"city":"a"}')]),
    );
    const result = streamText({ model, prompt, tools: { weather }, providerOptions: summarised });
    const kinds: string[] = [];
    for await (const part of result.fullStream) if (kinds.at(-1) !== part.type) kinds.push(part.type);
    const first = ["reasoning-start", "reasoning-delta", "reasoning-end", "text-start", "text-delta", "text-end"];
    expect(kinds.filter((kind) => first.includes(kind))).toEqual(first);
    expect(kinds.filter((kind) => kind === "tool-call").length).toBe(2);
    expect((await result.toolCalls).map(({ input }) => input)).toEqual([{ city: "Łódź" }, { city: "a" }]);
    expect(await result.finishReason).toBe("tool-calls");
    expect(await result.usage).toMatchObject({ inputTokens: 3, outputTokens: 2 });
    await valid();
  });

  test("a limit is the finish reason length", async () => {
    const { model, valid } = connect(script([["text", "Grü"]], "length"), script([["text", "Grü"]], "length"));
    expect((await generateText({ model, prompt, maxOutputTokens: 16 })).finishReason).toBe("length");
    expect(await streamText({ model, prompt, maxOutputTokens: 16 }).finishReason).toBe("length");
    await valid();
  });

  test("a failure in a stream ends it with an error", async () => {
    const { model, valid } = connect(script([["text", "a"]], "failed"));
    const result = streamText({ model, prompt, onError: () => {} });
    await result.consumeStream();
    expect(await result.finishReason).toBe("error");
    await valid();
  });

  test("generateObject asks for a schema and reads it", async () => {
    const { model, bodies, valid } = connect(script([["text", '{"city":"Łódź"}']], "complete"));
    const { object } = await generateObject({ model, prompt, schema: jsonSchema<{ city: string }>(citySchema) });
    expect(object).toEqual({ city: "Łódź" });
    expect(bodies[0]?.["text"]).toMatchObject({ format: { type: "json_schema", schema: citySchema } });
    await valid();
  });

  test("an error's message reaches the caller", async () => {
    const { model } = connect();
    const asked = generateText({ model, prompt, temperature: 9, maxRetries: 0 });
    await expect(asked).rejects.toThrow("Invalid value for 'temperature': expected a number from 0 to 2.");
  });
});

describe("@langchain/openai over Responses", () => {
  const connect = (...scripts: Script[]) => {
    const { baseURL, fetch, ...rest } = serve(scripts);
    const options = { model: "any", apiKey: "none", maxRetries: 0, useResponsesApi: true };
    return { model: new ChatOpenAI({ ...options, configuration: { baseURL, fetch } }), ...rest };
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
    expect(whole.text).toBe("Grüße 🌍");
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 3, output_tokens: 2, total_tokens: 5 });
    let text = "";
    for await (const chunk of await model.stream(prompt)) text += chunk.text;
    expect(text).toBe("Grüße 🌍");
    await valid();
  });

  test.each(["required", "weather"])("bindTools with the choice %j, and the result goes back", async (choice) => {
    const { model, valid } = connect(script(weatherCall), script([["text", "Rain."]]));
    const message = await model.bindTools([weather], { tool_choice: choice }).invoke(prompt);
    const [called] = message.tool_calls ?? [];
    expect(called).toMatchObject({ name: "weather", args: { city: "Łódź" } });
    const result = new ToolMessage({ content: "rain", tool_call_id: called?.id ?? "" });
    const answer = await model.bindTools([weather]).invoke([new HumanMessage(prompt), message, result]);
    expect(answer.text).toBe("Rain.");
    await valid();
  });

  test("withStructuredOutput", async () => {
    const { model, valid } = connect(script([["text", '{"city":"Łódź"}']], "complete"));
    const structured = model.withStructuredOutput(citySchema, { name: "extract", method: "jsonSchema" });
    expect(await structured.invoke(prompt)).toEqual({ city: "Łódź" });
    await valid();
  });
});

/** The prompts that the engine got, which are the messages' text here. */
function chatRequests(): readonly Uint32Array[] {
  return chat?.requests.map(({ tokens }) => tokens) ?? [];
}
