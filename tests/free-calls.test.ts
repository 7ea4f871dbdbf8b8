import { describe, expect, test } from "bun:test";
import { faultOfCalls } from "./fixtures/forced-calls.ts";
import { callBegin, cases, openModel, say, shortestCall, unconstrained } from "./fixtures/free-calls.ts";
import { noiseServers } from "./fixtures/noise-servers.ts";
import { modelPath } from "./fixtures/running.ts";
import { sharedData } from "./fixtures/shared.ts";

// Answers in which a call may come, and need not: noise that likes to begin calls, with and without the constraint.

const seeds = Array.from({ length: 32 }, (_, seed) => seed);
const tokensMax = 160;
const timeoutMs = 300_000;

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
const servers = vocabulary === undefined ? [] : noiseServers(vocabulary).filter(({ shape }) => shape === "pulled");
const skipped = vocabulary === undefined || sharedData("chat-templates") === undefined;

describe.skipIf(skipped)("skipped without the default model's file or the shared data", () => {
  test.each(servers)(
    "$dialect, auto: calls are valid, and the text before them is what the model says by itself",
    async ({ dialect, flags }) => {
      using model = await openModel(flags);
      const limit = tokensMax - shortestCall(model.model);
      let withCall = 0;
      for (const seed of seeds) {
        const said = await say(model.model, { seed, max_tokens: tokensMax });
        expect(faultOfCalls(cases, said.calls)).toBeUndefined();
        if (said.calls.length > 0) withCall++;
        const free = await say(unconstrained(model.model), { seed, max_tokens: limit });
        const begin = callBegin(dialect, free.before);
        if (begin === undefined) {
          // Nothing was masked as far as the free answer goes.
          expect(said.before).toStartWith(free.before.replace(/\uFFFD$/, ""));
          if (free.finish === "stop") expect(said).toEqual(free);
        } else {
          expect(said.calls.length).toBeGreaterThan(0);
          // Around a marker one line break belongs to it, and where the answer has to begin with the call, all space.
          const before = free.before.slice(0, begin);
          const lines = dialect === "hermes" ? [before, before.replace(/\n$/, "")] : [before, before.trimStart()];
          expect(lines).toContain(said.before);
        }
      }
      console.log(`${dialect}: ${withCall} of ${seeds.length} answers have a call`);
      expect(withCall).toBeGreaterThanOrEqual(seeds.length / 4);
    },
    timeoutMs,
  );

  test.each(servers)(
    "$dialect, none: no call begins, and text without one is untouched",
    async ({ dialect, flags }) => {
      using model = await openModel(flags);
      for (const seed of seeds) {
        const said = await say(model.model, { seed, max_tokens: tokensMax, tool_choice: "none" });
        expect(said.calls).toEqual([]);
        expect(callBegin(dialect, said.before)).toBeUndefined();
        const free = await say(unconstrained(model.model), { seed, max_tokens: tokensMax, tool_choice: "none" });
        if (callBegin(dialect, free.before) === undefined) expect(said).toEqual(free);
      }
    },
    timeoutMs,
  );

  test.each(servers)(
    "$dialect, narrowed: at most one call, of the allowed tools only",
    async ({ flags }) => {
      using model = await openModel(flags);
      const tools = [{ type: "function", function: { name: "find_all" } }];
      const narrowed = {
        max_tokens: tokensMax,
        parallel_tool_calls: false,
        tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools } },
      };
      for (const seed of seeds) {
        const { calls } = await say(model.model, { ...narrowed, seed });
        expect(calls.length).toBeLessThanOrEqual(1);
        expect(faultOfCalls(cases.slice(1, 2), calls)).toBeUndefined();
      }
    },
    timeoutMs,
  );
});
