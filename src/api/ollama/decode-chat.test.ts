import { describe, expect, test } from "bun:test";
import type { Message, Request } from "../../generation/request.ts";
import { requestWith } from "../../generation/request-fixture.ts";
import { bodyOf } from "../body-fixture.ts";
import { type Asked, decodeChat } from "./decode-chat.ts";
import { loaded, service } from "./decode-fixture.ts";

const hello = { role: "user", content: "Hi" };

function decode(fields: object, overrides: Partial<typeof service> = {}): Asked {
  const decoded = decodeChat(bodyOf({ messages: [hello], ...fields }), "r", { ...service, ...overrides });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.failure));
  return decoded.value;
}

function requestOf(fields: object): Request {
  const { request } = decode(fields);
  if (request === undefined) throw new Error("no request");
  return request;
}

/** The parameter and the message of what is refused. */
function refusal(fields: object, overrides: Partial<typeof service> = {}): string {
  const decoded = decodeChat(bodyOf({ messages: [hello], ...fields }), "r", { ...service, ...overrides });
  if (decoded.ok || decoded.failure.kind !== "invalid") throw new Error("taken");
  return `${decoded.failure.param}: ${decoded.failure.message}`;
}

const messagesOf = (...messages: object[]): readonly Message[] => requestOf({ messages }).messages;

test("a plain request, whose defaults are those of every shape", () => {
  expect(decode({})).toEqual({
    model: "Loaded-Q4_0:latest",
    stream: true,
    logprobs: false,
    keepAliveS: undefined,
    ignored: [],
    request: requestWith({
      id: "r",
      messages: [{ role: "user", content: "Hi" }],
      holdCalls: true,
      truncate: false,
    }),
  });
});

test("what asks for nothing loads", () => {
  for (const messages of [[], null, undefined]) {
    expect(decode({ messages, keep_alive: "0" })).toMatchObject({ request: undefined, keepAliveS: 0 });
  }
  expect(refusal({ messages: [{ role: "user", content: " " }] })).toStartWith("messages: ");
});

test("a model goes by the name that lists have, and one that cannot answer is refused", () => {
  for (const field of ["model", "name"]) {
    const { model, request } = decode({ [field]: "mario" });
    expect([model, request?.model]).toEqual(["mario:v2", "mario"]);
  }
  expect(refusal({ model: "other" })).toBe("model: not loaded");
});

describe("messages", () => {
  test("calls keep the text of their arguments, and results find theirs", () => {
    const text = `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"thinking":"Hm.","tool_calls":[
      {"function":{"name":"f","arguments":{"b": 1.50, "a":1e2}}},{"id":"own","function":{"name":"g"}}]},
      {"role":"tool","tool_name":"g","content":"G"},{"role":"tool","content":"F"},{"role":"tool","content":"?"}]}`;
    const decoded = decodeChat({ text, value: JSON.parse(text) }, "r", service);
    expect(decoded.ok && decoded.value.request?.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: undefined,
        reasoning: "Hm.",
        calls: [
          { id: "call_1_0", name: "f", arguments: '{"b": 1.50, "a":1e2}' },
          { id: "own", name: "g", arguments: "{}" },
        ],
      },
      { role: "tool", content: "G", callId: "own", name: "g" },
      { role: "tool", content: "F", callId: "call_1_0", name: undefined },
      { role: "tool", content: "?", callId: "call_unknown", name: undefined },
    ]);
  });

  test("arguments as text, as clients of other shapes send them", () => {
    const called = (value: unknown) => ({
      role: "assistant",
      tool_calls: [{ id: "a", function: { name: "f", arguments: value } }],
    });
    const argumentsOf = (value: unknown) => messagesOf(hello, called(value)).at(-1);
    expect(argumentsOf('{"a":1}')).toMatchObject({ calls: [{ arguments: '{"a":1}' }] });
    expect(argumentsOf("not JSON")).toMatchObject({ calls: [{ arguments: "not JSON" }] });
    expect(argumentsOf(null)).toMatchObject({ calls: [{ arguments: "{}" }] });
    expect(messagesOf(hello, called({}), { role: "tool", tool_call_id: "b", content: "" }).at(-1)).toMatchObject({
      callId: "b",
    });
  });

  test.each([
    [{ role: "critic", content: "x" }, "messages[0].role: Invalid value for 'messages[0].role'"],
    [{ role: "user", content: [] }, "messages[0].content: Invalid type for 'messages[0].content'"],
    [{ role: "user", content: "x", images: ["aGk="] }, "messages[0].images: image input is not supported"],
    [{ role: "assistant", tool_calls: [{}] }, "messages[0].tool_calls[0].function: Missing required parameter"],
    [{ content: "x" }, "messages[0].role: Missing required parameter"],
    ["x", "messages[0]: Invalid type for 'messages[0]': expected an object"],
  ] satisfies readonly (readonly [unknown, string])[])("%j is refused", (message, expected) => {
    expect(refusal({ messages: [message] })).toStartWith(expected);
  });

  test("no images are none", () => {
    expect(messagesOf({ ...hello, images: [] })).toEqual([{ role: "user", content: "Hi" }]);
  });
});

describe("tools", () => {
  const tool = { type: "function", function: { name: "f", description: "F", parameters: { type: "object" } } };

  test("come with their own text", () => {
    const text = `{"messages":[{"role":"user","content":"x"}],"tools":[ {"function":{"name":"f","parameters":{"b":1.0,"a":2}}} ]}`;
    const decoded = decodeChat({ text, value: JSON.parse(text) }, "r", service);
    expect(decoded.ok && decoded.value.request?.tools).toEqual([
      {
        name: "f",
        description: undefined,
        parameters: '{"b":1.0,"a":2}',
        strict: false,
        param: "tools[0].function.parameters",
        source: '{"function":{"name":"f","parameters":{"b":1.0,"a":2}}}',
      },
    ]);
  });

  test.each([
    [undefined, { mode: "auto" }],
    [null, { mode: "auto" }],
    ["required", { mode: "required" }],
    ["none", { mode: "none" }],
    [
      { type: "function", function: { name: "f" } },
      { mode: "named", name: "f" },
    ],
    [
      { type: "allowed_tools", allowed_tools: { mode: "required", tools: [tool, tool] } },
      { mode: "allowed", force: true, names: ["f"] },
    ],
  ] satisfies readonly (readonly [unknown, Request["toolChoice"]])[])("the choice %j", (tool_choice, toolChoice) => {
    expect(requestOf({ tools: [tool], tool_choice, parallel_tool_calls: false })).toMatchObject({
      toolChoice,
      parallelCalls: false,
    });
  });

  test.each([
    [{ tools: [{ type: "web_search", function: { name: "f" } }] }, "tools[0].type: "],
    [{ tools: [{ type: "function" }] }, "tools[0].function: "],
    [{ tools: [{ function: { name: "" } }] }, "tools[0].function.name: "],
    [{ tools: [{ function: { name: "f", parameters: "x" } }] }, "tools[0].function.parameters: "],
    [{ tools: {} }, "tools: "],
    [{ tool_choice: "any" }, "tool_choice: "],
    [{ tool_choice: { type: "function" } }, "tool_choice: "],
  ] satisfies readonly (readonly [object, string])[])("%j is refused", (fields, expected) => {
    expect(refusal(fields)).toStartWith(expected);
  });
});

describe("format", () => {
  test.each([
    ["", { kind: "text" }],
    [null, { kind: "text" }],
    ["json", { kind: "json_object" }],
  ] satisfies readonly (readonly [unknown, Request["answer"]])[])("%j", (format, answer) => {
    expect(requestOf({ format }).answer).toEqual(answer);
  });

  test("a schema keeps its text", () => {
    const text = `{"messages":[{"role":"user","content":"x"}],"format":{"maximum": 1.0, "a":[1]}}`;
    const decoded = decodeChat({ text, value: JSON.parse(text) }, "r", service);
    const schema = '{"maximum": 1.0, "a":[1]}';
    expect(decoded.ok && decoded.value.request?.answer).toEqual({ kind: "json_schema", schema, param: "format" });
  });

  test.each([["xml"], [1], [[]], [true]])("%j is refused", (format) => {
    expect(refusal({ format })).toBe(
      `format: invalid format: ${JSON.stringify(format)}; expected "json" or a valid JSON Schema object`,
    );
  });

  test("two constraints at once", () => {
    expect(refusal({ format: "json", tenon_schema: {} })).toBe(
      "tenon_schema: Cannot use both format and tenon_schema: two constraints cannot be composed.",
    );
  });
});

describe("thinking", () => {
  test.each([
    [true, { enable_thinking: true }],
    [false, { enable_thinking: false }],
    ["high", { enable_thinking: true, reasoning_effort: "high" }],
    [null, {}],
  ] as const)("%j", (think, templateVariables) => {
    expect(requestOf({ think }).templateVariables).toEqual(templateVariables);
  });

  test("of a model that does not", () => {
    const plain = { describe: () => ({ ...loaded, capabilities: ["completion"] as const }) };
    expect(refusal({ think: "low" }, plain)).toBe('think: "Loaded-Q4_0:latest" does not support thinking');
    expect(decode({ think: false }, plain).request?.templateVariables).toEqual({ enable_thinking: false });
    expect(refusal({ think: "much" })).toStartWith("think: ");
  });
});

describe("options", () => {
  test("all that are honoured", () => {
    const options = {
      num_predict: 5,
      num_ctx: 100,
      temperature: 0,
      top_k: -1,
      top_p: 0.5,
      min_p: 0.1,
      repeat_penalty: 1.1,
      frequency_penalty: 1,
      presence_penalty: -1,
      seed: 42,
      stop: "x",
      logit_bias: { "5": 1 },
    };
    expect(decode({ options })).toMatchObject({
      ignored: [],
      request: {
        contextMax: 100,
        tokensMax: 5,
        stop: ["x"],
        sampling: {
          temperature: 0,
          topK: 0,
          topP: 0.5,
          minP: 0.1,
          repeatPenalty: 1.1,
          frequencyPenalty: 1,
          presencePenalty: -1,
          seed: 42,
          logitBias: [{ token: 5, bias: 1 }],
        },
      },
    });
  });

  test("no limit, in each of its spellings", () => {
    for (const num_predict of [-2, -1, 0])
      expect(requestOf({ options: { num_predict } }).tokensMax).toBe(Number.POSITIVE_INFINITY);
    expect(requestOf({ options: { num_predict: null } }).tokensMax).toBeUndefined();
    expect(requestOf({ options: { seed: -1 } }).sampling.seed).toBe("fresh");
  });

  test("how a model is computed changes no answer; a sampler that there is not, and what nobody knows, is told", () => {
    const options = { num_gpu: 99, num_thread: 4, use_mmap: true, typical_p: 0.7, mirostat: 1, num_foo: 1 };
    expect(decode({ options, unheard: 1 }).ignored).toEqual([
      "unheard",
      "options.num_foo",
      "options.typical_p",
      "options.mirostat",
    ]);
    expect(refusal({ options: { num_foo: 1 } }, { strictFields: true })).toBe(
      "options.num_foo: Unrecognized request argument supplied: options.num_foo",
    );
  });

  test.each([
    [{ temperature: "hot" }, "options.temperature: Invalid type for 'options.temperature': expected a number"],
    [{ temperature: -1 }, "options.temperature: Invalid value for 'options.temperature'"],
    [{ num_predict: 1.5 }, "options.num_predict: "],
    [{ num_predict: -3 }, "options.num_predict: "],
    [{ num_ctx: 0 }, "options.num_ctx: "],
    [{ num_gpu: "all" }, "options.num_gpu: "],
    [{ use_mmap: 1 }, "options.use_mmap: "],
    [{ stop: [1] }, "options.stop: "],
    [{ stop: ["\ud800"] }, "options.stop: "],
    [{ top_k: 1.5 }, "options.top_k: "],
  ] satisfies readonly (readonly [object, string])[])("%j is refused", (options, expected) => {
    expect(refusal({ options })).toStartWith(expected);
  });

  test("as a whole have to be an object", () => {
    expect(refusal({ options: [] })).toStartWith("options: ");
  });
});

test("log-probabilities", () => {
  expect(requestOf({ logprobs: true, top_logprobs: 3 }).logprobs).toBe(3);
  expect(requestOf({ logprobs: true }).logprobs).toBe(0);
  expect(requestOf({ top_logprobs: 0 }).logprobs).toBeUndefined();
  expect(refusal({ logprobs: true, top_logprobs: 21 })).toBe("top_logprobs: top_logprobs must be between 0 and 20");
  expect(refusal({ top_logprobs: 1 })).toStartWith("top_logprobs: ");
});

test("the other fields", () => {
  expect(decode({ stream: false, truncate: true, shift: false, keep_alive: "5m" })).toMatchObject({
    stream: false,
    request: { truncate: true },
    keepAliveS: 300,
    ignored: [],
  });
  expect(refusal({ stream: "yes" })).toStartWith("stream: ");
  expect(refusal({ keep_alive: "soon" })).toStartWith("keep_alive: ");
  expect(refusal({ keep_alive: [] })).toStartWith("keep_alive: ");
  expect(refusal({ model: 1 })).toStartWith("model: ");
});
