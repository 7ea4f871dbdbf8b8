import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type OpenAI from "openai";
import { checkedClient } from "./fixtures/checked-openai.ts";
import { noiseServers } from "./fixtures/noise-servers.ts";
import { oneOf, seededRandom } from "./fixtures/random.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

/** Tools that take raw input, beside one that takes arguments, over logits drawn at random. */

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
const servers = vocabulary === undefined ? [] : noiseServers(vocabulary);
if (servers.length === 0) console.log("skipped: custom calls over noise need the default model and the shared data");
setDefaultTimeout(300_000);

const plain = { type: "custom", custom: { name: "run" } } as const;
const limited = {
  type: "custom",
  custom: {
    name: "count",
    format: { type: "grammar", grammar: { syntax: "regex", definition: "[1-9][0-9]{0,8}( (one|two)){1,3}" } },
  },
} as const;
const lark = {
  type: "custom",
  custom: {
    name: "sum",
    format: {
      type: "grammar",
      grammar: { syntax: "lark", definition: 'start: NUMBER (" + " NUMBER)~1..3\nNUMBER: /[1-9][0-9]?/\n' },
    },
  },
} as const;
const city = {
  type: "object",
  properties: { city: { type: "string", maxLength: 9 } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { type: "function", function: { name: "weather", parameters: city } } as const;
const tools: OpenAI.ChatCompletionTool[] = [plain, limited, lark, weather];
const named = (name: string) => ({ type: "custom", custom: { name } }) as const;
const choices: readonly OpenAI.ChatCompletionToolChoiceOption[] = [
  "auto",
  "required",
  named("run"),
  named("count"),
  named("sum"),
];

describe.each(servers)("$dialect, $shape", ({ dialect, flags }) => {
  let tenon: Awaited<ReturnType<typeof startTenon>>;
  let checked: ReturnType<typeof checkedClient>;
  beforeAll(async () => {
    tenon = await startTenon(flags);
    checked = checkedClient(tenon.server.url);
  });
  afterAll(() => tenon?.stop(0));

  test("every call is whole, streamed and not", async () => {
    const random = seededRandom();
    for (let round = 0; round < 12; round++) {
      const asked = {
        model: "any",
        messages: [{ role: "user", content: "Go on." } as const],
        tools,
        tool_choice: oneOf(random, choices),
        parallel_tool_calls: random(2) === 0,
        temperature: oneOf(random, [0, 1, 2]),
        seed: random(2 ** 31),
        max_tokens: 40 + random(100),
      };
      const { client } = checked;
      const [whole, streamed] = await Promise.all([
        client.chat.completions.create(asked),
        client.chat.completions.stream(asked).finalChatCompletion(),
      ]);
      const [answer] = whole.choices;
      expect(bare(streamed.choices[0]?.message)).toEqual(bare(answer?.message));
      const calls = answer?.message.tool_calls ?? [];
      expect([asked, calls.flatMap((call) => faultsOf(call, dialect))]).toEqual([asked, []]);
      if (asked.tool_choice === "auto") continue;
      expect(answer?.finish_reason).toBe("tool_calls");
      expect(calls.length).toBeGreaterThan(0);
      if (typeof asked.tool_choice !== "string" || !asked.parallel_tool_calls) expect(calls.length).toBe(1);
      if (asked.tool_choice !== "required") expect([asked.tool_choice]).toEqual([named(nameOf(calls[0]))]);
    }
    expect(await checked.faults()).toEqual([]);
  });
});

type Call = OpenAI.ChatCompletionMessageToolCall;

/** Without what is drawn anew for each answer. */
function bare(message: OpenAI.ChatCompletionMessage | undefined) {
  const calls = message?.tool_calls ?? [];
  return [message?.content ?? "", calls.map((call) => (call.type === "custom" ? call.custom : call.function))];
}

function nameOf(call: Call | undefined): string {
  return call?.type === "custom" ? call.custom.name : (call?.function.name ?? "");
}

const inputs: Readonly<Record<string, RegExp>> = {
  run: /^/,
  count: /^[1-9]\d{0,8}( (one|two)){1,3}$/,
  sum: /^[1-9]\d?( \+ [1-9]\d?){1,3}$/,
};

function faultsOf(call: Call, dialect: string): readonly string[] {
  if (call.type === "function") {
    const given: unknown = JSON.parse(call.function.arguments);
    const fits = typeof given === "object" && given !== null && "city" in given && Object.keys(given).length === 1;
    return fits && call.function.name === "weather" ? [] : [JSON.stringify(call)];
  }
  const { name, input } = call.custom;
  const fits = inputs[name]?.test(input) ?? false;
  const ends = dialect === "hermes" && input.includes("</tool_call>");
  return fits && !ends && input.isWellFormed() ? [] : [JSON.stringify(call)];
}
