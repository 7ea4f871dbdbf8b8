import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import Ajv from "ajv";
import type OpenAI from "openai";
import { checkedClient } from "./fixtures/checked-openai.ts";
import { noiseServers } from "./fixtures/noise-servers.ts";
import { oneOf, seededRandom } from "./fixtures/random.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

const path = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
// Prompts of a real model on a busy machine.
setDefaultTimeout(120_000);

describe.skipIf(path === undefined)("the default model (skipped without its file)", () => {
  let tenon: Awaited<ReturnType<typeof startTenon>>;
  let client: OpenAI;
  let faults: () => Promise<readonly string[]>;
  beforeAll(async () => {
    tenon = await startTenon(["-m", path ?? ""]);
    ({ client, faults } = checkedClient(tenon.server.url));
  });
  afterAll(() => tenon?.stop(0));
  afterEach(async () => {
    expect(await faults()).toEqual([]);
  });

  const model = "any";
  const input = "What is the weather in Paris?";
  const parameters = {
    type: "object",
    properties: { city: { type: "string", maxLength: 20 }, unit: { enum: ["celsius", "fahrenheit"] } },
    required: ["city", "unit"],
    additionalProperties: false,
  };
  const weather = { type: "function", name: "get_weather", parameters, strict: true } as const;
  const time = { type: "function", name: "get_time", parameters: null, strict: false } as const;
  const tools: OpenAI.Responses.Tool[] = [weather, time];

  type Choice = NonNullable<OpenAI.Responses.ResponseCreateParams["tool_choice"]>;
  const choices: readonly (readonly [what: string, choice: Choice])[] = [
    ["required", "required"],
    ["named", { type: "function", name: "get_weather" }],
    ["allowed", { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "get_weather" }] }],
  ];
  test.each(choices)("forced calls, streamed and not: %s", async (_, tool_choice) => {
    const asked = {
      model,
      input,
      tools,
      tool_choice,
      parallel_tool_calls: false,
      max_output_tokens: 80,
      temperature: 1.5,
    };
    const whole = await client.responses.create(asked);
    const streamed = await client.responses.stream(asked).finalResponse();
    for (const { status, output } of [whole, streamed]) {
      expect(status).toBe("completed");
      expect(output.length).toBe(1);
      const [call] = output;
      if (call?.type !== "function_call") throw new Error("no call");
      const given: unknown = JSON.parse(call.arguments);
      if (call.name === "get_time") expect(given).toEqual({});
      else expect(given).toEqual({ city: expect.any(String), unit: expect.stringMatching(/^(celsius|fahrenheit)$/) });
    }
    // The echo shows what was asked, not what the model was shown.
    expect(whole.tools.length).toBe(tools.length);
    expect(whole.instructions).toBeNull();
    expect(whole.tool_choice).toEqual(JSON.parse(JSON.stringify(tool_choice)));
  });

  test("a format", async () => {
    const format = { type: "json_schema", name: "weather", schema: parameters, strict: true } as const;
    const asked = { model, input, text: { format }, max_output_tokens: 80, seed: 7 };
    const whole = await client.responses.create(asked);
    expect(JSON.parse(whole.output_text)).toEqual({ city: expect.any(String), unit: expect.any(String) });
    const streamed = await client.responses.stream(asked).finalResponse();
    expect(streamed.output_text).toBe(whole.output_text);
  });

  test("a seed gives the text of a chat completion, from as many tokens", async () => {
    const asked = { model, seed: 11, temperature: 0.8 };
    const chat = await client.chat.completions.create({
      ...asked,
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Say something." },
      ],
      max_completion_tokens: 6,
    });
    const conversation = { instructions: "Be kind.", input: "Say something." };
    const response = await client.responses.create({ ...asked, ...conversation, max_output_tokens: 6 });
    expect(response.output_text).toBe(chat.choices[0]?.message.content ?? "");
    expect(response.usage?.input_tokens).toBe(chat.usage?.prompt_tokens ?? 0);
    const { input_tokens } = await client.responses.inputTokens.count({ model, ...conversation });
    expect(input_tokens).toBe(response.usage?.input_tokens ?? 0);
    expect(response.status).toBe("incomplete");
    expect(response.incomplete_details).toEqual({ reason: "max_output_tokens" });
  });

  test("in the background, then continued", async () => {
    const made = await client.responses.create({ model, input: "Hello.", background: true, max_output_tokens: 8 });
    let found = made;
    while (found.status === "queued" || found.status === "in_progress") {
      const stream = client.responses.stream({ response_id: made.id });
      found = await stream.finalResponse();
    }
    expect(found.usage?.output_tokens).toBeLessThanOrEqual(8);
    const next = await client.responses.create({
      model,
      input: "And then?",
      previous_response_id: made.id,
      max_output_tokens: 4,
    });
    expect(next.usage?.input_tokens).toBeGreaterThan(found.usage?.input_tokens ?? 0);
  });
});

const vocabulary = modelPath("Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf");
const [server] = vocabulary === undefined ? [] : noiseServers(vocabulary);
describe.skipIf(server === undefined)("noise (skipped without the vocabulary's file or the shared data)", () => {
  const random = seededRandom();
  const parameters = {
    type: "object",
    properties: { city: { type: "string", maxLength: 12 }, days: { type: "integer", minimum: 0, maximum: 9 } },
    required: ["city"],
    additionalProperties: false,
  };
  const weather = { type: "function", name: "weather", parameters, strict: false } as const;
  const tools: OpenAI.Responses.Tool[] = [weather, { type: "custom", name: "note" }];

  test("whatever the model says, stream and answer are the same, and every call fits", async () => {
    const tenon = await startTenon(server?.flags ?? []);
    const { client, faults } = checkedClient(tenon.server.url);
    let calls = 0;
    const choices = ["required", "auto", { type: "custom", name: "note" }] as const;
    for (let each = 0; each < 8; each++) {
      const asked: OpenAI.Responses.ResponseCreateParamsNonStreaming & { seed: number } = {
        model: "any",
        input: "Say or call something.",
        tools,
        tool_choice: choices[each % choices.length] ?? "auto",
        parallel_tool_calls: random(2) === 0,
        max_output_tokens: 60 + random(60),
        temperature: oneOf(random, [0.7, 1.5, 2]),
        seed: random(2 ** 31),
      };
      const whole = await client.responses.create(asked);
      const streamed = await client.responses.stream({ ...asked, stream: true }).finalResponse();
      expect(streamed.output.map(contentOf)).toEqual(whole.output.map(contentOf));
      expect(streamed.status).toBe(whole.status);
      for (const item of whole.output) {
        if (item.type === "function_call") expect(isWeather(JSON.parse(item.arguments))).toBe(true);
        if (item.type !== "message") calls++;
      }
    }
    await tenon.stop(0);
    expect(await faults()).toEqual([]);
    // Five of the eight are forced.
    expect(calls).toBeGreaterThanOrEqual(5);
  });

  const isWeather = new Ajv().compile(parameters);

  /** What an item says, without the ids. */
  function contentOf(item: OpenAI.Responses.ResponseOutputItem): unknown {
    if (item.type === "message")
      return item.content.map((part) => (part.type === "output_text" ? part.text : part.type));
    if (item.type === "function_call") return [item.name, item.arguments];
    return item.type === "custom_tool_call" ? [item.name, item.input] : item.type;
  }
});
