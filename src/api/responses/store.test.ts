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
  const kept = store.of("");
  kept.add(response("resp_a", [said("msg_a")]));
  kept.add(response("resp_b", [said("msg_b")]));
  expect(kept.item("msg_a")).toEqual(said("msg_a"));
  kept.add(response("resp_c", [said("msg_c")]));
  expect(["resp_a", "resp_b", "resp_c"].map((id) => kept.get(id)?.frame.id)).toEqual(["resp_a", undefined, "resp_c"]);
  expect(kept.item("msg_b")).toBeUndefined();
});

test("bytes are bounded, and what alone is too large is not kept", () => {
  const store = new ResponseStore({ ...unbounded, bytesMax: 10_000 });
  const kept = store.of("");
  for (let each = 0; each < 50; each++) {
    kept.add(response(`resp_${each}`, [said(`msg_${each}`, "x".repeat(500))]));
    expect(store.bytes).toBeLessThanOrEqual(10_000);
  }
  expect(store.count).toBeGreaterThan(1);
  expect(store.count).toBeLessThan(50);
  expect(kept.get("resp_49")).toBeDefined();
  kept.add(response("resp_large", [said("msg_large", "x".repeat(50_000))]));
  expect(kept.get("resp_large")).toBeUndefined();
});

test("an empty store weighs nothing", () => {
  const store = new ResponseStore(unbounded);
  const kept = store.of("");
  const ids = ["resp_a", "resp_b"];
  for (const id of ids) kept.add(response(id, [said(`msg_${id}`)]));
  expect(store.bytes).toBeGreaterThan(0);
  for (const id of ids) expect(kept.delete(id)).toBe(true);
  expect(kept.delete("resp_a")).toBe(false);
  expect({ count: store.count, bytes: store.bytes }).toEqual({ count: 0, bytes: 0 });
});

test("what is still being made stays, and counts in full when it has ended", () => {
  const store = new ResponseStore({ ...unbounded, countMax: 1 });
  const kept = store.of("");
  const running = response("resp_running", [said("msg_a")], { ended: false });
  kept.add(running);
  kept.add(response("resp_b", [said("msg_b")]));
  expect(kept.get("resp_running")).toBeDefined();
  expect(kept.get("resp_b")).toBeUndefined();

  const before = store.bytes;
  expect(kept.conversation("resp_running")?.length).toBe(1);
  running.recording.push({ kind: "finish", reason: { kind: "stop" }, usage });
  kept.settle("resp_running");
  expect(store.bytes).toBeGreaterThan(before);
  expect(kept.conversation("resp_running")).toMatchObject([{ id: "msg_a" }, { content: [{ text: "yes" }] }]);
});

test("a continued conversation outlives what it continues, whose items go with it", () => {
  const store = new ResponseStore(unbounded);
  const kept = store.of("");
  kept.add(response("resp_a", [said("msg_a")]));
  const inherited = kept.conversation("resp_a") ?? [];
  kept.add(response("resp_b", [...inherited, said("msg_b")], { ownItems: 1 }));
  kept.delete("resp_a");
  expect(kept.conversation("resp_b")?.map(({ id }) => id)).toEqual(["msg_a", "msg_a0000", "msg_b", "msg_b0000"]);
  expect(["msg_a", "msg_a0000"].map((id) => kept.item(id))).toEqual([undefined, undefined]);
  expect(kept.item("msg_b0000")).toMatchObject({ content: [{ text: "yes" }] });
});

test("callers have what is their own, also where they name items alike", () => {
  const store = new ResponseStore(unbounded);
  const [alice, bob] = [store.of("alice"), store.of("bob")];
  alice.add(response("resp_a", [said("msg_1", "alice's")]));
  bob.add(response("resp_b", [said("msg_1", "bob's")]));
  expect(bob.get("resp_a")).toBeUndefined();
  expect(bob.conversation("resp_a")).toBeUndefined();
  expect(bob.delete("resp_a")).toBe(false);
  bob.settle("resp_a");
  expect([alice.item("msg_1"), bob.item("msg_1")]).toEqual([said("msg_1", "alice's"), said("msg_1", "bob's")]);
  expect(bob.delete("resp_b")).toBe(true);
  expect([alice.item("msg_1"), bob.item("msg_1")]).toEqual([said("msg_1", "alice's"), undefined]);
});
