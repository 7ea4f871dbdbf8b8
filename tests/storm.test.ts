import { expect, test } from "bun:test";
import { seededRandom } from "./fixtures/random.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (vocabulary === undefined) console.log("skipped: the storm needs the vocabulary of SmolLM2 in the models folder");

test.skipIf(vocabulary === undefined)(
  "two hundred at once, a third of them leaving: the others are right, and nothing stays behind",
  async () => {
    const tenon = await startTenon(["-m", "noise", "--vocabulary", vocabulary ?? "", "--slots", "8"]);
    const { engine } = tenon.loaded.model;
    const random = seededRandom();
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, seed) =>
        ask(tenon.server.url, seed, { leaves: random(3) === 0, stream: random(2) === 0 }),
      ),
    );
    expect(new Set(outcomes)).toEqual(new Set(["left", "right"]));
    while (engine.stats().running + engine.stats().queued > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(engine.stats()).toMatchObject({ running: 0, queued: 0, grammars: 0, cacheBytes: 0 });
    expect(tenon.logged.filter(([level]) => level === "error")).toEqual([]);
    await tenon.stop(0);
  },
  60_000,
);

const tools = [{ type: "function", function: { name: "now" } }];

async function ask(
  server: URL,
  seed: number,
  { leaves, stream }: { leaves: boolean; stream: boolean },
): Promise<string> {
  const gone = new AbortController();
  const fields = {
    tools,
    tool_choice: "required",
    parallel_tool_calls: false,
    temperature: 1.5,
    max_tokens: 60,
    seed,
    stream,
  };
  const body = JSON.stringify({ messages: [{ role: "user", content: "What time is it?" }], ...fields });
  const pending = fetch(new URL("/v1/chat/completions", server), { method: "POST", body, signal: gone.signal });
  if (leaves) {
    if (stream) await pending;
    gone.abort();
    await pending.catch(() => undefined);
    return "left";
  }
  const response = await pending;
  const text = await response.text();
  const isRight = stream
    ? text.includes('"finish_reason":"tool_calls"') && text.endsWith("data: [DONE]\n\n")
    : isCallOfNow(JSON.parse(text).choices[0]);
  return isRight ? "right" : `${response.status} ${text}`;
}

function isCallOfNow(choice: Record<string, unknown>): boolean {
  return Bun.deepMatch(
    { finish_reason: "tool_calls", message: { tool_calls: [{ function: { name: "now" } }] } },
    choice,
  );
}
