import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type OpenAI from "openai";
import { checkedClient } from "./fixtures/checked-openai.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

const path = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (path === undefined) console.log("skipped: the official client over the real engine needs the default model");
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
  const messages = [{ role: "user", content: "What is the weather in Paris?" } as const];
  const parameters = {
    type: "object",
    properties: { city: { type: "string", maxLength: 20 }, unit: { enum: ["celsius", "fahrenheit"] } },
    required: ["city", "unit"],
    additionalProperties: false,
  };
  const weather = { type: "function", function: { name: "get_weather", parameters, strict: true } } as const;
  const time = { type: "function", function: { name: "get_time" } } as const;
  const run = { type: "custom", custom: { name: "run", description: "Runs code." } } as const;
  const isWeather = { city: expect.any(String), unit: expect.stringMatching(/^(celsius|fahrenheit)$/) };

  const choices: readonly OpenAI.ChatCompletionToolChoiceOption[] = [
    "required",
    { type: "function", function: { name: "get_weather" } },
    {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "get_time" } }] },
    },
  ];
  test.each(choices)("forced calls, streamed and not: %j", async (tool_choice) => {
    const asked = { model, messages, tools: [weather, time], tool_choice, parallel_tool_calls: false, max_tokens: 80 };
    const whole = await client.chat.completions.create({ ...asked, temperature: 1.5 });
    const streamed = await client.chat.completions.stream({ ...asked, temperature: 1.5 }).finalChatCompletion();
    for (const { message, finish_reason } of [...whole.choices, ...streamed.choices]) {
      expect(finish_reason).toBe("tool_calls");
      expect(message.content).toBeNull();
      expect(message.tool_calls?.length).toBe(1);
      const [call] = message.tool_calls ?? [];
      if (call?.type !== "function") throw new Error("no call");
      const { name, arguments: given } = call.function;
      expect(JSON.parse(given)).toEqual(name === "get_time" ? {} : isWeather);
    }
  });

  test("a custom tool takes raw text", async () => {
    const tool_choice = { type: "custom", custom: { name: "run" } } as const;
    const asked = { model, messages, tools: [run], tool_choice, max_tokens: 40, seed: 1 };
    const whole = await client.chat.completions.create(asked);
    const [call] = whole.choices[0]?.message.tool_calls ?? [];
    if (call?.type !== "custom") throw new Error("no custom call");
    expect(call.custom.name).toBe("run");
    expect(call.custom.input).not.toContain("</tool_call>");
    expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
  });

  test("a format, and the same seed says the same, also as the first of several choices", async () => {
    const format = { type: "json_schema", json_schema: { name: "weather", schema: parameters, strict: true } } as const;
    const asked = { model, messages, response_format: format, max_tokens: 80, seed: 7 };
    const [once, ...more] = await Promise.all([
      client.chat.completions.create(asked),
      client.chat.completions.create(asked),
      client.chat.completions.create({ ...asked, n: 2 }),
      client.chat.completions.stream(asked).finalChatCompletion(),
    ]);
    const text = once?.choices[0]?.message.content ?? "";
    expect(JSON.parse(text)).toEqual(isWeather);
    for (const { choices } of more) expect(choices[0]?.message.content).toBe(text);
  });

  test("completions: the same text in every form of prompt, with log-probabilities", async () => {
    const prompt = "Once upon a time";
    const response = await fetch(new URL("/tokenize", tenon.server.url), {
      method: "POST",
      body: JSON.stringify({ content: prompt, add_special: true }),
    });
    const { tokens }: { tokens: number[] } = JSON.parse(await response.text());
    const asked = { model, max_tokens: 8, temperature: 0, logprobs: 2 };
    const [text, tokenised, many] = await Promise.all([
      client.completions.create({ ...asked, prompt }),
      client.completions.create({ ...asked, prompt: tokens }),
      client.completions.create({ ...asked, prompt: [prompt, prompt], n: 2 }),
    ]);
    const said = text.choices[0]?.text ?? "";
    expect(said).not.toBe("");
    for (const choice of [...tokenised.choices, ...many.choices]) expect(choice.text).toBe(said);
    expect(many.usage?.prompt_tokens).toBe(2 * (text.usage?.prompt_tokens ?? 0));
    const logprobs = text.choices[0]?.logprobs;
    expect(logprobs?.tokens?.join("")).toBe(said);
    for (const [index, logprob] of (logprobs?.token_logprobs ?? []).entries()) {
      // The greedy choice is the likeliest.
      const best = Math.max(...Object.values(logprobs?.top_logprobs?.[index] ?? {}));
      expect(best).toBeCloseTo(logprob, 5);
    }
  });

  test("a scored text has the log-probabilities that it was generated with", async () => {
    const prompt = "Once upon a time";
    const asked = { model, max_tokens: 40, temperature: 0, logprobs: 2 };
    const [said] = (await client.completions.create({ ...asked, prompt })).choices;
    const written = said?.logprobs?.token_logprobs ?? [];
    expect(written.length).toBeGreaterThan(8);
    const text = prompt + said?.text;
    const again = { ...asked, prompt: text, echo: true, max_tokens: 0 };
    const [whole, streamed, longer] = await Promise.all([
      client.completions.create(again),
      client.completions.create({ ...again, stream: true }).then((stream) => Array.fromAsync(stream)),
      client.completions.create({ ...again, max_tokens: 3, n: 2, best_of: 2 }),
    ]);
    const [choice] = whole.choices;
    expect([choice?.text, choice?.finish_reason]).toEqual([text, "length"]);
    const { tokens = [], token_logprobs = [], top_logprobs = [], text_offset = [] } = choice?.logprobs ?? {};
    expect(tokens.join("")).toBe(text);
    expect(text_offset).toEqual(tokens.map((_, index) => tokens.slice(0, index).join("").length));
    expect<unknown>([token_logprobs[0], top_logprobs[0]]).toEqual([null, null]);
    expect(whole.usage).toMatchObject({ prompt_tokens: tokens.length, completion_tokens: 0 });
    // Computed in larger chunks, which changes nothing.
    expect(token_logprobs.slice(-written.length)).toEqual(written);
    expect(top_logprobs.slice(-written.length)).toEqual(said?.logprobs?.top_logprobs ?? []);
    expect(streamed.flatMap(({ choices }) => choices[0]?.logprobs?.token_logprobs ?? [])).toEqual(token_logprobs);
    for (const { text: more, logprobs } of longer.choices) {
      expect(more).toStartWith(text);
      expect(logprobs?.token_logprobs?.slice(0, tokens.length)).toEqual(token_logprobs);
    }
  });

  test("the best of several is the one whose tokens are the likeliest", async () => {
    const asked = { model, prompt: "The weather in Paris is", max_tokens: 6, seed: 11, logprobs: 0, temperature: 1.5 };
    const all = await client.completions.create({ ...asked, n: 4 });
    const best = await client.completions.create({ ...asked, n: 2, best_of: 4 });
    const mean = ({ logprobs }: OpenAI.CompletionChoice) => {
      const list = logprobs?.token_logprobs ?? [];
      return list.reduce((sum, logprob) => sum + logprob, 0) / list.length;
    };
    // All are cut off, so that no token that ended one is left out.
    expect(all.choices.map(({ finish_reason }) => finish_reason)).toEqual(["length", "length", "length", "length"]);
    const ranked = [...all.choices].sort((a, b) => mean(b) - mean(a)).slice(0, 2);
    expect(best.choices.map(({ text }) => text)).toEqual(ranked.map(({ text }) => text));
    expect(best.usage).toMatchObject({ completion_tokens: 24 });
  });

  test("what the template makes of a chat, and the text of tokens", async () => {
    const ask = async (path: string, body: object) =>
      JSON.parse(
        await (await fetch(new URL(path, tenon.server.url), { method: "POST", body: JSON.stringify(body) })).text(),
      );
    const { prompt } = await ask("/apply-template", { messages });
    expect(prompt).toContain("<|im_start|>user\nWhat is the weather in Paris?<|im_end|>");
    const { tokens } = await ask("/tokenize", { content: prompt });
    expect(await ask("/detokenize", { tokens })).toEqual({ content: prompt });
    const { input_tokens } = await ask("/v1/chat/completions/input_tokens", { messages });
    const { usage } = await client.chat.completions.create({ model, messages, max_tokens: 1 });
    expect(input_tokens).toBe(usage?.prompt_tokens);
  });
});
