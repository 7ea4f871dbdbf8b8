import { expect, test } from "bun:test";
import type { Request } from "../../generation/request.ts";
import { requestWith } from "../../generation/request-fixture.ts";
import { decodeService } from "../service-fixture.ts";
import { decode, failureOf, hello, requestOf, time, weather } from "./decode-fixture.ts";

test("the smallest request has every default", () => {
  expect(decode({ messages: hello })).toEqual({
    ok: true,
    value: {
      choices: 1,
      stream: false,
      includeUsage: false,
      pingMs: undefined,
      legacy: false,
      ignored: [],
      request: requestWith({ id: "id", messages: [{ role: "user", content: "hello" }] }),
    },
  });
});

test("null means not given, for every field that may be absent", () => {
  const names = [
    ...["model", "max_completion_tokens", "max_tokens", "temperature", "top_p", "top_k", "min_p", "repeat_penalty"],
    ...["frequency_penalty", "presence_penalty", "seed", "stop", "n", "logit_bias", "logprobs", "top_logprobs"],
    ...["stream", "stream_options", "response_format", "tools", "tool_choice", "parallel_tool_calls", "functions"],
    ...["reasoning_effort", "chat_template_kwargs", "tenon_policy", "tenon_hold_calls", "modalities"],
  ];
  expect(requestOf(Object.fromEntries(names.map((name) => [name, null])))).toEqual(requestOf({}));
});

test.each([
  [{ model: "m" }, { model: "m" }],
  [{ max_tokens: 5 }, { tokensMax: 5 }],
  [{ n_predict: 5 }, { tokensMax: 5 }],
  [{ max_tokens: 5, max_completion_tokens: 7 }, { tokensMax: 7 }],
  [{ stop: "a" }, { stop: ["a"] }],
  [{ stop: ["a", "b"] }, { stop: ["a", "b"] }],
  [{ logprobs: true }, { logprobs: 0 }],
  [{ logprobs: true, top_logprobs: 20 }, { logprobs: 20 }],
  [{ logprobs: false }, { logprobs: undefined }],
  [{ parallel_tool_calls: false }, { parallelCalls: false }],
  [{ tenon_hold_calls: true }, { holdCalls: true }],
  [{ response_format: { type: "text" } }, { answer: { kind: "text" } }],
  [{ response_format: { type: "json_object" } }, { answer: { kind: "json_object" } }],
  [{ add_generation_prompt: false }, { templateVariables: { add_generation_prompt: false } }],
  [{ thinking_budget_tokens: 0 }, { thoughtTokensMax: 0, templateVariables: { enable_thinking: false } }],
  [{ reasoning_budget_tokens: -1 }, { thoughtTokensMax: undefined, templateVariables: {} }],
  [{ thinking_token_budget: 5 }, { thoughtTokensMax: 5 }],
  [{ thinking_budget: 6 }, { thoughtTokensMax: 6 }],
  [{ reasoning_effort: "none" }, { templateVariables: { reasoning_effort: "none", enable_thinking: false } }],
  [
    { chat_template_kwargs: { a: [1] }, enable_thinking: true },
    { templateVariables: { a: [1], enable_thinking: true } },
  ],
  [
    {
      tenon_policy: {
        additional: "spec",
        order: "schema",
        whitespace: "compact",
        spelling: "spec",
        format: "annotate",
      },
    },
    { policy: { additional: "spec", order: "schema", whitespace: "compact", spelling: "spec", format: "annotate" } },
  ],
  [
    { tenon_policy: { whitespace: 3 } },
    { policy: { additional: "closed", order: undefined, whitespace: 3, spelling: "canonical", format: "assert" } },
  ],
  [{ tools: [] }, { tools: [], toolChoice: { mode: "auto" } }],
  [{ tool_choice: "none" }, { toolChoice: { mode: "none" } }],
  [{ tools: [weather], tool_choice: "required" }, { toolChoice: { mode: "required" } }],
  [
    { tools: [weather, time], tool_choice: { type: "function", function: { name: "time" } } },
    { toolChoice: { mode: "named", name: "time" } },
  ],
  [
    { tools: [weather, time], tool_choice: allowed("auto", "time", "time") },
    { toolChoice: { mode: "allowed", force: false, names: ["time"] } },
  ],
  [
    { tools: [weather, time], tool_choice: allowed("required", "time", "weather") },
    { toolChoice: { mode: "allowed", force: true, names: ["time", "weather"] } },
  ],
  [{ messages: [{ role: "developer", content: "be brief" }] }, { messages: [{ role: "system", content: "be brief" }] }],
  [
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "" },
          ],
        },
      ],
    },
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "" },
          ],
        },
      ],
    },
  ],
] satisfies readonly (readonly [Record<string, unknown>, Partial<Request>])[])("%j is decoded", (body, expected) => {
  expect(requestOf(body)).toMatchObject(expected);
});

test("sampling fields keep their values", () => {
  const given = {
    temperature: 0,
    top_k: 40,
    top_p: 0.9,
    min_p: 0.05,
    repetition_penalty: 1.1,
    frequency_penalty: -2,
    presence_penalty: 2,
    seed: 9_007_199_254_740_991,
    logit_bias: { "7": -100, "50256": 1.5 },
  };
  expect(requestOf(given).sampling).toEqual({
    temperature: 0,
    topK: 40,
    topP: 0.9,
    minP: 0.05,
    repeatPenalty: 1.1,
    frequencyPenalty: -2,
    presencePenalty: 2,
    seed: 9_007_199_254_740_991,
    logitBias: [
      { token: 7, bias: -100 },
      { token: 50256, bias: 1.5 },
    ],
  });
  expect(requestOf({ seed: -1, top_k: -1 }).sampling).toMatchObject({ seed: "fresh", topK: 0 });
});

test("tools and schemas are kept as text: order of keys, digits of numbers, the last of equal keys", () => {
  const schema = '{ "2":1, "1": 1.50, "maximum": 12345678901234567890 }';
  const tool = `{"function": {"parameters":${schema},"name":"f", "strict": false},"type":"function" }`;
  const text = `{"tools": 3, "messages":[{"role":"user","content":"]}"}], "tools" : [ ${tool} ], "response_format": {"type":"json_schema","json_schema":{"schema": ${schema}, "name":"n"}}}`;
  const decoded = decode(undefined, text);
  expect(decoded).toMatchObject({
    ok: true,
    value: {
      request: {
        tools: [{ name: "f", parameters: schema, strict: false, param: "tools[0].function.parameters", source: tool }],
        answer: { kind: "json_schema", schema, param: "response_format.json_schema.schema" },
      },
    },
  });
  expect(requestOf({ tools: [time] }).tools[0]).toMatchObject({ parameters: undefined, strict: false });
  expect(requestOf({ response_format: { type: "json_object", schema: { type: "object" } } }).answer).toEqual({
    kind: "json_schema",
    schema: '{"type":"object"}',
    param: "response_format.schema",
  });
});

test("a conversation with calls, results and reasoning", () => {
  const call = (id: string, args: string) => ({ id, type: "function", function: { name: "f", arguments: args } });
  const messages = [
    { role: "system", content: "s" },
    { role: "user", content: "u", name: "someone" },
    { role: "assistant", content: null, reasoning: "r", tool_calls: [call("a", '{"x": 1.0}'), call("b", "")] },
    { role: "tool", tool_call_id: "b", content: "2" },
    { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "1" }], name: "f" },
    { role: "assistant", content: [], tool_calls: [call("c", "{}")] },
    { role: "tool", tool_call_id: "c", content: "" },
    { role: "assistant", content: "done", reasoning_content: "q", tool_calls: [] },
    { role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
  ];
  expect(requestOf({ messages }).messages).toEqual([
    { role: "system", content: "s" },
    { role: "user", content: "u" },
    {
      role: "assistant",
      content: undefined,
      reasoning: "r",
      calls: [
        { id: "a", name: "f", arguments: '{"x": 1.0}' },
        { id: "b", name: "f", arguments: "{}" },
      ],
    },
    { role: "tool", content: "2", callId: "b", name: undefined },
    { role: "tool", content: [{ type: "text", text: "1" }], callId: "a", name: "f" },
    { role: "assistant", content: undefined, reasoning: undefined, calls: [{ id: "c", name: "f", arguments: "{}" }] },
    { role: "tool", content: "", callId: "c", name: undefined },
    { role: "assistant", content: "done", reasoning: "q", calls: [] },
    { role: "assistant", content: [{ type: "text", text: "no" }], reasoning: undefined, calls: [] },
  ]);
});

const emptyInput = "Request must include at least one non-empty message content or media input.";
const named = (name: unknown, type = "function") => ({ type, function: { name } });

test.each([
  // tool_choice: exact texts.
  [
    { tool_choice: "sometimes", tools: [weather] },
    "tool_choice",
    "Invalid value for 'tool_choice': expected 'none', 'auto', 'required' or an object.",
  ],
  [
    { tool_choice: named("weather", "tool"), tools: [weather] },
    "tool_choice",
    "Invalid value for 'tool_choice.type': expected 'function', 'custom' or 'allowed_tools'.",
  ],
  [
    { tool_choice: { function: { name: "weather" } }, tools: [weather] },
    "tool_choice.type",
    "Missing required parameter: 'tool_choice.type'.",
  ],
  [
    { tool_choice: named(""), tools: [weather] },
    "tool_choice.function.name",
    "Invalid value for 'tool_choice.function.name': expected a non-empty string.",
  ],
  [
    { tool_choice: { type: "function" }, tools: [weather] },
    "tool_choice.function",
    "Missing required parameter: 'tool_choice.function'.",
  ],
  [
    { tool_choice: 3, tools: [weather] },
    "tool_choice",
    "Invalid type for 'tool_choice': expected an object, but got a number instead.",
  ],
  [
    { tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [] } }, tools: [weather] },
    "tool_choice.allowed_tools.tools",
    "Invalid value for 'tool_choice.allowed_tools.tools': expected an array of at least 1 item.",
  ],
  [
    { tool_choice: allowed("none", "weather"), tools: [weather] },
    "tool_choice.allowed_tools.mode",
    "Invalid value for 'tool_choice.allowed_tools.mode': expected 'auto' or 'required'.",
  ],
  // tools
  [
    { tools: [{ type: "function", function: { name: "" } }] },
    "tools[0].function.name",
    "Invalid value for 'tools[0].function.name': expected a name of 1 to 64 letters, digits, '_' and '-'.",
  ],
  [
    { tools: [time, { type: "web_search" }] },
    "tools[1].type",
    "Invalid value for 'tools[1].type': expected 'function' or 'custom'.",
  ],
  [
    { tools: [{ type: "function", function: { name: "f", parameters: [] } }] },
    "tools[0].function.parameters",
    "Invalid type for 'tools[0].function.parameters': expected an object, but got an array instead.",
  ],
  [
    { tools: {} },
    "tools",
    "Invalid type for 'tools': expected an array of 0 to 1024 items, but got an object instead.",
  ],
  // messages
  [{ messages: [] }, "messages", emptyInput],
  [{ messages: [{ role: "user", content: " \n" }] }, "messages", emptyInput],
  [{ messages: [{ role: "user", content: [{ type: "text", text: "" }] }] }, "messages", emptyInput],
  [{ messages: undefined }, "messages", "Missing required parameter: 'messages'."],
  [{ messages: "hi" }, "messages", "Invalid type for 'messages': expected an array, but got a string instead."],
  [
    { messages: [{ role: "narrator", content: "x" }] },
    "messages[0].role",
    "Invalid value for 'messages[0].role': expected 'system', 'developer', 'user', 'assistant', 'tool' or 'function'.",
  ],
  [
    { messages: [...hello, { role: "user", content: null }] },
    "messages[1].content",
    "Invalid value for 'messages[1].content': expected a string or an array of content parts.",
  ],
  [
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] },
    "messages[0].content[0].type",
    "image input is not supported",
  ],
  [
    { messages: [{ role: "user", content: [{ type: "smell" }] }] },
    "messages[0].content[0].type",
    "unsupported content[].type",
  ],
  [
    { messages: [...hello, { role: "tool", content: "x" }] },
    "messages[1].tool_call_id",
    "Missing required parameter: 'messages[1].tool_call_id'.",
  ],
  [
    { messages: [...hello, { role: "tool", content: "x", tool_call_id: "a" }] },
    "messages[1].tool_call_id",
    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
  ],
  // numbers, and other fields
  [{ temperature: 2.1 }, "temperature", "Invalid value for 'temperature': expected a number from 0 to 2."],
  [
    { temperature: "1" },
    "temperature",
    "Invalid type for 'temperature': expected a number from 0 to 2, but got a string instead.",
  ],
  [{ top_p: -0.1 }, "top_p", "Invalid value for 'top_p': expected a number from 0 to 1."],
  [{ min_p: 2 }, "min_p", "Invalid value for 'min_p': expected a number from 0 to 1."],
  [
    { repeat_penalty: 0 },
    "repeat_penalty",
    "Invalid value for 'repeat_penalty': expected a number greater than 0, up to 10.",
  ],
  [
    { frequency_penalty: 3 },
    "frequency_penalty",
    "Invalid value for 'frequency_penalty': expected a number from -2 to 2.",
  ],
  [
    { presence_penalty: -3 },
    "presence_penalty",
    "Invalid value for 'presence_penalty': expected a number from -2 to 2.",
  ],
  [{ max_tokens: 0 }, "max_tokens", "Invalid value for 'max_tokens': expected an integer from 1 to 4294967295."],
  [
    { max_completion_tokens: -1 },
    "max_completion_tokens",
    "Invalid value for 'max_completion_tokens': expected an integer from 1 to 4294967295.",
  ],
  [{ top_logprobs: 21, logprobs: true }, "top_logprobs", "top_logprobs must be between 0 and 20"],
  [{ top_logprobs: 2 }, "top_logprobs", "top_logprobs requires logprobs to be set to true"],
  [{ n: 9 }, "n", "Invalid value for 'n': expected an integer from 1 to 8."],
  [{ functions: [], tools: [weather] }, "functions", "Cannot use both 'functions' and 'tools': use 'tools'."],
  [
    { function_call: "required" },
    "function_call",
    "Invalid value for 'function_call': expected 'none', 'auto' or an object.",
  ],
  [
    { reasoning_effort: "huge" },
    "reasoning_effort",
    "Invalid value for 'reasoning_effort': expected 'none', 'minimal', 'low', 'medium', 'high', 'xhigh' or 'max'.",
  ],
  [{ modalities: ["text", "audio"] }, "modalities", "audio output is not supported"],
  [
    { logit_bias: { "7": 101 } },
    "logit_bias",
    "Invalid value for 'logit_bias': expected an object of at most 1024 token ids and biases from -100 to 100, or an array of pairs of a token id or a text and a bias or false.",
  ],
  [
    { logit_bias: { x: 1 } },
    "logit_bias",
    "Invalid value for 'logit_bias': expected an object of at most 1024 token ids and biases from -100 to 100, or an array of pairs of a token id or a text and a bias or false.",
  ],
  [
    { stop: [""] },
    "stop",
    "Invalid value for 'stop': expected a string or an array of up to 16 strings, each of 1 to 256 characters.",
  ],
  [{ stop: "\ud83d" }, "stop", "a stop string contains half a surrogate pair"],
  [{ stream: "yes" }, "stream", "Invalid type for 'stream': expected a boolean, but got a string instead."],
  [
    { response_format: { type: "xml" } },
    "response_format.type",
    "Invalid value for 'response_format.type': expected 'text', 'json_object', 'json_schema', 'grammar' or 'structural_tag'.",
  ],
  [
    { response_format: { type: "json_schema", json_schema: { name: "n" } } },
    "response_format.json_schema.schema",
    "Missing required parameter: 'response_format.json_schema.schema'.",
  ],
] satisfies readonly (readonly [Record<string, unknown>, string, string])[])(
  "%j is refused",
  (body, param, message) => {
    expect(failureOf(body)).toMatchObject({ kind: "invalid", param, message });
  },
);

test("a body that is no object has no field to name", () => {
  const decoded = decode([]);
  expect(decoded).toEqual({
    ok: false,
    failure: {
      kind: "invalid",
      message: "Invalid type for the request body: expected an object, but got an array instead.",
      code: "invalid_type",
    },
  });
});

test("arguments of the history are taken as they came", () => {
  for (const text of ["{", "[]", "3"]) {
    const messages = [{ role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: text } }] }];
    expect(requestOf({ messages }).messages).toMatchObject([{ calls: [{ id: "a", name: "f", arguments: text }] }]);
  }
});

test("the forms of before there were tools: functions, calls without an id, results by name", () => {
  const messages = [
    { role: "user", content: "u" },
    { role: "assistant", content: null, function_call: { name: "f", arguments: '{"x": 1}' } },
    { role: "function", name: "f", content: "2" },
  ];
  const functions = '[{"name": "f", "description": "d", "parameters": {"type": "object", "b": 1.50}}]';
  const body = `{"messages": ${JSON.stringify(messages)}, "functions": ${functions}, "function_call": {"name": "f"}}`;
  expect(decode(undefined, body)).toMatchObject({
    value: {
      legacy: true,
      request: {
        messages: [
          { role: "user", content: "u" },
          { role: "assistant", content: undefined, calls: [{ id: "call_legacy_0", name: "f", arguments: '{"x": 1}' }] },
          { role: "tool", content: "2", callId: "call_legacy_0", name: "f" },
        ],
        tools: [
          {
            name: "f",
            description: "d",
            parameters: '{"type": "object", "b": 1.50}',
            param: "functions[0].parameters",
          },
        ],
        toolChoice: { mode: "named", name: "f" },
        parallelCalls: false,
      },
    },
  });
  expect(requestOf({ function_call: "none" }).toolChoice).toEqual({ mode: "none" });
});

test("a choice has the type of its tool", () => {
  const tools = [{ type: "custom", custom: { name: "run" } }];
  const wrong = { type: "function", function: { name: "run" } };
  const allowed = { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [wrong] } };
  for (const tool_choice of [wrong, allowed]) {
    expect(failureOf({ messages: hello, tools, tool_choice })).toEqual({
      kind: "invalid",
      message: "Tool choice 'run' not found in 'tools' parameter.",
      param: "tool_choice",
    });
  }
});

test("custom tools, with free text or a grammar, chosen and in the history", () => {
  const grammar = { type: "grammar", grammar: { syntax: "lark", definition: "start: /a/" } };
  const tools = [
    { type: "custom", custom: { name: "run", description: "Runs code." } },
    { type: "custom", custom: { name: "plain", format: { type: "text" } } },
    { type: "custom", custom: { name: "strict", format: grammar } },
  ];
  const call = { id: "a", type: "custom", custom: { name: "run", input: "print(1)" } };
  const request = requestOf({
    tools,
    tool_choice: { type: "custom", custom: { name: "run" } },
    messages: [{ role: "assistant", tool_calls: [call] }],
  });
  expect(request).toMatchObject({
    tools: [
      { name: "run", description: "Runs code.", parameters: undefined, custom: { format: undefined } },
      { name: "plain", custom: { format: undefined } },
      { name: "strict", custom: { format: { syntax: "lark", text: "start: /a/" } }, param: "tools[2].custom.format" },
    ],
    toolChoice: { mode: "named", name: "run" },
    messages: [{ calls: [{ id: "a", name: "run", arguments: "print(1)", custom: true }] }],
  });
  const allowed = { mode: "required", tools: [{ type: "custom", custom: { name: "run" } }] };
  expect(requestOf({ tools, tool_choice: { type: "allowed_tools", allowed_tools: allowed } }).toolChoice).toEqual({
    mode: "allowed",
    force: true,
    names: ["run"],
  });
});

test("the server's word list, biases of texts, and the fields of an extra body", () => {
  const service = { ...decodeService, lexicon: ["w"] };
  expect(decode({ messages: hello, tenon_lexicon: true }, undefined, service)).toMatchObject({
    value: { request: { answer: { source: { words: ["w"], fold: false } } } },
  });
  expect(
    requestOf({
      logit_bias: [
        [7, 1.5],
        ["ab", -2],
        [8, false],
      ],
    }).sampling.logitBias,
  ).toEqual([
    { token: 7, bias: 1.5 },
    { token: 97, bias: -2 },
    { token: 98, bias: -2 },
    { token: 8, bias: -100 },
  ]);
  const extra = { extra_body: { top_k: 3, temperature: 0.5, strange: 1 }, temperature: 0.25 };
  expect(decode({ messages: hello, ...extra })).toMatchObject({
    value: { ignored: ["strange"], request: { sampling: { topK: 3, temperature: 0.25 } } },
  });
});

test("fields that nothing reads are an error where the server is strict", () => {
  const service = { ...decodeService, strictFields: true };
  expect(decode({ messages: hello, user: "u", top_a: 1, b: 2 }, undefined, service)).toMatchObject({
    failure: { kind: "invalid", param: "top_a", message: "Unrecognized request arguments supplied: top_a, b" },
  });
});

test("a stream's comments come as often as asked", () => {
  for (const [sse_ping_interval, pingMs] of [
    [30, 30_000],
    [-1, Number.POSITIVE_INFINITY],
    [0, Number.POSITIVE_INFINITY],
  ]) {
    expect(decode({ messages: hello, sse_ping_interval })).toMatchObject({ value: { pingMs } });
  }
});

test("options that nothing reads are reported too", () => {
  const fields = {
    tenon_policy: { additional: "spec", adittional: "x" },
    tenon_lexicon: { words: ["a"], folding: true },
    stream_options: { include_usage: true, strange: 1 },
    chat_template_kwargs: { whatever: 1 },
  };
  expect(decode({ messages: hello, ...fields })).toMatchObject({
    value: { ignored: ["tenon_policy.adittional", "tenon_lexicon.folding", "stream_options.strange"] },
  });
});

test("fields that nothing reads are reported, fields without effect are not", () => {
  expect(decode({ messages: hello, user: "u", store: true, top_a: 1, ü: 2, constructor: 3 })).toMatchObject({
    value: { ignored: ["top_a", "ü", "constructor"] },
  });
});

function allowed(mode: string, ...names: string[]) {
  return {
    type: "allowed_tools",
    allowed_tools: { mode, tools: names.map((name) => ({ type: "function", function: { name } })) },
  };
}
