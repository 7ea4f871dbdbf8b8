import { expect, test } from "bun:test";
import type { Event } from "../../generation/event.ts";
import { Recording } from "./recording.ts";

const text = (text: string): Event => ({ kind: "text", text, logprobs: [] });
const end: Event = { kind: "failure", failure: { kind: "cancelled" } };
const forever = () => new AbortController().signal;

test("everybody hears everything, whenever they come", async () => {
  const recording = new Recording();
  const early = Array.fromAsync(recording.follow(forever()));
  recording.push(text("a"));
  const middle = Array.fromAsync(recording.follow(forever()));
  recording.push(text("b"));
  expect(recording.ended).toBe(false);
  recording.push(end);
  const late = Array.fromAsync(recording.follow(forever()));
  const all = [text("a"), text("b"), end];
  expect(await Promise.all([early, middle, late])).toEqual([all, all, all]);
  expect(recording.ended).toBe(true);
  expect(recording.endedAt).toBeGreaterThan(1_600_000_000);
});

test("whoever leaves while waiting is let go", async () => {
  const recording = new Recording();
  recording.push(text("a"));
  const left = new AbortController();
  const heard = Array.fromAsync(recording.follow(left.signal));
  await new Promise((resolve) => setImmediate(resolve));
  left.abort();
  expect(await heard).toEqual([text("a")]);
});

test("of progress only the first is kept: it tells that the response is no longer queued", () => {
  const recording = new Recording();
  for (const done of [1, 2, 3]) recording.push({ kind: "progress", done, total: 3 });
  recording.push(text("a"));
  recording.push({ kind: "progress", done: 3, total: 3 });
  expect(recording.events).toEqual([{ kind: "progress", done: 1, total: 3 }, text("a")]);
});

test("bytes grow with text and log-probabilities", () => {
  const weight = (event: Event) => {
    const recording = new Recording();
    recording.push(event);
    return recording.bytes;
  };
  const entry = { token: 1, bytes: new Uint8Array(1), logprob: -1, top: [] };
  expect(weight(text("a".repeat(100)))).toBe(weight(text("")) + 200);
  expect(weight({ kind: "text", text: "", logprobs: [entry] })).toBeGreaterThan(weight(text("")));
});
