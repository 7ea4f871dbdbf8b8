import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hermes } from "../dialects/hermes.ts";
import type { Message, Request, Tool, ToolChoice } from "../generation/request.ts";
import { defaultSampling } from "../generation/sampling.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { promptTokens, renderPrompt, renderText, withEnds } from "./render.ts";
import { type ChatTemplate, chatTemplate } from "./template.ts";

const now = new Date(2026, 2, 7, 9, 5, 6);

function compiled(source: string | undefined): ChatTemplate {
  const template = chatTemplate(source, { bos: "<BOS>", eos: "<EOS>" });
  if (!template.ok) throw new Error(template.failure);
  return template.value;
}

function tool(name: string): Tool {
  const parameters =
    '{"type": "object", "properties": {"z": {"type": "number", "maximum": 1.0}, "1": {"type": "string"}}}';
  const source = `{"type": "function", "function": {"name": "${name}", "parameters": ${parameters}}}`;
  return { name, description: undefined, parameters, strict: false, param: "tools[0].function.parameters", source };
}

function request(
  messages: readonly Message[],
  more: { tools?: readonly Tool[]; toolChoice?: ToolChoice; variables?: Record<string, unknown> } = {},
): Request {
  return {
    id: "r",
    model: undefined,
    messages,
    tools: more.tools ?? [],
    toolChoice: more.toolChoice ?? { mode: "auto" },
    parallelCalls: true,
    answer: { kind: "text" },
    sampling: { ...defaultSampling, temperature: 0, seed: 0 },
    tokensMax: undefined,
    stop: [],
    logprobs: undefined,
    holdCalls: false,
    templateVariables: more.variables ?? {},
    policy: { additional: "closed", order: undefined, whitespace: "compact", spelling: "canonical" },
  };
}

function text(template: ChatTemplate, given: Request): string {
  const rendered = renderText({ template, dialect: hermes }, given, now);
  return rendered.ok
    ? rendered.value
    : `${rendered.failure.kind}: ${"message" in rendered.failure ? rendered.failure.message : ""}`;
}

const user: Message = { role: "user", content: "Hi" };
const assistant = (content: string | undefined, ...calls: [id: string, name: string, given: string][]): Message => ({
  role: "assistant",
  content,
  reasoning: undefined,
  calls: calls.map(([id, name, given]) => ({ id, name, arguments: given })),
});
const result = (callId: string, content: string): Message => ({ role: "tool", callId, name: undefined, content });

/** SmolLM2's way: roles as they are, no word of tools. */
const chatml = compiled(
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
);
const described = `# Tools

You can call functions to help with the user's request. These are the functions, one JSON object a line:
<tools>
${tool("f").source}
</tools>

To call a function, write a JSON object with its name and its arguments between <tool_call> and </tool_call>:
<tool_call>
{"name": "the function's name", "arguments": {"an argument": "its value"}}
</tool_call>`;

describe("a template that knows no tools", () => {
  test("gets them described in a system message", () => {
    expect(text(chatml, request([user], { tools: [tool("f")] }))).toBe(
      `<|im_start|>system\n${described}<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n`,
    );
    expect(text(chatml, request([{ role: "system", content: "Be brief." }, user], { tools: [tool("f")] }))).toStartWith(
      `<|im_start|>system\nBe brief.\n\n${described}<|im_end|>\n`,
    );
  });

  test("shows none when none may be called, and no instruction", () => {
    expect(text(chatml, request([user], { tools: [tool("f")], toolChoice: { mode: "none" } }))).toBe(
      "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    );
  });

  test("reads calls and results of the history in the frame of its grammar", () => {
    const history = [
      user,
      assistant("One moment.", ["a", "f", '{"z": 1.0}'], ["b", "g", ""]),
      result("a", "1"),
      result("b", "2"),
      assistant("Done."),
      user,
    ];
    expect(text(chatml, request(history))).toBe(
      [
        "<|im_start|>user\nHi<|im_end|>",
        '<|im_start|>assistant\nOne moment.\n<tool_call>\n{"name": "f", "arguments": {"z": 1.0}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call><|im_end|>',
        "<|im_start|>user\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response><|im_end|>",
        "<|im_start|>assistant\nDone.<|im_end|>",
        "<|im_start|>user\nHi<|im_end|>",
        "<|im_start|>assistant\n",
      ].join("\n"),
    );
  });

  test("explains tools that take raw input, and shows their calls as the grammar has them written", () => {
    const format = { syntax: "regex", text: "a+" } as const;
    const run: Tool = { ...tool("run"), description: "Runs code.", parameters: undefined, custom: { format } };
    const call = { id: "a", name: "run", arguments: 'print("x")\n', custom: true };
    const history: readonly Message[] = [
      user,
      { role: "assistant", content: "So:", reasoning: undefined, calls: [call] },
      result("a", "x"),
    ];
    const rendered = text(chatml, request(history, { tools: [run] }));
    const description =
      'Runs code.\n\nThis tool takes raw text instead of JSON arguments. To call it, write:\n<tool_call>\n{"name": "run"}\nthe text\n</tool_call>\nThe text must fit this regex grammar:\na+';
    expect(rendered).toContain(JSON.stringify({ type: "function", function: { name: "run", description } }));
    expect(rendered).toContain(
      '<|im_start|>assistant\nSo:\n<tool_call>\n{"name": "run"}\nprint("x")\n\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\nx\n</tool_response><|im_end|>',
    );
  });

  test("shows tools that take free text, and their calls, with the text as the one argument", () => {
    const run: Tool = {
      ...tool("run"),
      description: "Runs code.",
      parameters: undefined,
      custom: { format: undefined },
    };
    const call = { id: "a", name: "run", arguments: 'print("x")\n', custom: true };
    const history: readonly Message[] = [
      user,
      { role: "assistant", content: undefined, reasoning: undefined, calls: [call] },
    ];
    const written = '<tool_call>\n{"name": "run", "arguments": {"input":"print(\\"x\\")\\n"}}\n</tool_call>';
    const rendered = text(chatml, request(history, { tools: [run] }));
    expect(rendered).toContain(
      '"name":"run","description":"Runs code.","parameters":{"type":"object","properties":{"input":{"type":"string"}}',
    );
    expect(rendered).toContain(written);
    // Also where the tool is not offered any more.
    expect(text(chatml, request(history))).toContain(written);
  });

  test("takes parts as lines", () => {
    const parts: Message = {
      role: "user",
      content: [
        { type: "text", text: "One" },
        { type: "text", text: "Two" },
      ],
    };
    expect(text(chatml, request([parts]))).toContain("user\nOne\nTwo<|im_end|>");
  });
});

const folder = join(process.env["TENON_SHARED"] ?? join(import.meta.dir, "../../../shared"), "data", "chat-templates");
if (!existsSync(folder)) console.log(`skipped: no ${folder}`);

describe.skipIf(!existsSync(folder))("published templates", () => {
  const published = (name: string) => compiled(readFileSync(join(folder, `${name}.jinja`), "utf8"));
  const hermes = (tools: string) =>
    `\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>\n${tools}\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call><|im_end|>\n`;

  test("Qwen: tools as they came, arguments as objects, results", () => {
    const history = [
      { role: "system", content: "Be brief." } as const,
      user,
      assistant(undefined, ["a", "f", '{"z": 1.0, "1": "ü\\n"}']),
      result("a", "ok"),
    ];
    expect(text(published("Qwen-Qwen2.5-7B-Instruct"), request(history, { tools: [tool("f"), tool("g")] }))).toBe(
      `<|im_start|>system\nBe brief.${hermes(`${tool("f").source}\n${tool("g").source}`)}<|im_start|>user\nHi<|im_end|>\n` +
        '<|im_start|>assistant\n<tool_call>\n{"name": "f", "arguments": {"z": 1.0, "1": "ü\\n"}}\n</tool_call><|im_end|>\n' +
        "<|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
    );
  });

  test("Qwen: a named choice narrows the tools and instructs, and so changes the prompt", () => {
    const template = published("Qwen-Qwen2.5-7B-Instruct");
    const tools = [tool("f"), tool("g")];
    const auto = request([user], { tools });
    const forced = request([user], { tools, toolChoice: { mode: "named", name: "g" } });
    expect(text(template, forced)).toBe(
      `<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.${hermes(tool("g").source)}` +
        "<|im_start|>user\nHi\n\nYou must call the 'g' function to answer the user's request. Do not call any other function and do not answer directly.<|im_end|>\n<|im_start|>assistant\n",
    );
    expect(text(template, auto)).not.toBe(text(template, forced));
    expect(text(template, auto)).not.toContain("You must call");
    expect(text(template, request([user], { tools, toolChoice: { mode: "required" } }))).toContain(
      `${tool("f").source}\n${tool("g").source}\n</tools>`,
    );
    expect(forced.messages).toEqual([user]);
  });

  test("Llama 3: several calls at once become one after another", () => {
    const rendered = text(
      published("meta-llama-Llama-3.1-8B-Instruct"),
      request(
        [user, assistant(undefined, ["a", "f", '{"z": 1}'], ["b", "g", "{}"]), result("b", "two"), result("a", "one")],
        {
          tools: [tool("f"), tool("g")],
        },
      ),
    );
    const turn = (role: string, body: string) => `<|start_header_id|>${role}<|end_header_id|>\n\n${body}<|eot_id|>`;
    expect(rendered).toEndWith(
      turn("assistant", '{"name": "f", "parameters": {"z": 1}}') +
        turn("ipython", '"one"') +
        turn("assistant", '{"name": "g", "parameters": {}}') +
        turn("ipython", '"two"') +
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
    );
  });

  test("a thought beside a text and a call is shown where the template can", () => {
    const thinking: Message = {
      role: "assistant",
      content: "One moment.",
      reasoning: "Hm.",
      calls: [{ id: "a", name: "f", arguments: "{}" }],
    };
    const given = request([user, thinking, result("a", "1")], { tools: [tool("f")] });
    expect(text(published("LFM2.5-8B-A1B"), given)).toContain("<think>Hm.</think>One moment.<|tool_call_start|>");
    expect(text(published("openai-gpt-oss-120b"), given)).toContain("One moment.");
    expect(published("openai-gpt-oss-120b").abilities.thoughts).toBe(false);
  });

  test("a tool without a description gets an empty one only where the template fails without", () => {
    const given = request([user], { tools: [tool("f")] });
    expect(published("openai-gpt-oss-120b").abilities.bareTools).toBe(false);
    expect(text(published("openai-gpt-oss-120b"), given)).toContain("type f = (");
    expect(text(published("Qwen-Qwen2.5-7B-Instruct"), given)).not.toContain("description");
  });

  test("Mistral Nemo: ids that it would refuse are replaced, the same for a call and its result", () => {
    const rendered = text(
      published("mistralai-Mistral-Nemo-Instruct-2407"),
      request([user, assistant(undefined, ["call_1234567890", "f", "{}"]), result("call_1234567890", "1")], {
        tools: [tool("f")],
      }),
    );
    const id = /"id": "([a-zA-Z0-9]{9})"/.exec(rendered)?.[1];
    expect(rendered).toEndWith(`"id": "${id}"}]<EOS>[TOOL_RESULTS]{"content": 1, "call_id": "${id}"}[/TOOL_RESULTS]`);
  });

  test("Gemma 2: refuses system messages, and gets them in the first user message", () => {
    const template = published("google-gemma-2-2b-it");
    expect(text(template, request([{ role: "system", content: "Be brief." }, user]))).toBe(
      "<BOS><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\n",
    );
    const forced = text(template, request([user], { tools: [tool("f")], toolChoice: { mode: "required" } }));
    expect(forced).toStartWith(`<BOS><start_of_turn>user\n${described}\n\nHi\n\nYou must call one or more`);
  });

  test("a template's refusal is the caller's failure, with its words", () => {
    expect(text(published("google-gemma-2-2b-it"), request([user, user]))).toBe(
      "invalid: The model's chat template refuses this conversation: Conversation roles must alternate user/assistant/user/assistant/...",
    );
  });

  test.each([
    ["deepseek-ai-DeepSeek-V3.1", "<think>", "</think>"],
    ["Qwen-Qwen3-0.6B", "assistant\n", "</think>\n\n"],
  ])("the switch of thoughts, by either name: %s", (name, on, off) => {
    for (const [enable_thinking, end] of [
      [true, on],
      [false, off],
    ]) {
      expect(text(published(name), request([user], { variables: { enable_thinking } }))).toEndWith(String(end));
    }
  });

  test("variables of the request reach the template, the conversation is never among them", () => {
    const variables = { enable_thinking: false, messages: [], tools: [] };
    expect(text(published("Qwen-Qwen3-0.6B"), request([user], { variables }))).toBe(
      "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    );
  });
});

/** Every text is one token, and `<bos>` in front another; none is none. */
const tokenizer: Tokenizer = {
  encode: (given) => Uint32Array.from(given === "" ? [] : given.startsWith("<bos>") ? [2, 7] : [7]),
  decode: (tokens) => Uint8Array.from(tokens, (token) => token + 90),
  idOf: () => undefined,
  vocabulary: { count: 0, bytes: new Uint8Array(0), offsets: new Uint32Array(1), kinds: new Uint8Array(0) },
  bos: 2,
  addBos: true,
  eos: 3,
  addEos: false,
  stopTokens: [],
};

test("a BOS comes first exactly once", () => {
  expect([...promptTokens(tokenizer, "x")]).toEqual([2, 7]);
  expect([...promptTokens(tokenizer, "<bos>x")]).toEqual([2, 7]);
  expect([...promptTokens({ ...tokenizer, addBos: false }, "x")]).toEqual([7]);
  expect([...promptTokens({ ...tokenizer, bos: undefined }, "x")]).toEqual([7]);
});

test("a text that stands for itself also ends where the model wants it", () => {
  const ended = { ...tokenizer, addEos: true };
  expect([...withEnds(tokenizer, Uint32Array.of(7))]).toEqual([2, 7]);
  expect([...withEnds(ended, Uint32Array.of(7))]).toEqual([2, 7, 3]);
  expect([...withEnds({ ...ended, addBos: false }, new Uint32Array())]).toEqual([3]);
  expect([...withEnds({ ...ended, eos: undefined }, Uint32Array.of(7))]).toEqual([2, 7]);
});

test("a prompt without a conversation is text or tokens as they stand", () => {
  const promptOf = (prompt: string | Uint32Array<ArrayBuffer>, given = tokenizer) => {
    const rendered = renderPrompt(
      { template: chatml, dialect: hermes, tokenizer: given },
      { ...request([]), prompt },
      now,
    );
    return rendered.ok ? [rendered.value.text, ...rendered.value.tokens] : rendered.failure.kind;
  };
  expect(promptOf("x")).toEqual(["x", 2, 7]);
  expect(promptOf(Uint32Array.of(7, 8))).toEqual(["ab", 7, 8]);
  // Without any the model begins where texts begin; a vocabulary may have no token for that.
  expect(promptOf("", { ...tokenizer, addBos: false })).toEqual(["", 2]);
  expect(promptOf("", { ...tokenizer, bos: undefined, stopTokens: [5] })).toEqual(["", 5]);
  expect(promptOf("", { ...tokenizer, bos: undefined })).toBe("invalid");
});

test("a conversation goes on from the tokens of an earlier one, and texts begin once", () => {
  const template = compiled("{{ messages[0].content }}");
  const tokensOf = (before?: readonly number[]) => {
    const given = { ...request([{ role: "user", content: "hi" }]), ...(before === undefined ? {} : { before }) };
    const prompt = renderPrompt({ template, dialect: hermes, tokenizer }, given, now);
    return prompt.ok ? [...prompt.value.tokens] : prompt.failure;
  };
  expect(tokensOf()).toEqual([2, 7]);
  expect(tokensOf([])).toEqual([2, 7]);
  expect(tokensOf([2, 9, 300])).toEqual([2, 9, 300, 7]);
});
