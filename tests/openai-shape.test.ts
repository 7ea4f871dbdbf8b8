import { afterEach, expect, test } from "bun:test";
import type { Script } from "../src/engine/scripted.ts";
import { ok } from "../src/generation/result.ts";
import { type Chat, type ChatOptions, call, detail, script, startChat, stuck } from "./fixtures/chat.ts";
import { answerFaults } from "./fixtures/checked-openai.ts";

let chat: Chat | undefined;
afterEach(async () => {
  await chat?.server.stop(0);
  chat = undefined;
});

/** A server whose every request gets the next script; `ask` holds every answer against OpenAI's document. */
function serve(next: Parameters<typeof startChat>[0], options?: ChatOptions) {
  const started = startChat(next, options);
  chat = started;
  const ask = async (path: string, body?: object) => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(new URL(path, started.server.url), init);
    const text = await response.text();
    expect(answerFaults(path, response.status, text)).toEqual([]);
    const { status, headers } = response;
    return { status, headers, text, body: text.startsWith("data:") ? undefined : JSON.parse(text) };
  };
  return { ...started, ask };
}

const messages = [{ role: "user", content: "hello" }];
const weather = { type: "function", function: { name: "weather" } };
const hello = script([["text", "Hi."]]);

test("each choice is an answer of its own, with the next seed; the prompt counts once", async () => {
  const { ask, requests } = serve(() => script([["text", `answer ${requests.length}`]]));
  const { body } = await ask("/v1/chat/completions", { messages, n: 3, seed: 7 });
  expect(body).toMatchObject({
    choices: [1, 2, 3].map((number, index) => ({ index, message: { content: `answer ${number}` } })),
    usage: { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 },
  });
  expect(requests.map(({ seed }) => seed)).toEqual([7, 8, 9]);
});

test("where one choice is not admitted, none is", async () => {
  const { ask, engine, requests } = serve(() => (requests.length < 2 ? stuck([]) : { kind: "overloaded" }));
  expect(await ask("/v1/chat/completions", { messages, n: 2 })).toMatchObject({ status: 503 });
  expect(engine.stats().running).toBe(0);
});

test("a client that leaves cancels every choice", async () => {
  const { post, engine, requests, logged } = serve(() => stuck([["text", "a"]]));
  const gone = new AbortController();
  const pending = post({ messages, n: 2, stream: true }, { signal: gone.signal }).then((answer) => answer.text());
  while (requests.length < 2) await turn();
  gone.abort();
  await expect(pending).rejects.toThrow();
  while (logged.filter(([, event]) => event === "answer_failed").length < 2) await turn();
  expect(engine.stats().running).toBe(0);
});

test("fields that nothing reads are an error with --strict-fields", async () => {
  const { ask } = serve(() => hello, { service: { strictFields: true } });
  expect(await ask("/v1/chat/completions", { messages, user: "u", top_a: 1 })).toMatchObject({
    status: 400,
    body: { error: { message: "Unrecognized request argument supplied: top_a", param: "top_a" } },
  });
  expect((await ask("/v1/chat/completions", { messages, user: "u" })).status).toBe(200);
});

test("the word list of the server, and none", async () => {
  const { ask } = serve(() => hello, { service: { lexicon: ["Hi"] } });
  const lexicon = await ask("/v1/chat/completions", { messages, tenon_lexicon: true });
  expect(lexicon.headers.get("x-tenon-constraint")).toBe("enforced");
});

test("two constraints are refused by both names", async () => {
  const { ask } = serve(() => hello);
  const two = { messages, json_schema: { type: "object" }, grammar: 'root ::= "x"' };
  expect(await ask("/v1/chat/completions", two)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("Cannot use both json_schema and grammar"), param: "grammar" } },
  });
  const forced = { messages, tools: [weather], tool_choice: "required", response_format: { type: "json_object" } };
  expect(await ask("/v1/chat/completions", forced)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("two constraints cannot be composed"), param: "tool_choice" } },
  });
});

test("histories that other models left behind are never a server's error", async () => {
  const { ask } = serve(() => hello);
  const calls = (text: string) => [{ id: "foreign:1", type: "function", function: { name: "f", arguments: text } }];
  const histories = [
    { role: "assistant", content: null },
    { role: "assistant", content: "" },
    { role: "assistant" },
    { role: "assistant", content: null, tool_calls: [] },
    { role: "assistant", content: "x", tool_calls: null },
    ...["{", "", "null", "[1]", '{"a":'].map((text) => ({ role: "assistant", tool_calls: calls(text) })),
  ];
  for (const history of histories) {
    const { status } = await ask("/v1/chat/completions", { messages: [...messages, history, ...messages] });
    expect([history, status]).toEqual([history, 200]);
  }
  const orphan = { role: "tool", tool_call_id: "toolu_unknown", content: "x" };
  expect(await ask("/v1/chat/completions", { messages: [...messages, orphan] })).toMatchObject({
    status: 400,
    body: { error: { param: "messages[1].tool_call_id" } },
  });
});

test("a completion for every form of prompt", async () => {
  const { ask, requests } = serve(() => hello);
  const prompts = [
    ["Once", ["Once"]],
    ["", [""]],
    [
      ["a", "b"],
      ["a", "b"],
    ],
    [[72, 105], ["Hi"]],
    [
      [[72], [105]],
      ["H", "i"],
    ],
    [
      ["a", [72, 105]],
      ["a", "Hi"],
    ],
  ] as const;
  for (const [prompt, texts] of prompts) {
    const before = requests.length;
    const { body } = await ask("/v1/completions", { prompt, echo: true });
    expect(body).toMatchObject({
      object: "text_completion",
      choices: texts.map((text, index) => ({ text: `${text}Hi.`, index, finish_reason: "stop", logprobs: null })),
      usage: { prompt_tokens: 3 * texts.length },
    });
    const read = requests.slice(before).map(({ tokens }) => Buffer.from(tokens).toString());
    expect(read).toEqual(texts.map((text) => text));
  }
  expect(requests.at(-1)?.tokensMax).toBe(16);
});

test("several choices of several prompts stand in the order of the prompts", async () => {
  const { ask, requests } = serve(() => script([["text", ` ${requests.length}`]]));
  const { body } = await ask("/v1/completions", { prompt: ["a", "b"], n: 2, best_of: 2, echo: true });
  expect(body.choices.map(({ text }: { text: string }) => text)).toEqual(["a 1", "a 2", "b 3", "b 4"]);
  expect(body.usage).toMatchObject({ prompt_tokens: 6, completion_tokens: 8 });
});

test.each([
  [{}, "prompt", "Missing required parameter: 'prompt'."],
  [{ prompt: " \n" }, "prompt", "The prompt must not be whitespace alone."],
  [
    { prompt: [] },
    "prompt",
    "Invalid value for 'prompt': expected a string, an array of tokens, or an array of up to 64 of either.",
  ],
  [{ prompt: [999] }, "prompt", "Invalid value for 'prompt': the model has no token 999."],
  [{ prompt: "a", n: 3, best_of: 2 }, "best_of", "Invalid value for 'best_of': it must be at least 'n', which is 3."],
  [
    { prompt: "a", best_of: 2, stream: true },
    "best_of",
    "'best_of' cannot be streamed: the best answers are known when all have ended.",
  ],
  [
    { prompt: Array(33).fill("a"), n: 8 },
    "n",
    "Invalid value for 'n': 8 answers to each of 33 prompts are more than 256 together.",
  ],
  [
    { prompt: Array(13).fill("a"), best_of: 20 },
    "best_of",
    "Invalid value for 'best_of': 20 answers to each of 13 prompts are more than 256 together.",
  ],
  [{ prompt: "a", best_of: 21 }, "best_of", "Invalid value for 'best_of': expected an integer from 1 to 20."],
  [
    { prompt: "a", max_tokens: 0 },
    "max_tokens",
    "Invalid value for 'max_tokens': 0 is for 'echo', which gives the prompt back.",
  ],
  [
    { prompt: "a", max_tokens: -1 },
    "max_tokens",
    "Invalid value for 'max_tokens': expected an integer from 0 to 4294967295.",
  ],
  [{ prompt: "a", logprobs: 6 }, "logprobs", "Invalid value for 'logprobs': expected an integer from 0 to 5."],
  [
    { prompt: "a", suffix: "b" },
    "suffix",
    "'suffix' is not supported: the model has no tokens for filling in the middle that Tenon knows of (prefix, suffix, middle).",
  ],
])("the completion %j is refused", async (fields, param, message) => {
  const { ask } = serve(() => hello);
  expect(await ask("/v1/completions", fields)).toMatchObject({ status: 400, body: { error: { param, message } } });
});

test("a prompt beyond the context is refused by its own name", async () => {
  const { ask } = serve(() => ({ kind: "context", needed: 5000, contextMax: 4096 }));
  expect(await ask("/v1/completions", { prompt: "a" })).toMatchObject({
    status: 400,
    body: { error: { param: "prompt", code: "context_length_exceeded", n_ctx: 4096 } },
  });
});

test("tools mean nothing to a completion, and it says so", async () => {
  const { ask } = serve(() => hello);
  const { status, headers } = await ask("/v1/completions", { prompt: "a", tools: [weather], tool_choice: "required" });
  expect([status, headers.get("x-tenon-ignored")]).toEqual([200, "tools, tool_choice"]);
});

test("a streamed completion says what the whole one says", async () => {
  const { ask } = serve(() =>
    script([
      ["text", "Grüße "],
      ["text", "🌍"],
    ]),
  );
  const asked = { prompt: ["a", "b"], n: 2, echo: true };
  const { body } = await ask("/v1/completions", asked);
  const { text } = await ask("/v1/completions", { ...asked, stream: true, stream_options: { include_usage: true } });
  const texts: string[] = [];
  let usage: unknown;
  for (const line of text.split("\n\n").filter((line) => line.startsWith("data: {"))) {
    const chunk = JSON.parse(line.slice("data: ".length));
    for (const { index, text } of chunk.choices) texts[index] = (texts[index] ?? "") + text;
    usage = chunk.usage ?? usage;
  }
  expect(texts).toEqual(body.choices.map((choice: { text: string }) => choice.text));
  expect(usage).toEqual(body.usage);
});

test("a scored prompt stands in front of its answer, whole and streamed", async () => {
  const { requests, ask } = serve(() => scored);
  const asked = { prompt: "Grü", echo: true, logprobs: 1, stop: "!" };
  const { body } = await ask("/v1/completions", asked);
  expect(requests[0]).toMatchObject({ scorePrompt: true, logprobs: 1 });
  const expected = {
    tokens: ["G", "r", "\ufffd", "\ufffd", "n"],
    token_logprobs: [null, -1, -2, -0.5, -0.25],
    top_logprobs: [null, { r: -1, s: -0.5 }, { "\ufffd": -2 }, { "\ufffd": -0.5 }, { n: -0.25 }],
    text_offset: [0, 1, 2, 2, 3],
  };
  expect(body.choices).toEqual([{ text: "Grün", index: 0, logprobs: expected, finish_reason: "stop" }]);

  const { text } = await ask("/v1/completions", { ...asked, stream: true });
  const chunks = text.split("\n\n").filter((line) => line.startsWith("data: {"));
  const pieces = chunks.map((line) => JSON.parse(line.slice("data: ".length)).choices[0]);
  expect(pieces.map((piece) => piece.text)).toEqual(["Grü", "n", ""]);
  const logged = pieces.flatMap(({ logprobs }) => logprobs ?? []);
  for (const [name, list] of Object.entries(expected)) expect(logged.flatMap((piece) => piece[name])).toEqual(list);
});

test("what tokens have in front of the text is none of it", async () => {
  const tokens = [60, 115, 62, 32, 97];
  const said = tokens.slice(1).map((token) => ({ kind: "prompt_token", token, logprob: -1, top: [] }) as const);
  const { ask } = serve(() => ({ events: said, finish: "length" }), {
    // As if it had put a BOS, `<s>`, and a space there.
    service: { detokenize: () => Buffer.from("a") },
  });
  const { body } = await ask("/v1/completions", { prompt: tokens, echo: true, logprobs: 0, max_tokens: 0 });
  const [{ text, logprobs, finish_reason }] = body.choices;
  expect([text, logprobs.text_offset, finish_reason]).toEqual(["a", [0, 0, 0, 0, 0], "length"]);
});

test("of more candidates the likeliest of each prompt come back, and all are counted", async () => {
  const sums = [-4, -1, -3, -9, -8, -1];
  let next = 0;
  const { requests, ask } = serve(() => {
    const index = next++;
    // The fourth is the longest: by token it is the likeliest of its prompt.
    const timings = { promptTokens: 3, completionTokens: index === 3 ? 90 : 2 };
    return { ...script([["text", `${index}`]]), timings, logprobSum: sums[index] ?? 0 };
  });
  const asked = { prompt: ["a", "b"], n: 2, best_of: 3, echo: true, seed: 5 };
  const { body } = await ask("/v1/completions", asked);
  expect(body.choices.map(({ text, index, logprobs }: Choice) => [text, index, logprobs])).toEqual([
    ["a1", 0, null],
    ["a2", 1, null],
    ["b3", 2, null],
    ["b5", 3, null],
  ]);
  expect(body.usage).toMatchObject({ prompt_tokens: 6, completion_tokens: 5 * 2 + 90 });
  expect(requests.map(({ logprobs, seed }) => [logprobs, seed])).toEqual([5, 6, 7, 5, 6, 7].map((seed) => [0, seed]));
});

type Choice = { readonly text: string; readonly index: number; readonly logprobs: unknown };

/** `Grü`, then `n`, in bytes that are tokens. */
const scored: Script = {
  ...script([["text", "n"]]),
  events: [
    { kind: "prompt_token", token: 114, logprob: -1, top: [{ token: 115, logprob: -0.5 }] },
    { kind: "prompt_token", token: 0xc3, logprob: -2, top: [] },
    { kind: "prompt_token", token: 0xbc, logprob: -0.5, top: [] },
    { kind: "token", token: 110, logprob: -0.25, top: [] },
    ...script([["text", "n"]]).events,
  ],
};

test("embeddings are refused by a model that has none", async () => {
  const { ask } = serve(() => hello);
  expect(await ask("/v1/embeddings", { input: "a" })).toMatchObject({
    status: 400,
    body: { error: { message: "The model 'replay' is no embedding model: it has no embeddings of texts to give." } },
  });
});

test("embeddings as numbers, as base64, and cut to fewer dimensions", async () => {
  const inputs: unknown[] = [];
  const { ask } = serve(() => hello, {
    service: {
      describe: () => ({ ...detail, embeddingLength: 3, capabilities: ["embedding"] }),
      async embed(given) {
        inputs.push(...given.map((each) => (typeof each === "string" ? each : [...each])));
        return ok({ vectors: given.map(() => Float32Array.of(3, 4, 12)), promptTokens: given.length });
      },
    },
  });
  const vectors = async (fields: object) => {
    const { body } = await ask("/v1/embeddings", { input: ["a", "b"], ...fields });
    return body.data.map(({ embedding }: { embedding: unknown }) => embedding);
  };
  expect(await vectors({})).toEqual([
    [3, 4, 12],
    [3, 4, 12],
  ]);
  const cut = await vectors({ dimensions: 2 });
  expect(cut[0].map((element: number) => element.toFixed(5))).toEqual(["0.60000", "0.80000"]);
  expect(await ask("/v1/embeddings", { input: "a", dimensions: 4 })).toMatchObject({
    status: 400,
    body: { error: { param: "dimensions", message: "Invalid value for 'dimensions': the model's embeddings have 3." } },
  });
  await ask("/v1/embeddings", { input: [1, 2] });
  await ask("/v1/embeddings", { input: [[1], [2, 3]] });
  expect(inputs.slice(-3)).toEqual([[1, 2], [1], [2, 3]]);
  const base64 = await fetch(new URL("/v1/embeddings", chat?.server.url), {
    method: "POST",
    body: JSON.stringify({ input: "a", encoding_format: "base64" }),
  });
  const { data, usage } = JSON.parse(await base64.text());
  const bytes = Buffer.from(data[0].embedding, "base64");
  expect([0, 4, 8].map((at) => bytes.readFloatLE(at))).toEqual([3, 4, 12]);
  expect(usage).toEqual({ prompt_tokens: 1, total_tokens: 1 });
});

test("llama-server's ways to look inside", async () => {
  const { ask } = serve(() => hello);
  expect((await ask("/tokenize", { content: "Grüß" })).body).toEqual({ tokens: [71, 114, 195, 188, 195, 159] });
  expect((await ask("/tokenize", { content: "Gü", with_pieces: true })).body).toEqual({
    tokens: [
      { id: 71, piece: "G" },
      { id: 195, piece: [195] },
      { id: 188, piece: [188] },
    ],
  });
  expect((await ask("/detokenize", { tokens: [71, 195, 188] })).body).toEqual({ content: "Gü" });
  expect(await ask("/detokenize", { tokens: [71, 256] })).toMatchObject({
    status: 400,
    body: { error: { param: "tokens[1]", message: "Invalid value for 'tokens[1]': the model has no token 256." } },
  });
  expect((await ask("/apply-template", { messages })).body).toEqual({ prompt: JSON.stringify(messages) });
  const tokens = JSON.stringify(messages).length;
  expect((await ask("/v1/chat/completions/input_tokens", { messages })).body).toEqual({
    object: "response.input_tokens",
    input_tokens: tokens,
  });
  expect((await ask("/props")).body).toMatchObject({
    default_generation_settings: { n_ctx: 4096, params: { temperature: 1, seed: -1 } },
    total_slots: 4,
    chat_template: "{{ messages }}",
    modalities: { vision: false, audio: false },
  });
  expect((await ask("/slots")).body).toEqual(
    [0, 1, 2, 3].map((id) => ({ id, n_ctx: 4096, speculative: false, is_processing: false })),
  );
});

test("legacy functions are called as a function_call", async () => {
  const { ask } = serve(() => script(call(0, "weather", '{"city":"a"}')));
  const { body } = await ask("/v1/chat/completions", { messages, functions: [{ name: "weather" }] });
  expect(body.choices[0]).toMatchObject({
    message: { content: null, function_call: { name: "weather", arguments: '{"city":"a"}' } },
    finish_reason: "function_call",
  });
});

/** One turn of the event loop: the engine's counts change between two. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
