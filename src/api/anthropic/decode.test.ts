import { describe, expect, test } from "bun:test";
import type { Message, Request } from "../../generation/request.ts";
import { requestWith } from "../../generation/request-fixture.ts";
import { bodyOf } from "../body-fixture.ts";
import { decodeService } from "../service-fixture.ts";
import { decodeCount, decodeMessages, type MessagesRequest } from "./decode.ts";
import { signatureOf } from "./signature.ts";

const options = { id: "msg_1", ...decodeService };
const hello = { role: "user", content: "Hi" };
const base = { max_tokens: 2048, messages: [hello] };

function decode(fields: object, overrides: Partial<typeof options> = {}): MessagesRequest {
  const decoded = decodeMessages(bodyOf({ ...base, ...fields }), { ...options, ...overrides });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.failure));
  return decoded.value;
}

/** The parameter and the message of what is refused. */
function refusal(fields: object, overrides: Partial<typeof options> = {}): string {
  const decoded = decodeMessages(bodyOf({ ...base, ...fields }), { ...options, ...overrides });
  if (decoded.ok || decoded.failure.kind !== "invalid") throw new Error("taken");
  return `${decoded.failure.param}: ${decoded.failure.message}`;
}

const messagesOf = (fields: object): readonly Message[] => decode(fields).request.messages;

test("a plain request", () => {
  expect(decode({ model: "m" })).toEqual({
    request: requestWith({ id: "msg_1", model: "m", messages: [{ role: "user", content: "Hi" }], tokensMax: 2048 }),
    prefill: undefined,
    stream: false,
    pingMs: undefined,
    display: "shown",
    ignored: [],
  });
});

test("sampling, stop sequences and stream", () => {
  const { request, stream, pingMs } = decode({
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    min_p: 0.1,
    seed: 7,
    repeat_penalty: 1.1,
    frequency_penalty: -1,
    presence_penalty: 1,
    logit_bias: { 3: -100 },
    stop_sequences: ["END", "\n\n"],
    stream: true,
    sse_ping_interval: 3,
  });
  expect(pingMs).toBe(3000);
  expect(request.sampling).toEqual({
    temperature: 0.5,
    topP: 0.9,
    topK: 40,
    minP: 0.1,
    seed: 7,
    repeatPenalty: 1.1,
    frequencyPenalty: -1,
    presencePenalty: 1,
    logitBias: [{ token: 3, bias: -100 }],
  });
  expect(request.stop).toEqual(["END", "\n\n"]);
  expect(stream).toBe(true);
  expect(decode({ top_k: -1, seed: -1 }).request.sampling).toMatchObject({ topK: 0, seed: "fresh" });
});

test("null is not given", () => {
  const names = ["model", "system", "tools", "tool_choice", "thinking", "output_config", "stream", "stop_sequences"];
  const more = ["temperature", "top_p", "top_k", "seed", "logit_bias", "container", "mcp_servers", "tenon_policy"];
  expect(decode(Object.fromEntries([...names, ...more].map((name) => [name, null])))).toEqual(decode({}));
});

describe("messages", () => {
  const text = (text: string) => ({ type: "text", text });
  const use = (id: string, input?: unknown) => ({ type: "tool_use", id, name: "f", input });
  const result = (id: string, content?: unknown, is_error?: boolean) => ({
    type: "tool_result",
    tool_use_id: id,
    content,
    is_error,
  });
  const called = (...ids: string[]) => ({ role: "assistant", content: ids.map((id) => use(id, {})) });
  const call = (id: string, written = "{}") => ({ id, name: "f", arguments: written });
  const assistant = (overrides: object) => ({
    role: "assistant",
    content: undefined,
    reasoning: undefined,
    calls: [],
    ...overrides,
  });
  const parts = (...texts: string[]) => texts.map(text);
  const user = (content: unknown) => ({ role: "user", content });

  const cases: readonly [name: string, fields: object, messages: readonly object[]][] = [
    ["one text is a string", { messages: [user([text("a")])] }, [user("a")]],
    ["several are parts", { messages: [user([text("a"), text("b")])] }, [user(parts("a", "b"))]],
    ["what a block says besides is not read", { messages: [user([{ ...text("a"), cache_control: {} }])] }, [user("a")]],
    ["turns of one role are one", { messages: [user("a"), user([text("b")])] }, [user(parts("a", "b"))]],
    ["a system text", { system: "s" }, [{ role: "system", content: "s" }, hello]],
    ["system blocks", { system: [text("s"), text("t")] }, [{ role: "system", content: parts("s", "t") }, hello]],
    [
      "system messages anywhere",
      { messages: [hello, { role: "assistant", content: "a" }, { role: "system", content: "s" }, user("b")] },
      [hello, assistant({ content: "a" }), { role: "system", content: "s" }, user("b")],
    ],
    [
      "a billing header in front of the system text",
      { system: "x-anthropic-billing-header: cc_version=2.1.15; cch=0a1b2;\nBe kind." },
      [{ role: "system", content: "Be kind." }, hello],
    ],
    [
      "a billing header in a block of its own",
      { system: [text("x-anthropic-billing-header: cc_version=2.1.15; cch=0a1b2;"), text("Be kind.")] },
      [{ role: "system", content: "Be kind." }, hello],
    ],
    ["nothing but a billing header", { system: "x-anthropic-billing-header: cch=0a1b2;" }, [hello]],
    [
      "a call, its results in any order, and a question",
      { messages: [hello, called("a", "b"), user([result("b", "2"), result("a", [text("1")]), text("And?")])] },
      [
        hello,
        assistant({ calls: [call("a"), call("b")] }),
        { role: "tool", content: "2", callId: "b", name: undefined },
        { role: "tool", content: "1", callId: "a", name: undefined },
        user("And?"),
      ],
    ],
    [
      "results without content",
      { messages: [hello, called("a"), user([result("a")])] },
      [hello, assistant({ calls: [call("a")] }), { role: "tool", content: "", callId: "a", name: undefined }],
    ],
    [
      "failed calls say so",
      {
        messages: [
          hello,
          called("a", "b", "c"),
          user([result("a", "no such file", true), result("b", "Error: lost", true), result("c", undefined, true)]),
        ],
      },
      [
        hello,
        assistant({ calls: [call("a"), call("b"), call("c")] }),
        { role: "tool", content: "Error: no such file", callId: "a", name: undefined },
        { role: "tool", content: "Error: lost", callId: "b", name: undefined },
        { role: "tool", content: "Error:", callId: "c", name: undefined },
      ],
    ],
    [
      "a reference to a tool is its name",
      { messages: [hello, called("a"), user([result("a", [{ type: "tool_reference", tool_name: "g" }])])] },
      [hello, assistant({ calls: [call("a")] }), { role: "tool", content: "g", callId: "a", name: undefined }],
    ],
    [
      "thoughts, shown, carried and hidden",
      {
        messages: [
          hello,
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "h", signature: "x" },
              { type: "thinking", thinking: "", signature: signatureOf("m", "omitted") },
              { type: "redacted_thinking", data: "x" },
              text("a"),
            ],
          },
          user("b"),
        ],
      },
      [hello, assistant({ content: "a", reasoning: "h\nm" }), user("b")],
    ],
    [
      "inputs as text, missing and null",
      {
        messages: [
          hello,
          {
            role: "assistant",
            content: [text("a"), use("a", '{"x": 1}'), use("b"), use("c", null), use("d", '{"x":')],
          },
          user([result("a", "1")]),
        ],
      },
      [
        hello,
        assistant({ content: "a", calls: [call("a", '{"x": 1}'), call("b"), call("c"), call("d", '{"x":')] }),
        { role: "tool", content: "1", callId: "a", name: undefined },
      ],
    ],
  ];
  test.each(cases)("%s", (_, fields, messages) => {
    expect<unknown>(messagesOf(fields)).toEqual(messages);
  });

  test("an input keeps its order of keys and the digits of its numbers", () => {
    const input = '{"b": 12345678901234567890, "1": 1.50}';
    const body = `{"max_tokens":1,"messages":[{"role":"user","content":"Hi"},{"content":[{"type":"text","text":"[{"},{"type":"tool_use","input":${input},"id":"a","name":"f"}],"role":"assistant"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`;
    const decoded = decodeMessages({ text: body, value: JSON.parse(body) }, options);
    expect(decoded).toMatchObject({
      ok: true,
      value: { request: { messages: [{}, { calls: [{ arguments: input }] }, {}] } },
    });
  });

  test.each([
    [{ messages: [] }, "messages: Invalid value for 'messages': expected an array of at least 1 item."],
    [
      { messages: [user(" ")] },
      "messages: Request must include at least one non-empty message content or media input.",
    ],
    [{ messages: [{ role: "user" }] }, "messages[0].content: Missing required parameter: 'messages[0].content'."],
    [
      { messages: [{ role: "tool", content: "a" }] },
      "messages[0].role: Invalid value for 'messages[0].role': expected 'user', 'assistant' or 'system'.",
    ],
    [{ messages: [user([{ type: "image" }])] }, "messages[0].content[0].type: image input is not supported"],
    [{ messages: [user([{ type: "document" }])] }, "messages[0].content[0].type: document input is not supported"],
    [
      { messages: [user([{ type: "constructor" }])] },
      "messages[0].content[0].type: 'constructor' blocks are not supported",
    ],
    [
      { messages: [user([{ type: "server_tool_use" }])] },
      "messages[0].content[0].type: 'server_tool_use' blocks are not supported",
    ],
    [{ messages: [user([use("a", {})])] }, "messages[0].content[0].type: a 'tool_use' block cannot stand here"],
    [
      { messages: [user([{ text: "a" }])] },
      "messages[0].content[0].type: Missing required parameter: 'messages[0].content[0].type'.",
    ],
    [
      { messages: [hello, called("a"), user([result("a", [text("b"), { type: "image" }])])] },
      "messages[2].content[0].content[1].type: image input is not supported",
    ],
    [
      { messages: [user([result("x", "1")])] },
      "messages[0].content[0]: unexpected `tool_use_id` found in `tool_result` blocks: x. Each `tool_result` block must have a corresponding `tool_use` block in a previous message.",
    ],
    [
      { messages: [hello, { role: "assistant", content: [use("a", [1])] }, user([result("a")])] },
      "messages[1].content[0].input: Invalid value for 'messages[1].content[0].input': expected an object.",
    ],
    [{ system: [{ type: "image" }] }, "system[0].type: image input is not supported"],
  ])("%j is refused", (fields, message) => {
    expect(refusal(fields)).toBe(message);
  });

  describe("the assistant's last word", () => {
    test("is the beginning of the answer, outside of any thought", () => {
      const { request, prefill } = decode({
        messages: [hello, { role: "assistant", content: [text("a"), text("b")] }],
      });
      expect(prefill).toBe("ab");
      expect<unknown>(request.messages).toEqual([hello]);
      expect(request.templateVariables).toEqual({ enable_thinking: false });
    });

    const begun = (content: unknown) => [hello, { role: "assistant", content }];
    const format = { format: { type: "json_schema", schema: {} } };
    test.each([
      [
        { messages: [hello, called("a")] },
        "messages: `tool_use` ids were found without `tool_result` blocks immediately after: a.",
      ],
      [
        { messages: begun([{ type: "thinking", thinking: "h", signature: "" }]) },
        "messages: The answer cannot go on from a last assistant message with thinking: only from text.",
      ],
      [
        { messages: begun("{"), output_config: format },
        "messages: An answer with a format cannot go on from a text: the last message is the assistant's, and so the beginning of the answer.",
      ],
      [
        { messages: begun("a"), thinking: { type: "adaptive" } },
        "thinking: Thinking comes before an answer, but the last message is the assistant's, and so the beginning of the answer.",
      ],
    ])("%j is refused", (fields, message) => {
      expect(refusal(fields)).toBe(message);
    });
  });
});

describe("tools", () => {
  const schema = { type: "object", properties: { b: { type: "string" }, a: { type: "integer" } } };

  test("come in the form that templates know, with the schema's own text", () => {
    const tool = { name: "f", description: "d", input_schema: schema, cache_control: { type: "ephemeral" } };
    expect(decode({ tools: [tool, { type: "custom", name: "g", strict: true }] }).request.tools).toEqual([
      {
        name: "f",
        description: "d",
        parameters: JSON.stringify(schema),
        strict: false,
        param: "tools[0].input_schema",
        source: JSON.stringify({ type: "function", function: { name: "f", description: "d", parameters: schema } }),
      },
      {
        name: "g",
        description: undefined,
        parameters: undefined,
        strict: true,
        param: "tools[1].input_schema",
        source: '{"type":"function","function":{"name":"g"}}',
      },
    ]);
  });

  test("are there when they are loaded: named by a search, called before, or chosen", () => {
    const tools = ["found", "called", "chosen", "absent"].map((name) => ({ name, defer_loading: true }));
    const messages = [
      hello,
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "search", input: {} },
          { type: "tool_use", id: "b", name: "called", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [{ type: "tool_reference", tool_name: "found" }] },
          { type: "tool_result", tool_use_id: "b", content: "absent" },
        ],
      },
    ];
    const namesOf = (fields: object) =>
      decode({ tools: [{ name: "search" }, ...tools], ...fields }).request.tools.map(({ name }) => name);
    expect(namesOf({})).toEqual(["search"]);
    expect(namesOf({ messages })).toEqual(["search", "found", "called"]);
    expect(namesOf({ tool_choice: { type: "tool", name: "chosen" } })).toEqual(["search", "chosen"]);
  });

  test.each([
    [undefined, { mode: "auto" }, true],
    [{ type: "auto" }, { mode: "auto" }, true],
    [{ type: "auto", disable_parallel_tool_use: true }, { mode: "auto" }, false],
    [{ type: "any" }, { mode: "required" }, true],
    [{ type: "any", disable_parallel_tool_use: true }, { mode: "required" }, false],
    [{ type: "tool", name: "f" }, { mode: "named", name: "f" }, true],
    [{ type: "none" }, { mode: "none" }, true],
  ] satisfies readonly [object | undefined, Request["toolChoice"], boolean][])(
    "the choice %j",
    (tool_choice, toolChoice, parallelCalls) => {
      expect(decode({ tool_choice }).request).toMatchObject({ toolChoice, parallelCalls });
    },
  );

  test.each([
    [
      { tools: [{ type: "web_search_20250305", name: "web_search" }] },
      "tools[0].type: 'web_search_20250305' tools are not supported: only 'custom' ones, which the caller runs.",
    ],
    [
      { tools: [{ type: "bash_20250124", name: "bash" }] },
      "tools[0].type: 'bash_20250124' tools are not supported: only 'custom' ones, which the caller runs.",
    ],
    [
      { tools: [{ name: "a b" }] },
      "tools[0].name: Invalid value for 'tools[0].name': expected a name of 1 to 128 letters, digits, '_' and '-'.",
    ],
    [
      { tool_choice: "any" },
      "tool_choice: Invalid type for 'tool_choice': expected an object, but got a string instead.",
    ],
    [
      { tool_choice: { type: "required" } },
      "tool_choice.type: Invalid value for 'tool_choice.type': expected 'auto', 'any', 'tool' or 'none'.",
    ],
    [{ tool_choice: { type: "tool" } }, "tool_choice.name: Missing required parameter: 'tool_choice.name'."],
  ])("%j is refused", (fields, message) => {
    expect(refusal(fields)).toBe(message);
  });
});

describe("thinking", () => {
  test.each([
    [{ type: "enabled", budget_tokens: 1024 }, true, "shown", 1024],
    [{ type: "adaptive" }, true, "shown", undefined],
    [{ type: "adaptive", display: "summarized" }, true, "shown", undefined],
    [{ type: "adaptive", display: "omitted" }, true, "omitted", undefined],
    [{ type: "disabled" }, false, "shown", undefined],
  ] as const)("%j", (thinking, enabled, display, tokensMax) => {
    const decoded = decode({ thinking });
    expect(decoded.request).toMatchObject({
      templateVariables: { enable_thinking: enabled },
      thoughtTokensMax: tokensMax,
    });
    expect(decoded).toMatchObject({ display, ignored: [] });
  });

  test("effort and the template's own variables", () => {
    const fields = { output_config: { effort: "low" }, chat_template_kwargs: { a: 1 } };
    expect(decode(fields).request.templateVariables).toEqual({ a: 1, reasoning_effort: "low" });
  });

  test.each([
    [{ type: "enabled" }, "thinking.budget_tokens: Missing required parameter: 'thinking.budget_tokens'."],
    [
      { type: "enabled", budget_tokens: 1023 },
      "thinking.budget_tokens: Invalid value for 'thinking.budget_tokens': expected an integer of at least 1024.",
    ],
    [
      { type: "enabled", budget_tokens: 2048 },
      "thinking.budget_tokens: `max_tokens` must be greater than `thinking.budget_tokens`.",
    ],
    [
      { type: "between_tools" },
      "thinking.type: Invalid value for 'thinking.type': expected 'enabled', 'adaptive' or 'disabled'.",
    ],
  ])("%j is refused", (thinking, message) => {
    expect(refusal({ thinking })).toBe(message);
  });
});

describe("the answer's format", () => {
  const schema = { type: "object", properties: { b: {}, a: {} } };
  const format = { type: "json_schema", schema };
  test.each([
    [{ output_config: { format } }, "output_config.format.schema"],
    [{ output_format: format }, "output_format.schema"],
    [{ tenon_schema: schema }, "tenon_schema"],
  ])("%j", (fields, param) => {
    expect(decode(fields).request.answer).toEqual({ kind: "json_schema", schema: JSON.stringify(schema), param });
  });

  test("two of them are refused by both names", () => {
    expect(refusal({ output_config: { format }, output_format: format })).toStartWith(
      "output_format: Cannot use both output_config.format and output_format",
    );
    expect(refusal({ output_config: { format }, tenon_format: "json" })).toStartWith(
      "tenon_format: Cannot use both output_config.format and tenon_format",
    );
    expect(refusal({ output_format: { type: "json_object", schema } })).toStartWith("output_format.type: ");
  });
});

describe("fields", () => {
  test("of the protocol that change nothing are accepted, others reported", () => {
    const accepted = { metadata: { user_id: "u" }, service_tier: "auto", cache_control: {}, context_management: {} };
    expect(decode({ ...accepted, novel: 1 }).ignored).toEqual(["novel"]);
    expect(decode(accepted, { strictFields: true }).ignored).toEqual([]);
    expect(refusal({ novel: 1 }, { strictFields: true })).toBe("novel: Unrecognized request argument supplied: novel");
  });

  test.each([
    [{ max_tokens: undefined }, "max_tokens: Missing required parameter: 'max_tokens'."],
    [{ max_tokens: 0 }, "max_tokens: Invalid value for 'max_tokens': expected an integer from 1 to 4294967295."],
    [{ temperature: 1.1 }, "temperature: Invalid value for 'temperature': expected a number from 0 to 1."],
    [{ container: "c" }, "container: 'container' is not supported: there is no code execution."],
    [{ mcp_servers: [{}] }, "mcp_servers: 'mcp_servers' is not supported: the server calls no tools itself."],
    [
      { thread: { type: "create" } },
      "thread: 'thread' is not supported: send the whole conversation, since the server keeps none.",
    ],
    [{ stop_sequences: ["\ud800"] }, "stop_sequences: a stop sequence contains half a surrogate pair"],
  ])("%j is refused", (fields, message) => {
    expect(refusal(fields)).toBe(message);
  });

  test("an empty list of servers asks for nothing", () => {
    expect(decode({ mcp_servers: [] }).ignored).toEqual([]);
  });
});

test("counting reads the same and needs no limit", () => {
  const fields = { system: "s", tools: [{ name: "f" }], tool_choice: { type: "tool", name: "f" } };
  const counted = decodeCount(bodyOf({ messages: [hello], ...fields, temperature: 9 }), options);
  if (!counted.ok) throw new Error(counted.failure.kind);
  expect(counted.value.request).toEqual({ ...decode(fields).request, tokensMax: undefined });
});
