import { expect, test } from "bun:test";
import { echoOf } from "./echo.ts";
import type { Item } from "./items.ts";
import { Recording } from "./recording.ts";
import { ResponseStore, type StoredResponse } from "./store.ts";

const usage = {
  promptTokens: 1,
  cachedTokens: 0,
  completionTokens: 1,
  reasoningTokens: 0,
  promptMs: 1,
  completionMs: 1,
  closedByRule: false,
};

function said(id: string, text = "hello"): Item {
  return { id, type: "message", status: "completed", role: "user", content: [{ type: "input_text", text }] };
}

/** A response that answers "yes" to these items. */
function response(id: string, input: readonly Item[], { ended = true, ownItems = input.length } = {}): StoredResponse {
  const recording = new Recording();
  const frame = {
    id,
    createdAt: 1,
    endedAt: () => 2,
    model: "M",
    echo: echoOf({}),
    logprobs: false,
    reasoningAs: "content",
    sealReasoning: false,
  } as const;
  recording.push({ kind: "text", text: "yes", logprobs: [] });
  if (ended) recording.push({ kind: "finish", reason: { kind: "stop" }, usage });
  return { frame, input, ownItems, recording, cancel: () => {} };
}

const unbounded = { countMax: 1000, bytesMax: 1e9 };

test("what was least recently used goes first", () => {
  const store = new ResponseStore({ ...unbounded, countMax: 2 });
  store.add(response("resp_a", [said("msg_a")]));
  store.add(response("resp_b", [said("msg_b")]));
  expect(store.item("msg_a")).toEqual(said("msg_a"));
  store.add(response("resp_c", [said("msg_c")]));
  expect(["resp_a", "resp_b", "resp_c"].map((id) => store.get(id)?.frame.id)).toEqual(["resp_a", undefined, "resp_c"]);
  expect(store.item("msg_b")).toBeUndefined();
});

test("bytes are bounded, and what alone is too large is not kept", () => {
  const store = new ResponseStore({ ...unbounded, bytesMax: 10_000 });
  for (let each = 0; each < 50; each++) {
    store.add(response(`resp_${each}`, [said(`msg_${each}`, "x".repeat(500))]));
    expect(store.bytes).toBeLessThanOrEqual(10_000);
  }
  expect(store.count).toBeGreaterThan(1);
  expect(store.count).toBeLessThan(50);
  expect(store.get("resp_49")).toBeDefined();
  store.add(response("resp_large", [said("msg_large", "x".repeat(50_000))]));
  expect(store.get("resp_large")).toBeUndefined();
});

test("an empty store weighs nothing", () => {
  const store = new ResponseStore(unbounded);
  const ids = ["resp_a", "resp_b"];
  for (const id of ids) store.add(response(id, [said(`msg_${id}`)]));
  expect(store.bytes).toBeGreaterThan(0);
  for (const id of ids) expect(store.delete(id)).toBe(true);
  expect(store.delete("resp_a")).toBe(false);
  expect({ count: store.count, bytes: store.bytes }).toEqual({ count: 0, bytes: 0 });
});

test("what is still being made stays, and counts in full when it has ended", () => {
  const store = new ResponseStore({ ...unbounded, countMax: 1 });
  const running = response("resp_running", [said("msg_a")], { ended: false });
  store.add(running);
  store.add(response("resp_b", [said("msg_b")]));
  expect(store.get("resp_running")).toBeDefined();
  expect(store.get("resp_b")).toBeUndefined();

  const before = store.bytes;
  expect(store.conversation("resp_running")?.length).toBe(1);
  running.recording.push({ kind: "finish", reason: { kind: "stop" }, usage });
  store.settle("resp_running");
  expect(store.bytes).toBeGreaterThan(before);
  expect(store.conversation("resp_running")).toMatchObject([{ id: "msg_a" }, { content: [{ text: "yes" }] }]);
});

test("a continued conversation outlives what it continues, whose items go with it", () => {
  const store = new ResponseStore(unbounded);
  store.add(response("resp_a", [said("msg_a")]));
  const inherited = store.conversation("resp_a") ?? [];
  store.add(response("resp_b", [...inherited, said("msg_b")], { ownItems: 1 }));
  store.delete("resp_a");
  expect(store.conversation("resp_b")?.map(({ id }) => id)).toEqual(["msg_a", "msg_a0000", "msg_b", "msg_b0000"]);
  expect(["msg_a", "msg_a0000"].map((id) => store.item(id))).toEqual([undefined, undefined]);
  expect(store.item("msg_b0000")).toMatchObject({ content: [{ text: "yes" }] });
});
