import { describe, expect, test } from "bun:test";
import { irOf, output, request, tokenizer, tool, tools, weather } from "../../tests/fixtures/dialect-cases.ts";
import { asRead, tolerantCases } from "../../tests/fixtures/tolerant-cases.ts";
import { accepts, channelRuns } from "../../tests/oracle/ir-acceptor.ts";
import type { Constraint } from "../generation/answer.ts";
import type { Request } from "../generation/request.ts";
import { constrain, grammarOf } from "./constrain.ts";
import type { Dialect } from "./dialect.ts";
import { hermes } from "./hermes.ts";

/** An answer as it is read. */
function read(dialect: Dialect, text: string, overrides: Partial<Request> = {}): string {
  const runs = channelRuns(irOf(dialect, { toolStrict: "off", ...overrides }), output(text));
  if (runs === undefined) throw new Error(`not taken: ${text}`);
  return asRead(runs);
}

describe.each(tolerantCases.map(([dialect, texts]) => [dialect.name, dialect, texts] as const))(
  "%s",
  (_, dialect, texts) => {
    test.each(texts.map(([said, expected]) => [said, expected] as const))("%j", (said, expected) => {
      expect(read(dialect, said)).toBe(expected);
      // As tokens of their own, markers may be looked for by their id, and text still shows them.
      const ir = irOf(dialect, { toolStrict: "off" });
      const tokens = ["<tool_call>", "[TOOL_CALLS]", "<|python_tag|>"];
      expect(accepts(ir, output(said, tokens))).toBe(true);
    });
  },
);

test("custom tools with free text are read with their one argument", () => {
  const custom = { ...tool("run"), custom: { format: undefined } };
  const call = (given: string) => `<tool_call>{"name": "run", "arguments": ${given}}</tool_call>`;
  expect(read(hermes, call('{"input": "ls"}'), { tools: [custom, weather] })).toBe('⟨run {"input": "ls"}⟩');
  expect(read(hermes, call('{"command": "ls"}'), { tools: [custom, weather] })).toBe(call('{"command": "ls"}'));
});

test("at most one call where there may be one", () => {
  const call = '<tool_call>{"name": "get", "arguments": {}}</tool_call>';
  expect(read(hermes, call + call, { parallelCalls: false })).toBe(`⟨get {}⟩${call}`);
  expect(read(hermes, `<tool_call>{}${call}`, { parallelCalls: false })).toBe("<tool_call>{}⟨get {}⟩");
});

test("thoughts are told from the rest, and never read", () => {
  const call = '<tool_call>{"name": "get", "arguments": {}}</tool_call>';
  const thoughts = { open: "<think>", close: "</think>", begun: false };
  const built = grammarOf(request({ toolStrict: "off" }), { dialect: hermes, tokenizer, callsMax: 3, thoughts });
  if (!built.ok || built.value.ir === undefined) throw new Error("no grammar");
  expect(channelRuns(built.value.ir, output(`<think>${call}</think>a<think>b</think>${call}<think>c`))).toEqual([
    ["markup", "<think>"],
    ["reasoning", call],
    ["markup", "</think>"],
    ["text", "a"],
    ["markup", "<think>"],
    ["reasoning", "b"],
    ["markup", '</think><tool_call>{"name": "'],
    ["call_name", "get"],
    ["markup", '", "arguments": '],
    ["argument_json", "{}"],
    ["markup", "}</tool_call><think>"],
    ["reasoning", "c"],
  ]);
});

describe("off is for calls that nothing pins", () => {
  const format = { kind: "json_object" } as const;
  const grammar = { syntax: "regex", text: "[a-z]+" } as const;
  const custom = { ...tool("run"), custom: { format: grammar } };
  test.each<[name: string, overrides: Partial<Request>, constraint: Constraint, broken: boolean]>([
    ["auto", {}, "none", true],
    ["allowed", { toolChoice: { mode: "allowed", force: false, names: ["get"] } }, "none", true],
    ["none", { toolChoice: { mode: "none" } }, "triggered", false],
    ["required", { toolChoice: { mode: "required" } }, "enforced", false],
    ["named", { toolChoice: { mode: "named", name: "get" } }, "enforced", false],
    ["a strict tool", { tools: [...tools, { ...tool("f", { type: "object" }), strict: true }] }, "triggered", false],
    [
      "a strict tool that may not be called",
      {
        tools: [...tools, { ...tool("f"), strict: true }],
        toolChoice: { mode: "allowed", force: false, names: ["get"] },
      },
      "none",
      true,
    ],
    ["a grammar", { tools: [...tools, custom] }, "triggered", false],
    ["a format", { answer: format }, "enforced", false],
  ])("%s", (_, overrides, constraint, broken) => {
    for (const toolStrict of ["off", undefined] as const) {
      const context = { dialect: hermes, tokenizer, callsMax: 3, toolStrict: "off" } as const;
      const asked = request({ toolStrict, ...overrides });
      const built = grammarOf(asked, context);
      if (!built.ok || built.value.ir === undefined) throw new Error(JSON.stringify(built));
      const text = "<tool_call>{]</tool_call>";
      expect([built.value.constraint, accepts(built.value.ir, output(text))]).toEqual([constraint, broken]);
    }
  });

  test("a schema that could not be enforced is not looked at", () => {
    const bad = tool("bad", { properties: { a: { uniqueItems: true } } });
    const context = { dialect: hermes, tokenizer, callsMax: 3 };
    expect(constrain(request({ tools: [bad], toolStrict: "off" }), context).ok).toBe(true);
    expect(constrain(request({ tools: [bad], toolStrict: "schema" }), context).ok).toBe(false);
  });
});
