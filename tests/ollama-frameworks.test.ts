import { afterEach, expect, test } from "bun:test";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOllama, Ollama, OllamaEmbeddings } from "@langchain/ollama";
import type { Script } from "../src/engine/scripted.ts";
import { ok } from "../src/generation/result.ts";
import { type ChatOptions, call, script, startChat } from "./fixtures/chat.ts";
import { checkedFetch } from "./fixtures/checked-ollama.ts";

/** What most agents are built on, over the scripted engine. */

let end: (() => Promise<void>) | undefined;
afterEach(async () => {
  await end?.();
  end = undefined;
});

/** A server that answers with these scripts, one after another, and the bodies that it was sent. */
function serve(scripts: readonly Script[], options?: ChatOptions) {
  const left = [...scripts];
  const chat = startChat(() => left.shift() ?? script([]), options);
  const checked = checkedFetch();
  end = async () => {
    expect(await checked.faults()).toEqual([]);
    await chat.server.stop(0);
  };
  const bodies: Readonly<Record<string, unknown>>[] = [];
  const sent = async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    if (typeof init?.body === "string") bodies.push(JSON.parse(init.body));
    return checked.fetch(input, init);
  };
  const connection = {
    model: "any",
    baseUrl: chat.server.url.origin,
    fetch: Object.assign(sent, { preconnect: fetch.preconnect }),
  };
  return { connection, bodies, requests: chat.requests };
}

const citySchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
const weather = { name: "weather", description: "The weather of a city", schema: citySchema };
const prompt = "What is the weather in Łódź?";
const text = script([
  ["text", "Grüße "],
  ["text", "🌍"],
]);

test("invoke and stream, with the options that LangChain has", async () => {
  const { connection, requests, bodies } = serve([text, text]);
  const options = { temperature: 0.5, numPredict: 9, seed: 3, numCtx: 4096, numGpu: 1, useMmap: true, keepAlive: "5m" };
  const model = new ChatOllama({ ...connection, ...options });
  const answer = await model.invoke(prompt, { stop: ["X"] });
  expect(answer.text).toBe("Grüße 🌍");
  expect(answer.usage_metadata).toMatchObject({ input_tokens: 3, output_tokens: 2, total_tokens: 5 });
  expect(answer.response_metadata).toMatchObject({ model: "replay:latest", done_reason: "stop" });
  expect(requests[0]).toMatchObject({ temperature: 0.5, tokensMax: 9, seed: 3 });
  expect(bodies[0]).toMatchObject({ options: { stop: ["X"] } });
  let streamed = "";
  for await (const chunk of await model.stream(prompt)) streamed += chunk.text;
  expect(streamed).toBe("Grüße 🌍");
});

test("bindTools, and the results' way back", async () => {
  const calls = script([...call(0, "weather", '{"city":"Łódź"}'), ...call(1, "weather", '{"city":"Ełk"}')]);
  const { connection, bodies, requests } = serve([calls, script([["text", "Rain."]])]);
  const bound = new ChatOllama(connection).bindTools([weather]);
  const question = new HumanMessage(prompt);
  const called = await bound.invoke([question]);
  expect(called.tool_calls).toMatchObject([
    { name: "weather", args: { city: "Łódź" } },
    { name: "weather", args: { city: "Ełk" } },
  ]);
  const results = (called.tool_calls ?? []).map(
    ({ id = "", args }) => new ToolMessage({ content: `rain in ${args["city"]}`, tool_call_id: id }),
  );
  expect((await bound.invoke([question, called, ...results])).text).toBe("Rain.");
  expect(bodies[1]?.["messages"]).toMatchObject([{}, { tool_calls: [{}, {}] }, { role: "tool" }, { role: "tool" }]);
  const read: { role: string; callId?: string; calls?: { id: string }[] }[] = JSON.parse(
    Buffer.from(requests[1]?.tokens ?? []).toString(),
  );
  // Its results name no call: they are taken in the order of the calls.
  const ids = read.flatMap(({ calls = [] }) => calls.map(({ id }) => id));
  expect(read.flatMap(({ callId }) => callId ?? [])).toEqual(ids);
});

test.each(["functionCalling", "jsonSchema", "jsonMode"] as const)("withStructuredOutput by %s", async (method) => {
  const { connection, requests, bodies } = serve([
    method === "functionCalling"
      ? script(call(0, "place", '{"city":"Łódź"}'))
      : script([["text", '{"city":"Łódź"}']], "complete"),
  ]);
  const structured = new ChatOllama(connection).withStructuredOutput(citySchema, { name: "place", method });
  expect(await structured.invoke(prompt)).toEqual({ city: "Łódź" });
  expect(requests[0]?.grammar).toBeDefined();
  const asked = { functionCalling: undefined, jsonSchema: citySchema, jsonMode: "json" }[method];
  expect(bodies[0]?.["format"]).toEqual(asked);
});

test("a completion, and embeddings", async () => {
  const embed = async (inputs: readonly unknown[]) =>
    ok({ vectors: inputs.map(() => Float32Array.of(1, 0)), promptTokens: 2 });
  const { connection, bodies } = serve([text], { service: { embed } });
  expect(await new Ollama(connection).invoke("Once")).toBe("Grüße 🌍");
  expect(bodies[0]).toMatchObject({ prompt: "Once", stream: true });
  expect(await new OllamaEmbeddings(connection).embedDocuments(["a", "b"])).toEqual([
    [1, 0],
    [1, 0],
  ]);
});

test("a failure on the way is thrown", async () => {
  const { connection } = serve([script([["text", "a"]], "failed")]);
  const failing = new ChatOllama({ ...connection, maxRetries: 0 }).invoke(prompt);
  expect(await failing.catch((error: unknown) => String(error))).toContain("The engine failed");
});
