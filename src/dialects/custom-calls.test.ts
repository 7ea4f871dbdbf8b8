import { describe, expect, test } from "bun:test";
import { check, irOf, output, tool } from "../../tests/fixtures/dialect-cases.ts";
import { accepts, channelRuns } from "../../tests/oracle/ir-acceptor.ts";
import type { Tool } from "../generation/request.ts";
import { hermes } from "./hermes.ts";
import { llama3Json } from "./llama3-json.ts";
import { mistralNemo } from "./mistral-nemo.ts";

/** Any text in which no marker can begin. */
const format = { syntax: "regex", text: "[^<]*" } as const;
const run: Tool = { ...tool("run"), custom: { format } };
const plain: Tool = { ...tool("plain"), custom: { format: undefined } };
const json = tool("get");
const required = { tools: [run, json], toolChoice: { mode: "required" } } as const;
const named = { tools: [run, json], toolChoice: { mode: "named", name: "run" } } as const;
const auto = { tools: [run, json] };
const code = 'print("{}")\n\nx = 1';

describe("hermes", () => {
  const call = hermes.customCall("run", code);
  const get = '<tool_call>\n{"name": "get", "arguments": {}}\n</tool_call>';
  check(hermes, [
    [
      required,
      [
        call,
        hermes.customCall("run", ""),
        get,
        `${call}\n${get}`,
        `${get}\n${call}`,
        call.replace('{"name": ', '{"name":'),
      ],
      [
        code,
        '<tool_call>\n{"name": "run", "arguments": {}}\n</tool_call>',
        '<tool_call>\n{"name": "run"}</tool_call>',
        '<tool_call>\n{"name": "get"}\n</tool_call>',
        `${call} `,
      ],
    ],
    [named, [call], [get, `${call}\n${call}`]],
    [auto, ["Hm.", `Hm.\n${call} Done.`], ["<tool_call>", '<tool_call>\n{"name": "run"}\nx']],
  ]);

  test("raw input has its own channel, without the newlines around it", () => {
    expect(channelRuns(irOf(hermes, required), output(call))).toEqual([
      ["markup", '<tool_call>\n{"name": "'],
      ["call_name", "run"],
      ["markup", '"}\n'],
      ["custom_input", code],
      ["markup", "\n</tool_call>"],
    ]);
  });
});

describe("mistral_nemo", () => {
  const call = mistralNemo.customCall("run", code);
  const get = '{"name": "get", "arguments": {}}';
  check(mistralNemo, [
    [
      required,
      [
        call,
        `[TOOL_CALLS] [${get}]`,
        `[TOOL_CALLS][${get}, {"name": "run"}]\n${code}`,
        '[TOOL_CALLS][{"name": "run"}]\n',
      ],
      [
        code,
        '[TOOL_CALLS][{"name": "run"}]',
        '[TOOL_CALLS][{"name": "run"}, {"name": "get", "arguments": {}}]',
        `[TOOL_CALLS][${get}]\nx`,
      ],
    ],
    [named, [call], [`[TOOL_CALLS][${get}]`]],
    [{ tools: [run] }, ["Hm.", `Hm.${call}`], ["[TOOL_CALLS]"]],
  ]);
});

describe("llama3_json", () => {
  const call = llama3Json.customCall("run", code);
  check(llama3Json, [
    [
      required,
      [call, '{"name": "get", "parameters": {}}', `<|python_tag|>${call}`],
      [code, '{"name": "run"}', '{"name": "get"}\nx'],
    ],
    [named, [call], ['{"name": "get", "parameters": {}}']],
    [auto, ["Hm.", ` ${call}`], ['{"name": "run"}']],
  ]);
});

test("free text is an argument like others", () => {
  const call = (given: string) => `<tool_call>\n{"name": "plain", "arguments": ${given}}\n</tool_call>`;
  const ir = irOf(hermes, { tools: [plain], toolChoice: { mode: "required" } });
  const texts = [
    call('{"input": "a\\n"}'),
    call('{"input": ""}'),
    call("{}"),
    call('{"input": 1}'),
    hermes.customCall("plain", "a"),
  ];
  expect(texts.filter((text) => accepts(ir, output(text)))).toEqual(texts.slice(0, 2));
});
