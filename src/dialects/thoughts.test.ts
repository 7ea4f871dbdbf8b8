import { describe, expect, test } from "bun:test";
import { output, tokenizer, tool } from "../../tests/fixtures/dialect-cases.ts";
import { accepts, channelRuns } from "../../tests/oracle/ir-acceptor.ts";
import type { Request } from "../generation/request.ts";
import { requestWith } from "../generation/request-fixture.ts";
import { grammarOf } from "./constrain.ts";
import type { RenderProbe } from "./detect.ts";
import { hermes } from "./hermes.ts";
import { llama3Json } from "./llama3-json.ts";
import { mistralNemo } from "./mistral-nemo.ts";
import { detectThoughts, type Thoughts, thoughtsOf } from "./thoughts.ts";

const tags = { open: "<think>", close: "</think>" };
const fresh: Thoughts = { ...tags, begun: false };
const begun: Thoughts = { ...tags, begun: true };
const call = '<tool_call>\n{"name": "get", "arguments": {}}\n</tool_call>';
const tools = [tool("get")];
const required = { tools, toolChoice: { mode: "required" } } as const;
const format = { answer: { kind: "json_object" } } as const;

function built(overrides: Partial<Request>, thoughts: Thoughts, dialect = hermes) {
  const grammar = grammarOf(requestWith(overrides), { dialect, tokenizer, callsMax: 3, thoughts });
  if (!grammar.ok || grammar.value.ir === undefined) throw new Error("no grammar");
  return { constraint: grammar.value.constraint, ir: grammar.value.ir };
}

/** Which of these texts an answer may be. */
function accepted(overrides: Partial<Request>, thoughts: Thoughts, texts: readonly string[], dialect = hermes) {
  const { ir } = built(overrides, thoughts, dialect);
  return texts.filter((text) => accepts(ir, output(text)));
}

test("text without any constraint may be anything, and thoughts are told from it", () => {
  const { ir, constraint } = built({}, fresh);
  expect(constraint).toBe("none");
  const texts = [
    "",
    "Hm.",
    "<think>",
    "<think>so",
    "<think>so</think>Yes.",
    "a <thi",
    "a<think>b</think>c<think>",
    "</think>",
  ];
  expect(texts.filter((text) => accepts(ir, output(text)))).toEqual(texts);
  expect(channelRuns(ir, output("<think>\nso <b>\n</think>\n\nYes.\n<think>hm</think>No."))).toEqual([
    ["markup", "<think>\n"],
    ["reasoning", "so <b>"],
    ["markup", "\n</think>\n\n"],
    ["text", "Yes.\n"],
    ["markup", "<think>"],
    ["reasoning", "hm"],
    ["markup", "</think>"],
    ["text", "No."],
  ]);
  expect(channelRuns(ir, output("<think>cut off"))).toEqual([
    ["markup", "<think>"],
    ["reasoning", "cut off"],
  ]);
});

test("a thought that the prompt began ends first", () => {
  const { ir } = built({}, begun);
  expect(channelRuns(ir, output("\nso\n</think>\n\nYes."))).toEqual([
    ["markup", "\n"],
    ["reasoning", "so"],
    ["markup", "\n</think>\n\n"],
    ["text", "Yes."],
  ]);
  expect(channelRuns(ir, output("never ends"))).toEqual([["reasoning", "never ends"]]);
});

describe("before what has to come", () => {
  const cases: readonly (readonly [Partial<Request>, string, string])[] = [
    [required, call, "Hm."],
    [format, "{}", "Hm."],
    [{ ...format, tools }, call, "Hm."],
  ];
  test.each(cases)("%j", (overrides, answer, other) => {
    const thought = `<think>\nShould I? ${call}\n</think>\n\n`;
    const texts = [answer, thought + answer, `<think></think>${answer}`];
    const wrong = [other, thought, thought + other, `<think>${answer}`, thought + thought + answer];
    expect(accepted(overrides, fresh, [...texts, ...wrong])).toEqual(texts);
    expect(accepted(overrides, begun, [answer, `so\n</think>\n\n${answer}`, "so", `</think>${answer}`])).toEqual([
      `so\n</think>\n\n${answer}`,
      `</think>${answer}`,
    ]);
  });
});

test("under auto a call inside a thought is none, and one after it is", () => {
  const { ir, constraint } = built({ tools }, fresh);
  expect(constraint).toBe("triggered");
  expect(channelRuns(ir, output(`<think>\n${call}\n</think>\n\nSo:\n${call}<think>no`))).toEqual([
    ["markup", "<think>\n"],
    ["reasoning", call],
    ["markup", "\n</think>\n\n"],
    ["text", "So:"],
    ["markup", '\n<tool_call>\n{"name": "'],
    ["call_name", "get"],
    ["markup", '", "arguments": '],
    ["argument_json", "{}"],
    ["markup", "}\n</tool_call><think>"],
    ["reasoning", "no"],
  ]);
});

test("in every dialect, with calls, and where none may be written", () => {
  const thought = "<think>a</think>";
  const calls = [
    [hermes, call],
    [mistralNemo, '[TOOL_CALLS][{"name": "get", "arguments": {}}]'],
    [llama3Json, '{"name": "get", "parameters": {}}'],
  ] as const;
  for (const [dialect, written] of calls) {
    const texts = [written, thought + written, `${thought}Hm.`];
    expect(accepted(required, fresh, texts, dialect)).toEqual([written, thought + written]);
    const none = { tools, toolChoice: { mode: "none" } } as const;
    expect(accepted(none, fresh, [`${thought}Hm.`, "Hm."], dialect)).toEqual([`${thought}Hm.`, "Hm."]);
  }
  expect(
    accepted({ tools, toolChoice: { mode: "none" } }, fresh, [`<think>${call}</think>`, `${thought}${call}`]),
  ).toEqual([`<think>${call}</think>`]);
});

test("whether there are thoughts depends on the request and its prompt", () => {
  const asked = requestWith({});
  const off = requestWith({ templateVariables: { enable_thinking: false } });
  expect(thoughtsOf(undefined, asked, "")).toBeUndefined();
  expect(thoughtsOf(tags, requestWith({ prompt: "Once <think>" }), "Once <think>")).toBeUndefined();
  expect(thoughtsOf(tags, asked, "<assistant>")).toEqual(fresh);
  expect(thoughtsOf(tags, asked, "<assistant><think>\n")).toEqual(begun);
  expect(thoughtsOf(tags, off, "<assistant><think>\n\n</think>\n\n")).toBeUndefined();
  expect(thoughtsOf(tags, off, "<assistant><think>\n")).toEqual(begun);
});

test("detection takes pairs of tags, as the history shows them or the source names them", () => {
  const shows =
    (text: string): RenderProbe =>
    () =>
      text;
  expect(detectThoughts(shows("a<seed:think>probe_thought</seed:think>\nprobe_answer"), "")).toEqual({
    open: "<seed:think>",
    close: "</seed:think>",
  });
  expect(detectThoughts(shows("<|START_THINKING|>probe_thought<|END_THINKING|>"), "")).toEqual({
    open: "<|START_THINKING|>",
    close: "<|END_THINKING|>",
  });
  expect(
    detectThoughts(shows("<|channel|>analysis<|message|>probe_thought<|end|>"), "<think></think>"),
  ).toBeUndefined();
  expect(detectThoughts(shows("probe_answer"), "{{ content.split('</think>')[-1] }}<think>")).toEqual(tags);
  expect(detectThoughts(shows("probe_answer"), "no thoughts")).toBeUndefined();
});
