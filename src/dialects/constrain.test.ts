import { describe, expect, test } from "bun:test";
import { check, irOf, output, request, tokenizer, tool, weather } from "../../tests/fixtures/dialect-cases.ts";
import { accepts, channelRuns } from "../../tests/oracle/ir-acceptor.ts";
import type { Constraint } from "../generation/answer.ts";
import type { Failure } from "../generation/failure.ts";
import type { GrammarSource } from "../generation/grammar-source.ts";
import type { Request } from "../generation/request.ts";
import { constrain, grammarOf } from "./constrain.ts";
import { hermes } from "./hermes.ts";
import { llama3Json } from "./llama3-json.ts";
import { mistralNemo } from "./mistral-nemo.ts";

const required = { mode: "required" } as const;
const auto = { mode: "auto" } as const;
const none = { mode: "none" } as const;
const answer = {
  kind: "json_schema",
  schema: '{"type":"object","properties":{"a":{"type":"null"}}}',
  param: "format",
} as const;

describe("hermes", () => {
  const call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>';
  const time = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>';
  check(hermes, [
    [
      required,
      [
        call,
        '<tool_call>{"name":"get_time","arguments":{}}</tool_call>',
        '<tool_call>\n{ "name" : "get" , "arguments" : {} }\n</tool_call>',
        `${call}\n${time}`,
        `${call}${time}${time}`,
      ],
      [
        "",
        "Sure.",
        `Sure. ${call}`,
        `${call}\n`,
        `${call} `,
        `${call}\n${time}\n${time}\n${time}`,
        '<tool_call>\n{"name": "get_tim", "arguments": {}}\n</tool_call>',
        '<tool_call>\n{"name": "get_time_zones", "arguments": {}}\n</tool_call>',
        '<tool_call>\n{"name": "get_time", "arguments": {"city": "Paris"}}\n</tool_call>',
        '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>',
        '<tool_call>\n{"arguments": {}, "name": "get"}\n</tool_call>',
        '<tool_call>\n{"name": "get", "arguments": "{}"}\n</tool_call>',
        '<tool_call>\n\n{"name": "get", "arguments": {}}\n</tool_call>',
      ],
    ],
    [{ mode: "named", name: "get_time" }, [time], [call, `${time}\n${time}`]],
    [{ mode: "allowed", force: true, names: ["get", "get_time"] }, [time, `${time}\n${time}`], [call, "Hm."]],
    [{ mode: "allowed", force: false, names: ["get_time"] }, [time, "Hm."], [call]],
    [{ toolChoice: required, parallelCalls: false }, [call], [`${call}\n${time}`]],
    [{ toolChoice: auto, parallelCalls: false }, ["Hm.", call, `${call} Done.`], [`${call}\n${time}`]],
    [
      auto,
      ["", "Hm. <tool", "Hm.<|other|>", call, `Let me see.\n${call}\n${time} Done.`, "</tool_call>"],
      ["<tool_call>", `${call}<tool_call>`, "Hm. <tool_call>{}</tool_call>", call.replace("get_weather", "get_wind")],
    ],
    [none, ["", "Hm. <tool_call", "{}"], ["<tool_call>", `Hm. ${call}`]],
    [{ answer }, [call, '{"a": null}', "{}"], ["Hm.", `{}${call}`, `${call}{}`, '{"b": 1}']],
    [{ answer, toolChoice: none }, ['{"a": null}'], ["Hm.", call]],
    [{ answer: { kind: "json_object" }, toolChoice: none }, ['{"x": [1]}'], ["[1]", "Hm."]],
    [{ answer: { kind: "json_object" }, tools: [] }, ['{"x": [1]}'], ["[1]", "Hm."]],
  ]);

  test("every byte has its channel", () => {
    const runs = channelRuns(irOf(hermes, {}), output(`Let me see.\n${call}\n${time}\n\nDone.`));
    expect(runs).toEqual([
      ["text", "Let me see."],
      ["markup", '\n<tool_call>\n{"name": "'],
      ["call_name", "get_weather"],
      ["markup", '", "arguments": '],
      ["argument_json", '{"city": "Paris"}'],
      ["markup", '}\n</tool_call>\n<tool_call>\n{"name": "'],
      ["call_name", "get_time"],
      ["markup", '", "arguments": '],
      ["argument_json", "{}"],
      ["markup", "}\n</tool_call>\n"],
      ["text", "\nDone."],
    ]);
  });

  test("names that begin alike share their beginning", () => {
    const ir = irOf(hermes, { toolChoice: required });
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    const channels = ir.nodes.flatMap((node) =>
      node.kind === "channel" && node.channel === "call_name" ? [node.item] : [],
    );
    const edges = channels
      .map((id) => ir.nodes[id])
      .map((node) => (node?.kind === "bytes" ? text(node.bytes) : undefined));
    expect(edges.sort()).toEqual(["_", "_zone", "get", "time", "weather"]);
  });
});

describe("mistral_nemo", () => {
  const call = '[TOOL_CALLS][{"name": "get_time", "arguments": {}}]';
  const two = '[TOOL_CALLS] [{"name": "get_time", "arguments": {}}, {"name":"get","arguments":{}}]';
  check(mistralNemo, [
    [required, [call, two], ["", "[TOOL_CALLS][]", `${call}${call}`, `Hm. ${call}`, `${call}!`, "[TOOL_CALLS]["]],
    [{ mode: "named", name: "get_time" }, [call], [two]],
    [auto, ["", "Hm.", "[TOOL_CALL", call, `Hm.${two}`], ["[TOOL_CALLS]", `${call} Done.`, "[TOOL_CALLS] Hm."]],
    [none, ["Hm. [TOOL_CALL"], [call, "[TOOL_CALLS]"]],
    [{ answer }, [call, "{}"], ["Hm.", `{}${call}`]],
  ]);

  test("every byte has its channel", () => {
    expect(channelRuns(irOf(mistralNemo, {}), output(`Hm.${two}`, ["[TOOL_CALLS]"]))).toEqual([
      ["text", "Hm."],
      ["markup", ' [{"name": "'],
      ["call_name", "get_time"],
      ["markup", '", "arguments": '],
      ["argument_json", "{}"],
      ["markup", '}, {"name":"'],
      ["call_name", "get"],
      ["markup", '","arguments":'],
      ["argument_json", "{}"],
      ["markup", "}]"],
    ]);
  });
});

describe("llama3_json", () => {
  const call = '{"name": "get_time", "parameters": {}}';
  check(llama3Json, [
    [required, [call, `<|python_tag|>${call}`], ["", "Hm.", `${call}; ${call}`, ` ${call}`, '{"name": "get_time"']],
    [{ mode: "named", name: "get" }, ['{"name":"get","parameters":{}}'], [call]],
    [
      auto,
      [
        "",
        "Hm.",
        call,
        `\n ${call}`,
        '{"name": "get_t',
        '{"name": "get_tim", "parameters": 1',
        '{"name": "get_times"}',
        '{ "name"  : "get_time"',
        `Hm. ${call} and more`,
        `Hm. <|python_tag|>${call}`,
        "<|other|>Hm.",
        "{}",
      ],
      ['{"name": "get_time"', ' {"name":"get_time", "x": 1}', `${call} and more`, "<|python_tag|>Hm."],
    ],
    [none, ["", "Hm.", ' {"name": "get_tim', `Hm. ${call}`], [call, ` ${call}`, '{ "name" : "get"', "<|python_tag|>"]],
    [{ answer }, [call, "{}", '{"a": null}'], ["Hm.", '{"name": "get_time"}']],
  ]);

  test("every byte has its channel", () => {
    const markup = ['\n{"name": "', '", "parameters": ', "}"];
    expect(channelRuns(irOf(llama3Json, {}), output(`\n${call}`))).toEqual([
      ["markup", markup[0] ?? ""],
      ["call_name", "get_time"],
      ["markup", markup[1] ?? ""],
      ["argument_json", "{}"],
      ["markup", markup[2] ?? ""],
    ]);
    expect(channelRuns(irOf(llama3Json, {}), output("\nHm."))).toEqual([["text", "\nHm."]]);
  });
});

describe("constrain", () => {
  const context = { dialect: hermes, tokenizer, callsMax: 16 };
  test.each<[overrides: Partial<Request>, constraint: Constraint, hasGrammar: boolean]>([
    [{ tools: [] }, "none", false],
    [{ tools: [], toolChoice: none }, "none", false],
    [{ toolChoice: none }, "triggered", true],
    [{}, "triggered", true],
    [{ toolChoice: required }, "enforced", true],
    [{ answer }, "enforced", true],
    [{ tools: [], answer }, "enforced", true],
  ])("%j is %s", (overrides, constraint, hasGrammar) => {
    const result = constrain(request(overrides), context);
    if (!result.ok) throw new Error(JSON.stringify(result.failure));
    expect([result.value.constraint, result.value.ir !== undefined]).toEqual([constraint, hasGrammar]);
    expect(result.value.stopTokens).toEqual([7]);
  });

  const bad = tool("bad", { properties: { a: { uniqueItems: true } } });
  test.each<[name: string, overrides: Partial<Request>, failure: Failure]>([
    [
      "a schema",
      { tools: [weather, bad] },
      {
        kind: "constraint",
        message:
          "Invalid schema for function 'bad': 'uniqueItems' at '/properties/a' is enforced only where every item is a scalar.",
        param: "tools[bad]",
        pointer: "/properties/a",
        keyword: "uniqueItems",
      },
    ],
    [
      "a schema that takes no object",
      { tools: [tool("t", { type: "string" })] },
      {
        kind: "constraint",
        message: "Invalid schema for function 't': the schema accepts no value at all.",
        param: "tools[t]",
        pointer: "",
        keyword: "",
      },
    ],
    [
      "a format",
      { answer: { kind: "json_schema", schema: "[", param: "f" } },
      {
        kind: "constraint",
        message: "Invalid schema: the schema is no JSON: a value was expected, line 1 column 2.",
        param: "f",
        pointer: "",
        keyword: "",
      },
    ],
    [
      "a grammar",
      { answer: { kind: "grammar", source: { syntax: "gbnf", text: "root ::= x" }, param: "grammar" } },
      {
        kind: "constraint",
        message: "Invalid gbnf grammar: 'x' at '1:10' is a rule that is not defined.",
        syntax: "gbnf",
        param: "grammar",
        pointer: "1:10",
        keyword: "x",
      },
    ],
  ])("refuses %s", (_, overrides, failure) => {
    const result = constrain(request(overrides), context);
    expect(result.ok ? "accepted" : result.failure).toEqual(failure);
  });

  test("looks only at tools that may be called", () => {
    const choice = { mode: "named", name: "get_weather" } as const;
    expect(constrain(request({ tools: [weather, bad], toolChoice: choice }), context).ok).toBe(true);
    expect(constrain(request({ tools: [bad], toolChoice: none }), context).ok).toBe(true);
  });

  test("widens what cannot be enforced where the request allows it, and says where", () => {
    const pattern = { type: "object", properties: { a: { type: "string", pattern: "(a)\\1" } } };
    const asked = { tools: [weather, tool("a", pattern)], toolChoice: required } as const;
    const policy = { ...request({}).policy, relax: true };
    expect(constrain(request(asked), context)).toMatchObject({ ok: false, failure: { pointer: "/properties/a" } });
    const widened = { value: { constraint: "enforced", relaxed: ["tools[a]#/properties/a/pattern"] } };
    expect(constrain(request({ ...asked, policy }), context)).toMatchObject(widened);
    const relaxing = { ...context, relaxTools: true };
    expect(constrain(request(asked), relaxing)).toMatchObject(widened);
    // In little time nothing is widened: what would be, has no verdict yet.
    const undecided = { ok: false, failure: { pointer: "/properties/a", exhausted: true } };
    expect(constrain(request(asked), { ...relaxing, stepsMax: 1000 })).toMatchObject(undecided);
    expect(constrain(request(asked), { ...context, stepsMax: 1000 })).not.toMatchObject(undecided);
    expect(constrain(request({ ...asked, policy: { ...policy, relax: false } }), relaxing).ok).toBe(false);
    // The server's choice is about tools; a format of the answer is relaxed by its request alone.
    const format = { kind: "json_schema", schema: JSON.stringify(pattern), param: "format" } as const;
    expect(constrain(request({ tools: [], answer: format }), relaxing).ok).toBe(false);
    expect(constrain(request({ tools: [], answer: format, policy }), context)).toMatchObject({
      value: { relaxed: ["format#/properties/a/pattern"] },
    });
  });

  test("says of what takes long to read that there was no verdict, where it has to be quick", () => {
    const schemas = [
      { pattern: `^(${"ab|".repeat(1000)})$` },
      { pattern: "\\p{L}\\p{Lu}" },
      { format: "idn-hostname" },
      { allOf: Array.from({ length: 9 }, (_, i) => ({ anyOf: [{ required: [`a${i}`] }, { minProperties: i }] })) },
    ];
    const format = (source: GrammarSource) => ({ tools: [], answer: { kind: "grammar", source, param: "f" } }) as const;
    for (const schema of schemas.map((each) => JSON.stringify(each))) {
      const tag = `{"format": {"type": "json_schema", "json_schema": ${schema}}}`;
      const asked = [
        { tools: [], answer: { kind: "json_schema", schema, param: "format" } } as const,
        format({ syntax: "lark", text: `start: %json ${schema}` }),
        format({ syntax: "structural_tag", text: tag }),
      ];
      for (const each of asked) {
        expect(constrain(request(each), { ...context, stepsMax: 300 })).toMatchObject({ failure: { exhausted: true } });
        expect(constrain(request(each), context).ok).toBe(true);
      }
    }
  });

  test("leaves arguments open at the level of envelopes, but not of strict tools or forced calls", () => {
    const fits = (overrides: Partial<Request>, given: string) => {
      const built = grammarOf(request({ tools: [weather], toolStrict: "envelope", ...overrides }), context);
      if (!built.ok || built.value.ir === undefined) throw new Error(JSON.stringify(built));
      return accepts(
        built.value.ir,
        output(`<tool_call>\n{"name": "get_weather", "arguments": ${given}}\n</tool_call>`),
      );
    };
    expect([fits({}, '{"x": 1}'), fits({}, "[]"), fits({ toolStrict: "schema" }, '{"x": 1}')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(fits({ tools: [{ ...weather, strict: true }] }, '{"x": 1}')).toBe(false);
    expect(fits({ toolChoice: required }, '{"x": 1}')).toBe(false);
  });

  test("tells a failure to compile about the schema it comes from", () => {
    const result = grammarOf(request({ tools: [tool("a", {}), weather] }), context);
    const constrained = constrain(request({ tools: [tool("a", {}), weather] }), context);
    if (!result.ok || result.value.ir === undefined || !constrained.ok) throw new Error("refused");
    const places = result.value.sources.flatMap(({ subject, places }) => places.map((place) => [subject, place]));
    for (const { origin } of result.value.ir.values) {
      const failure = constrained.value.failureOf({ message: "is wrong", origin });
      const [subject, pointer] = places[origin] ?? [];
      expect(failure).toMatchObject({ kind: "constraint", param: `tools[${subject}]`, pointer });
    }
    expect(places).toContainEqual(["get_weather", "/properties/city"]);
  });

  test("tells a failure to compile a grammar about that grammar", () => {
    const source = { syntax: "regex", text: "a+" } as const;
    const constrained = constrain(request({ tools: [], answer: { kind: "grammar", source, param: "regex" } }), context);
    if (!constrained.ok) throw new Error("refused");
    expect(constrained.value.failureOf({ message: "too large", origin: undefined })).toMatchObject({
      message: "Invalid regex grammar: it cannot be compiled: too large.",
      syntax: "regex",
      param: "regex",
    });
  });
});
