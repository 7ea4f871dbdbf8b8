import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeMessages } from "../src/api/anthropic/decode.ts";
import type { JsonBody } from "../src/api/body.ts";
import { decodeChat as decodeOllama } from "../src/api/ollama/decode-chat.ts";
import { decodeGenerate } from "../src/api/ollama/decode-generate.ts";
import { decodeChat } from "../src/api/openai/decode.ts";
import { decodeResponse, type Past } from "../src/api/responses/decode.ts";
import { hermes } from "../src/dialects/hermes.ts";
import type { Request } from "../src/generation/request.ts";
import { ok } from "../src/generation/result.ts";
import { renderText } from "../src/prompt/render.ts";
import { type ChatTemplate, chatTemplate } from "../src/prompt/template.ts";
import { detail } from "./fixtures/chat.ts";
import { sharedData } from "./fixtures/shared.ts";

/** The same conversation is the same prompt, byte for byte, whichever shape it comes in and whichever template renders it. */

const schema = {
  type: "object",
  properties: { city: { type: "string" }, "1": { type: "number" } },
  required: ["city"],
};
const description = "The weather of a city";
const chatTools = [{ type: "function", function: { name: "weather", description, parameters: schema } }];
const messagesTools = [{ name: "weather", description, input_schema: schema }];
const input = { city: "Łódź", "1": 2.5 };
const chatCall = (id: string) => ({
  id,
  type: "function",
  function: { name: "weather", arguments: JSON.stringify(input) },
});
const responsesTools = [{ type: "function", name: "weather", description, parameters: schema }];
const responsesCall = (id: string) => ({
  type: "function_call",
  call_id: id,
  name: "weather",
  arguments: JSON.stringify(input),
});
const result = (id: string, output: unknown) => ({ type: "function_call_output", call_id: id, output });
const inputText = (text: string) => ({ type: "input_text", text });
const use = (id: string) => ({ type: "tool_use", id, name: "weather", input });
const text = (text: string) => ({ type: "text", text });

const ollamaCall = (id: string) => ({ id, function: { name: "weather", arguments: input } });
const ollamaResult = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content });

/** What is said in each shape. Ollama's contents are one text each, so that it cannot say what has several parts. */
const conversations: readonly {
  readonly name: string;
  readonly chat: object;
  readonly messages: object;
  readonly responses: object;
  readonly ollama?: object;
  readonly generate?: object;
}[] = [
  {
    name: "a question",
    chat: { messages: [{ role: "user", content: "Grüße 🌍" }] },
    messages: { messages: [{ role: "user", content: "Grüße 🌍" }] },
    responses: { input: "Grüße 🌍" },
    ollama: { messages: [{ role: "user", content: "Grüße 🌍" }] },
    generate: { prompt: "Grüße 🌍" },
  },
  {
    name: "a question as one block of text",
    chat: { messages: [{ role: "user", content: "Hi" }] },
    messages: { messages: [{ role: "user", content: [text("Hi")] }] },
    responses: { input: [{ role: "user", content: [inputText("Hi")] }] },
    ollama: { messages: [{ role: "user", content: "Hi" }] },
  },
  {
    name: "rules and turns",
    chat: {
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello!" },
        {
          role: "user",
          content: [
            { type: "text", text: "And" },
            { type: "text", text: "now?" },
          ],
        },
      ],
    },
    messages: {
      system: [text("x-anthropic-billing-header: cc_version=2; cch=0a1b2;"), text("Be kind.")],
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [text("Hello!")] },
        { role: "user", content: [text("And"), text("now?")] },
      ],
    },
    responses: {
      instructions: "Be kind.",
      input: [
        { role: "user", content: "Hi" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello!" }] },
        { role: "user", content: [inputText("And"), inputText("now?")] },
      ],
    },
  },
  {
    name: "rules on the way",
    chat: {
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello!" },
        { role: "developer", content: "Be brief." },
        { role: "user", content: "And?" },
      ],
    },
    messages: {
      system: "Be kind.",
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello!" },
        { role: "system", content: [text("Be brief.")] },
        { role: "user", content: "And?" },
      ],
    },
    responses: {
      instructions: "Be kind.",
      input: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello!" },
        { role: "developer", content: "Be brief." },
        { role: "user", content: "And?" },
      ],
    },
    ollama: {
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello!" },
        { role: "system", content: "Be brief." },
        { role: "user", content: "And?" },
      ],
    },
  },
  {
    name: "tools, required",
    chat: { tools: chatTools, tool_choice: "required", messages: [{ role: "user", content: "Hi" }] },
    messages: { tools: messagesTools, tool_choice: { type: "any" }, messages: [{ role: "user", content: "Hi" }] },
    responses: { tools: responsesTools, tool_choice: "required", input: "Hi" },
    ollama: { tools: chatTools, tool_choice: "required", messages: [{ role: "user", content: "Hi" }] },
  },
  {
    name: "one tool, named",
    chat: {
      tools: [...chatTools, { type: "function", function: { name: "time" } }],
      tool_choice: { type: "function", function: { name: "weather" } },
      messages: [{ role: "user", content: "Hi" }],
    },
    messages: {
      tools: [...messagesTools, { name: "time" }],
      tool_choice: { type: "tool", name: "weather" },
      messages: [{ role: "user", content: "Hi" }],
    },
    responses: {
      tools: [...responsesTools, { type: "function", name: "time" }],
      tool_choice: { type: "function", name: "weather" },
      input: "Hi",
    },
    ollama: {
      tools: [...chatTools, { type: "function", function: { name: "time" } }],
      tool_choice: { type: "function", function: { name: "weather" } },
      messages: [{ role: "user", content: "Hi" }],
    },
  },
  {
    name: "a call, its result and a thought",
    chat: {
      tools: chatTools,
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: null, reasoning_content: "Hm.", tool_calls: [chatCall("call_000000")] },
        { role: "tool", tool_call_id: "call_000000", content: "rain" },
      ],
    },
    messages: {
      tools: messagesTools,
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [{ type: "thinking", thinking: "Hm.", signature: "" }, use("call_000000")] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_000000", content: "rain" }] },
      ],
    },
    responses: {
      tools: responsesTools,
      input: [
        { role: "user", content: "Hi" },
        { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
        responsesCall("call_000000"),
        result("call_000000", "rain"),
      ],
    },
    ollama: {
      tools: chatTools,
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", thinking: "Hm.", tool_calls: [ollamaCall("call_000000")] },
        ollamaResult("call_000000", "rain"),
      ],
    },
  },
  {
    name: "two calls after a text, and a question",
    chat: {
      tools: chatTools,
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Let me see.", tool_calls: [chatCall("a00000000"), chatCall("b00000000")] },
        { role: "tool", tool_call_id: "a00000000", content: "rain" },
        { role: "tool", tool_call_id: "b00000000", content: [{ type: "text", text: "sun" }] },
        { role: "user", content: "Well?" },
      ],
    },
    messages: {
      tools: messagesTools,
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [text("Let me see."), use("a00000000"), use("b00000000")] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a00000000", content: "rain" },
            { type: "tool_result", tool_use_id: "b00000000", content: [text("sun")] },
            text("Well?"),
          ],
        },
      ],
    },
    responses: {
      tools: responsesTools,
      input: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Let me see." },
        responsesCall("a00000000"),
        responsesCall("b00000000"),
        result("a00000000", "rain"),
        result("b00000000", [inputText("sun")]),
        { role: "user", content: "Well?" },
      ],
    },
    ollama: {
      tools: chatTools,
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: "Let me see.",
          tool_calls: [ollamaCall("a00000000"), ollamaCall("b00000000")],
        },
        ollamaResult("a00000000", "rain"),
        ollamaResult("b00000000", "sun"),
        { role: "user", content: "Well?" },
      ],
    },
  },
  {
    name: "switches of thinking",
    chat: {
      messages: [{ role: "user", content: "Hi" }],
      reasoning_effort: "high",
      chat_template_kwargs: { enable_thinking: true },
    },
    messages: {
      messages: [{ role: "user", content: "Hi" }],
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    },
    responses: {
      input: "Hi",
      reasoning: { effort: "high" },
      chat_template_kwargs: { enable_thinking: true },
    },
    ollama: { messages: [{ role: "user", content: "Hi" }], think: "high" },
    generate: { prompt: "Hi", think: "high" },
  },
];

const service = {
  holdCalls: false,
  lexicon: undefined,
  strictFields: true,
  tokenize: () => new Uint32Array(),
  describe: () => ({ ...detail, capabilities: ["completion", "tools", "thinking"] as const }),
  chosen: () => ok({ id: detail.id, asked: detail.id, derivation: undefined }),
};

/** Of the responses that are kept. */
const nothing: Past = { item: () => undefined, conversation: () => ({ ok: true, value: [] }) };

function bodyOf(value: object): JsonBody {
  const written = JSON.stringify(value);
  return { text: written, value: JSON.parse(written) };
}

function decoded<T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: unknown },
) {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}

const folder = sharedData("chat-templates");
const files = folder === undefined ? [] : readdirSync(folder).filter((file) => file.endsWith(".jinja"));
if (folder === undefined) console.log("skipped: the templates of real models need the shared data");
const templates: readonly (readonly [name: string, source: string | undefined])[] = [
  ["the built-in template", undefined],
  ...files.map((file) => [file, readFileSync(join(folder ?? "", file), "utf8")] as const),
];

describe.each(templates)("%s", (_, source) => {
  const template = decoded(chatTemplate(source, { bos: "<s>", eos: "</s>" }));
  const now = new Date(0);
  test.each(conversations)("$name", ({ chat, messages, responses, ollama, generate }) => {
    const asked = decoded(decodeChat(bodyOf(chat), { id: "r", service })).request;
    const told = decoded(decodeMessages(bodyOf({ max_tokens: 2000, ...messages }), { id: "r", ...service })).request;
    const items = decoded(decodeResponse(bodyOf(responses), nothing, { id: "r", ...service })).request;
    const prompt = rendered(template, asked, now);
    expect(rendered(template, told, now)).toBe(prompt);
    expect(rendered(template, items, now)).toBe(prompt);
    const lines = [
      ollama && decoded(decodeOllama(bodyOf(ollama), "r", service)).request,
      generate && decoded(decodeGenerate(bodyOf(generate), "r", service)).request,
    ];
    for (const request of lines) if (request !== undefined) expect(rendered(template, request, now)).toBe(prompt);
  });
});

/** The text, or in which words the template refuses. */
function rendered(template: ChatTemplate, request: Request, now: Date): string {
  const prompt = renderText({ template, dialect: hermes }, request, now);
  if (prompt.ok) return prompt.value;
  return prompt.failure.kind === "invalid" ? `refused: ${prompt.failure.message}` : prompt.failure.kind;
}
