import { expect, test } from "bun:test";
import type { Event } from "../../generation/event.ts";
import { requestWith } from "../../generation/request-fixture.ts";
import { repeated } from "./choices.ts";
import { scoredOnce, withScoredPrompts } from "./scored-prompts.ts";

const text = (said: string): Event => ({ kind: "text", text: said, logprobs: [] });
const prompt = (token: number): Event => ({
  kind: "prompt",
  tokens: [{ token, bytes: Uint8Array.of(token), logprob: undefined, top: [] }],
});

test("of the choices of a prompt one scores it", () => {
  const scores = (request: ReturnType<typeof requestWith>) =>
    repeated(request, 3)
      .map(scoredOnce)
      .map(({ scorePrompt }) => scorePrompt);
  expect(scores(requestWith({ scorePrompt: true }))).toEqual([true, false, false]);
  expect(scores(requestWith({}))).toEqual([undefined, undefined, undefined]);
});

test("every choice is told of its prompt first, and loses nothing", async () => {
  async function* source() {
    yield { choice: 1, event: text("b1") };
    yield { choice: 3, event: text("d1") };
    yield { choice: 1, event: text("b2") };
    yield { choice: 2, event: prompt(9) };
    yield { choice: 3, event: text("d2") };
    yield { choice: 0, event: prompt(7) };
    yield { choice: 0, event: text("a1") };
    yield { choice: 1, event: text("b3") };
  }
  const told: Record<number, Event[]> = { 0: [], 1: [], 2: [], 3: [] };
  for await (const { choice, event } of withScoredPrompts(source(), 2)) told[choice]?.push(event);
  expect(told).toEqual({
    0: [prompt(7), text("a1")],
    1: [prompt(7), text("b1"), text("b2"), text("b3")],
    2: [prompt(9)],
    3: [prompt(9), text("d1"), text("d2")],
  });
});

test("a failure waits for nothing", async () => {
  const failure: Event = { kind: "failure", failure: { kind: "cancelled" } };
  async function* source() {
    yield { choice: 1, event: text("b") };
    yield { choice: 0, event: failure };
  }
  expect(await Array.fromAsync(withScoredPrompts(source(), 2))).toEqual([{ choice: 0, event: failure }]);
});
