import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type OpenAI from "openai";
import { checkedClient } from "./fixtures/checked-openai.ts";
import { oneOf, seededRandom } from "./fixtures/random.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";
import { sharedData } from "./fixtures/shared.ts";

/** Models that think before they answer, over logits drawn at random and pulled towards the tags of thoughts and towards calls. */

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
const templates = ["Qwen-Qwen3-0.6B", "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "ByteDance-Seed-OSS"] as const;
const paths = templates.map((name) => sharedData(`chat-templates/${name}.jinja`));
const absent = vocabulary === undefined || paths.includes(undefined);
if (absent) console.log("skipped: thoughts over noise need the default model and the shared data");
setDefaultTimeout(300_000);

const city = {
  type: "object",
  properties: { city: { type: "string", maxLength: 9 } },
  required: ["city"],
  additionalProperties: false,
};
const tools: OpenAI.ChatCompletionTool[] = [{ type: "function", function: { name: "weather", parameters: city } }];
const format = { type: "json_schema", json_schema: { name: "city", schema: city } } as const;
const kinds = [
  {},
  { tools },
  { tools, tool_choice: "none" },
  { tools, tool_choice: "required" },
  { response_format: format },
] as const;

describe.skipIf(absent).each(templates)(
  "%s (skipped without the default model's file or the shared data)",
  (template) => {
    let tenon: Awaited<ReturnType<typeof startTenon>>;
    let checked: ReturnType<typeof checkedClient>;
    beforeAll(async () => {
      const path = sharedData(`chat-templates/${template}.jinja`) ?? "";
      tenon = await startTenon([
        "-m",
        "noise",
        "--vocabulary",
        vocabulary ?? "",
        "--chat-template",
        path,
        "--seed",
        "3",
      ]);
      checked = checkedClient(tenon.server.url);
    });
    afterAll(() => tenon?.stop(0));

    test("thoughts are told from what is said, whatever is asked for", async () => {
      const random = seededRandom();
      let thoughts = 0;
      for (let round = 0; round < 30; round++) {
        const asked = {
          model: "any",
          messages: [{ role: "user", content: `Go on${" and on".repeat(random(20))}.` } as const],
          ...oneOf(random, kinds),
          temperature: oneOf(random, [0.5, 1, 2]),
          seed: random(2 ** 31),
          max_tokens: 60 + random(100),
        };
        const { client } = checked;
        const [whole, streamed] = await Promise.all([
          client.chat.completions.create(asked),
          streamedAnswer(client.chat.completions.stream(asked)),
        ]);
        const message = said(whole.choices[0]?.message);
        expect(streamed).toEqual(message);
        if (message.reasoning !== "") thoughts++;
        // A string of JSON may hold a tag like any other text: beside it, parsing would fail.
        if ("response_format" in asked) expect(Object.keys(JSON.parse(message.content))).toEqual(["city"]);
        // The end of a thought that was never begun is text like any other.
        else expect([asked, /<(seed:)?think>/.test(message.content)]).toEqual([asked, false]);
        if ("tool_choice" in asked) {
          expect([message.content === "", message.calls.length > 0]).toEqual(
            asked.tool_choice === "required" ? [true, true] : [expect.any(Boolean), false],
          );
        }
        for (const given of message.calls) expect(Object.keys(JSON.parse(given))).toEqual(["city"]);
      }
      expect(thoughts).toBeGreaterThan(3);
      expect(await checked.faults()).toEqual([]);
    });

    test("a budget ends them", async () => {
      let longest = 0;
      for (let seed = 0; seed < 20; seed++) {
        // What noise likes to say depends on the position, so prompts have many lengths.
        const content = `Go on${" and on".repeat(seed)}.`;
        const asked = {
          model: "any",
          messages: [{ role: "user", content } as const],
          max_tokens: 90,
          seed,
          tools,
        };
        const budget = { thinking_budget_tokens: 6, tool_choice: "required" } as const;
        const { choices, usage } = await checked.client.chat.completions.create({ ...asked, ...budget });
        if (said(choices[0]?.message).reasoning === "") continue;
        longest = Math.max(longest, usage?.completion_tokens_details?.reasoning_tokens ?? 0);
      }
      expect(longest).toBeGreaterThan(0);
      // The last token may have to finish a code point.
      expect(longest).toBeLessThanOrEqual(8);
      expect(await checked.faults()).toEqual([]);
    });
  },
);

/** The client's accumulator knows no thoughts: they are put together here. */
async function streamedAnswer(stream: ReturnType<OpenAI["chat"]["completions"]["stream"]>) {
  let reasoning = "";
  for await (const { choices } of stream) reasoning += thought(choices[0]?.delta);
  return { ...said((await stream.finalChatCompletion()).choices[0]?.message), reasoning };
}

function thought(said: object | undefined): string {
  return said !== undefined && "reasoning_content" in said ? String(said.reasoning_content) : "";
}

function said(message: OpenAI.ChatCompletionMessage | undefined) {
  const reasoning = thought(message);
  const calls = (message?.tool_calls ?? []).map((call) => (call.type === "function" ? call.function.arguments : ""));
  return { content: message?.content ?? "", reasoning, calls };
}
