import { expect, test } from "bun:test";
import type { Failure } from "../../generation/failure.ts";
import type { Message, Request } from "../../generation/request.ts";
import { requestWith } from "../../generation/request-fixture.ts";
import { fail, ok } from "../../generation/result.ts";
import { decodeService } from "../service-fixture.ts";
import { decodeResponse, type Past } from "./decode.ts";
import type { Item } from "./items.ts";

const kept: Item = {
  id: "msg_kept",
  type: "message",
  status: "completed",
  role: "user",
  content: [{ type: "input_text", text: "before" }],
};
const past: Past = {
  item: (id) => (id === kept.id ? kept : undefined),
  conversation: (id) =>
    id === "resp_kept" ? ok([kept]) : fail({ kind: "invalid", message: "not found", param: "previous_response_id" }),
};
const service = { ...decodeService, id: "resp_1" };

function decode(body: unknown, options: Partial<typeof service> = {}) {
  return decodeResponse({ value: body, text: JSON.stringify(body) }, past, { ...service, ...options });
}

function decoded(fields: object) {
  const result = decode({ input: "hello", ...fields });
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}

function failureOf(fields: object, options: Partial<typeof service> = {}): Failure {
  const result = decode({ input: "hello", ...fields }, options);
  if (result.ok) throw new Error("it was accepted");
  return result.failure;
}

const weather = { type: "function", name: "weather", parameters: { type: "object", properties: {} } };
const time = { type: "function", name: "time" };
const raw = { type: "custom", name: "patch" };

test("the smallest request has every default", () => {
  expect(decode({ input: "hello" })).toEqual({
    ok: true,
    value: {
      request: requestWith({ id: "resp_1", messages: [{ role: "user", content: "hello" }], truncate: false }),
      input: [
        {
          id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
          type: "message",
          status: "completed",
          role: "user",
          content: [{ type: "input_text", text: "hello" }],
        },
      ],
      ownItems: 1,
      echo: {
        background: false,
        instructions: null,
        max_output_tokens: null,
        max_tool_calls: null,
        metadata: {},
        parallel_tool_calls: true,
        previous_response_id: null,
        frequency_penalty: 0,
        presence_penalty: 0,
        prompt_cache_key: null,
        reasoning: { effort: null, summary: null },
        safety_identifier: null,
        service_tier: "default",
        store: true,
        temperature: 1,
        text: { format: { type: "text" } },
        tool_choice: "auto",
        tools: [],
        top_logprobs: 0,
        top_p: 1,
        truncation: "disabled",
      },
      stream: false,
      pingMs: undefined,
      reasoningAs: "content",
      sealReasoning: false,
      ignored: [],
    },
  });
});

test.each<[fields: object, request: Partial<Request>]>([
  [{ model: "m" }, { model: "m" }],
  [{ max_output_tokens: 5 }, { tokensMax: 5 }],
  [{ stop: "a" }, { stop: ["a"] }],
  [{ top_logprobs: 3, include: ["message.output_text.logprobs"] }, { logprobs: 3 }],
  [{ include: ["message.output_text.logprobs"] }, { logprobs: 0 }],
  [{ top_logprobs: 3 }, { logprobs: undefined }],
  [{ parallel_tool_calls: false }, { parallelCalls: false }],
  [{ text: { format: { type: "text" } } }, { answer: { kind: "text" } }],
  [{ text: { format: { type: "json_object" } } }, { answer: { kind: "json_object" } }],
  [
    { text: { format: { type: "json_schema", name: "n", schema: { b: 1, a: 1.0 } } } },
    { answer: { kind: "json_schema", schema: '{"b":1,"a":1}', param: "text.format.schema" } },
  ],
  [{ tenon_schema: true }, { answer: { kind: "json_schema", schema: "true", param: "tenon_schema" } }],
  [{ tenon_hold_calls: true }, { holdCalls: true }],
  [{ reasoning: { effort: "none" } }, { templateVariables: { reasoning_effort: "none", enable_thinking: false } }],
  [
    { tools: [], tool_choice: "none" },
    { tools: [], toolChoice: { mode: "none" } },
  ],
  [{ tools: [weather], tool_choice: "required" }, { toolChoice: { mode: "required" } }],
  [
    { tools: [weather, time], tool_choice: { type: "function", name: "time" } },
    { toolChoice: { mode: "named", name: "time" } },
  ],
  [{ tools: [raw], tool_choice: { type: "custom", name: "patch" } }, { toolChoice: { mode: "named", name: "patch" } }],
  [
    {
      tools: [weather, raw],
      tool_choice: {
        type: "allowed_tools",
        mode: "required",
        tools: [
          { type: "custom", name: "patch" },
          { type: "custom", name: "patch" },
        ],
      },
    },
    { toolChoice: { mode: "allowed", force: true, names: ["patch"] } },
  ],
  [
    { instructions: "Be kind.", input: [{ role: "developer", content: "Be brief." }] },
    {
      messages: [
        { role: "system", content: "Be kind." },
        { role: "system", content: "Be brief." },
      ],
    },
  ],
  [
    { previous_response_id: "resp_kept", input: "and" },
    {
      messages: [
        { role: "user", content: "before" },
        { role: "user", content: "and" },
      ],
    },
  ],
  [{ previous_response_id: "resp_kept", input: null }, { messages: [{ role: "user", content: "before" }] }],
])("%j", (fields, request) => {
  expect(decoded(fields).request).toMatchObject(request);
});

test("null means not given", () => {
  const names = [
    ...["model", "instructions", "previous_response_id", "max_output_tokens", "max_tool_calls", "temperature", "top_p"],
    ...[
      "top_logprobs",
      "include",
      "tools",
      "tool_choice",
      "parallel_tool_calls",
      "text",
      "reasoning",
      "store",
      "stream",
    ],
    ...["background", "truncation", "metadata", "user", "safety_identifier", "prompt_cache_key", "seed", "stop"],
    ...["conversation", "prompt", "context_management", "tenon_policy", "tenon_schema"],
  ];
  const { request, echo } = decoded(Object.fromEntries(names.map((name) => [name, null])));
  expect({ request, echo }).toEqual({ request: decoded({}).request, echo: decoded({}).echo });
});

test("a tool is the same as in a chat completion", () => {
  const tools = [
    { type: "function", name: "f", description: null, parameters: { b: {}, a: {} }, strict: null },
    { type: "function", strict: false, description: "d", name: "g" },
    { type: "custom", name: "t", description: "d", format: { type: "text" } },
    { type: "custom", name: "l", format: { type: "grammar", syntax: "lark", definition: "start: /a/" } },
  ];
  expect(decoded({ tools }).request.tools).toEqual([
    {
      name: "f",
      description: undefined,
      parameters: '{"b":{},"a":{}}',
      strict: false,
      param: "tools[0].parameters",
      source: '{"type":"function","function":{"name":"f","parameters":{"b":{},"a":{}}}}',
    },
    {
      name: "g",
      description: "d",
      parameters: undefined,
      strict: false,
      param: "tools[1].parameters",
      source: '{"type":"function","function":{"strict":false,"description":"d","name":"g"}}',
    },
    {
      name: "t",
      description: "d",
      parameters: undefined,
      strict: false,
      custom: { format: undefined },
      param: "tools[2].format",
      source: '{"type":"function","function":{"name":"t","description":"d"}}',
    },
    {
      name: "l",
      description: undefined,
      parameters: undefined,
      strict: false,
      custom: { format: { syntax: "lark", text: "start: /a/" } },
      param: "tools[3].format",
      source: '{"type":"function","function":{"name":"l"}}',
    },
  ]);
});

test("the echo shows what was asked, and fills in what the resource must have", () => {
  const asked = {
    instructions: "Be kind.",
    max_output_tokens: 7,
    metadata: { a: "b" },
    tool_choice: { type: "function", name: "weather" },
    tools: [weather, raw],
    text: { format: { type: "text" }, verbosity: "low" },
    reasoning: { effort: "low" },
    user: "u",
  };
  expect(decoded(asked).echo).toMatchObject({
    ...asked,
    reasoning: { effort: "low", summary: null },
    tools: [{ ...weather, description: null, strict: null }, raw],
  });
  const format = { type: "json_schema", schema: {} };
  expect(decoded({ text: { format } }).echo).toMatchObject({ text: { format: { ...format, name: "response" } } });
});

const call = { type: "function_call", call_id: "c1", name: "weather", arguments: '{"a":1}' };
const result = { type: "function_call_output", call_id: "c1", output: "rain" };
const thought = { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "hm" }] };

test.each<[what: string, input: readonly object[], messages: readonly Message[]]>([
  [
    "what was thought, said and called in one turn is one message",
    [
      { role: "user", content: "q" },
      thought,
      {
        role: "assistant",
        content: [
          { type: "output_text", text: "See" },
          { type: "refusal", refusal: "!" },
        ],
      },
      call,
      { ...call, call_id: "c2", arguments: "" },
      result,
      { ...result, call_id: "c2", output: [{ type: "input_text", text: "sun" }], name: "weather" },
    ],
    [
      { role: "user", content: "q" },
      {
        role: "assistant",
        content: "See!",
        reasoning: "hm",
        calls: [
          { id: "c1", name: "weather", arguments: '{"a":1}' },
          { id: "c2", name: "weather", arguments: "{}" },
        ],
      },
      { role: "tool", content: "rain", callId: "c1", name: undefined },
      { role: "tool", content: "sun", callId: "c2", name: "weather" },
    ],
  ],
  [
    "two messages of the assistant stay two",
    [
      { role: "assistant", content: "a", phase: "commentary" },
      { role: "assistant", content: "b", phase: "final_answer" },
      { role: "user", content: "q" },
    ],
    [
      { role: "assistant", content: "a", reasoning: undefined, calls: [] },
      { role: "assistant", content: "b", reasoning: undefined, calls: [] },
      { role: "user", content: "q" },
    ],
  ],
  [
    "thoughts between calls begin a turn",
    [call, { ...thought, summary: [{ type: "summary_text", text: "s" }], content: null }, { ...call, call_id: "c2" }],
    [
      {
        role: "assistant",
        content: undefined,
        reasoning: undefined,
        calls: [{ id: "c1", name: "weather", arguments: '{"a":1}' }],
      },
      {
        role: "assistant",
        content: undefined,
        reasoning: "s",
        calls: [{ id: "c2", name: "weather", arguments: '{"a":1}' }],
      },
    ],
  ],
  [
    "thoughts come back sealed, and those of others are no thoughts",
    [
      { type: "reasoning", summary: [], encrypted_content: "tenon:aG3Dvw==" },
      { role: "assistant", content: "a" },
      { type: "reasoning", summary: [], encrypted_content: "gAAAAAB" },
      { role: "assistant", content: "b" },
    ],
    [
      { role: "assistant", content: "a", reasoning: "hmÿ", calls: [] },
      { role: "assistant", content: "b", reasoning: undefined, calls: [] },
    ],
  ],
  [
    "custom calls carry raw text",
    [
      { type: "custom_tool_call", call_id: "c1", name: "patch", input: "*** {" },
      { type: "custom_tool_call_output", call_id: "c1", output: "ok" },
    ],
    [
      {
        role: "assistant",
        content: undefined,
        reasoning: undefined,
        calls: [{ id: "c1", name: "patch", arguments: "*** {", custom: true }],
      },
      { role: "tool", content: "ok", callId: "c1", name: undefined },
    ],
  ],
  [
    "several parts stay parts, one is its text",
    [
      {
        role: "user",
        content: [
          { type: "input_text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "c" }] },
      { type: "item_reference", id: "msg_kept" },
    ],
    [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      { role: "user", content: "c" },
      { role: "user", content: "before" },
    ],
  ],
])("%s", (_, input, messages) => {
  expect(decoded({ input }).request.messages).toEqual(messages);
});

const refused: readonly (readonly [fields: object, param: string, code?: string])[] = [
  [{ input: undefined }, "input", "missing_required_parameter"],
  [{ input: 1 }, "input", "invalid_value"],
  [{ input: "" }, "input"],
  [{ input: [] }, "input"],
  [{ input: [{ role: "user", content: [] }] }, "input"],
  [{ input: [1] }, "input[0]", "invalid_type"],
  [{ input: [{ role: "critic", content: "a" }] }, "input[0].role", "invalid_value"],
  [{ input: [{ role: "user" }] }, "input[0].content", "missing_required_parameter"],
  [{ input: [{ role: "user", content: [{ type: "input_image" }] }] }, "input[0].content[0].type", "unsupported_value"],
  [{ input: [{ role: "user", content: [{ type: "odd" }] }] }, "input[0].content[0].type", "invalid_value"],
  [
    { input: [{ role: "user", content: [{ type: "input_text" }] }] },
    "input[0].content[0].text",
    "missing_required_parameter",
  ],
  [{ input: [{ type: "web_search_call", id: "ws_1" }] }, "input[0].type", "unsupported_value"],
  [
    { input: [{ type: "function_call", name: "f", arguments: "{}" }] },
    "input[0].call_id",
    "missing_required_parameter",
  ],
  [{ input: [result] }, "input"],
  [{ input: [call, { ...result, output: [{ type: "input_file" }] }] }, "input[1].output[0].type", "unsupported_value"],
  [{ input: [{ type: "item_reference", id: "msg_none" }] }, "input[0].id", "item_not_found"],
  [{ input: [{}] }, "input[0].id", "missing_required_parameter"],
  [{ previous_response_id: "resp_none" }, "previous_response_id"],
  [{ max_output_tokens: 0 }, "max_output_tokens", "invalid_value"],
  [{ top_logprobs: 21 }, "top_logprobs", "invalid_value"],
  [{ temperature: 3 }, "temperature", "invalid_value"],
  [{ metadata: { a: 1 } }, "metadata.a", "invalid_type"],
  [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, key) => [key, ""])) }, "metadata", "invalid_value"],
  [{ include: ["everything"] }, "include[0]", "invalid_value"],
  [{ safety_identifier: "x".repeat(65) }, "safety_identifier", "invalid_value"],
  [{ reasoning: { effort: "some" } }, "reasoning.effort", "invalid_value"],
  [{ reasoning: { summary: "long" } }, "reasoning.summary", "invalid_value"],
  [{ text: { verbosity: "loud" } }, "text.verbosity", "invalid_value"],
  [{ truncation: "middle" }, "truncation", "invalid_value"],
  [{ conversation: "conv_1" }, "conversation", "unsupported_parameter"],
  [{ prompt: { id: "p" } }, "prompt", "unsupported_parameter"],
  [{ response_format: { type: "text" } }, "response_format", "unsupported_parameter"],
  [{ max_tokens: 1 }, "max_tokens", "unsupported_parameter"],
  [{ background: true, store: false }, "background", "invalid_value"],
  [{ stop: "\ud800" }, "stop", "invalid_value"],
  [{ text: { format: { type: "odd" } } }, "text.format.type", "invalid_value"],
  [{ text: { format: { type: "json_schema", name: "n" } } }, "text.format.schema", "missing_required_parameter"],
  [{ text: { format: { type: "json_object" } }, tenon_schema: {} }, "tenon_schema", "invalid_value"],
  [{ tools: [{ name: "f" }] }, "tools[0].type", "missing_required_parameter"],
  [{ tools: [{ type: "function", name: "" }] }, "tools[0].name", "invalid_value"],
  [{ tools: [weather, { type: "web_search" }] }, "tools[1].type", "unsupported_value"],
  [{ tools: [{ type: "namespace", name: "n", tools: [] }] }, "tools[0].type", "unsupported_value"],
  [{ tools: [{ ...raw, format: { type: "odd" } }] }, "tools[0].format.type", "invalid_value"],
  [{ tools: [{ ...raw, format: { type: "grammar", syntax: "gbnf", definition: "a" } }] }, "tools[0].format.syntax"],
  [{ tools: [weather], tool_choice: "always" }, "tool_choice"],
  [{ tools: [weather], tool_choice: { type: "function" } }, "tool_choice.name", "missing_required_parameter"],
  [{ tools: [weather], tool_choice: { type: "function", name: "time" } }, "tool_choice"],
  [{ tools: [weather], tool_choice: { type: "custom", name: "weather" } }, "tool_choice"],
  [{ tools: [weather], tool_choice: { type: "file_search" } }, "tool_choice"],
  [{ tools: [weather], tool_choice: { type: "allowed_tools", mode: "auto", tools: [] } }, "tool_choice.tools"],
  [
    {
      tools: [weather],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "x" }] },
    },
    "tool_choice",
  ],
];
test.each(refused.map(([fields, param, code]) => [fields, code === undefined ? { param } : { param, code }] as const))(
  "%j is refused",
  (fields, failure) => {
    expect(failureOf(fields)).toMatchObject({ kind: "invalid", ...failure });
  },
);

test("hosted tools are refused by their names", () => {
  expect(failureOf({ tools: [{ type: "web_search" }] })).toMatchObject({
    message:
      "Invalid value for 'tools[0].type': tools of type 'web_search' are not supported; only 'function' and 'custom' tools are, which the caller runs.",
  });
});

test("strict schemas outside of the strict subset are refused, as by the hosted API", () => {
  const schema = { type: "object", properties: { a: {} }, additionalProperties: false };
  const format = { type: "json_schema", name: "n", schema, strict: true };
  expect(failureOf({ text: { format } })).toMatchObject({ kind: "constraint", param: "text.format.schema" });
  expect(failureOf({ tools: [{ ...weather, parameters: schema, strict: true }] })).toMatchObject({
    kind: "constraint",
    param: "tools[0].parameters",
  });
});

test("how a response is told", () => {
  expect(decoded({ stream: true, truncation: "auto", sse_ping_interval: 2 })).toMatchObject({
    stream: true,
    request: { truncate: true },
    pingMs: 2000,
  });
  expect(decoded({ reasoning: { summary: "auto" } }).reasoningAs).toBe("summary");
  expect(decoded({ reasoning: { generate_summary: "concise" } }).reasoningAs).toBe("summary");
  expect(decoded({ reasoning: { summary: null, effort: "low" } }).reasoningAs).toBe("content");
  expect(decoded({ include: ["reasoning.encrypted_content"] }).sealReasoning).toBe(true);
});

test("unread fields are listed, or refused where the server is strict", () => {
  const fields = { what: 1, seed: 1, service_tier: "auto", stream_options: {}, user: "u" };
  expect(decoded(fields).ignored).toEqual(["what"]);
  expect(failureOf(fields, { strictFields: true })).toMatchObject({ param: "what", code: "unknown_parameter" });
});
