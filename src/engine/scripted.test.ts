import { expect, test } from "bun:test";
import { plainRequest, run, unwrap } from "./native-fixture.ts";
import { type Script, scriptedEngine } from "./scripted.ts";

const bytes = (text: string) =>
  ({ kind: "bytes", channel: "text", call: 0, bytes: new TextEncoder().encode(text) }) as const;

const engineOf = (script: Script) =>
  scriptedEngine({ vocabularyCount: 64, contextMax: 100, script: () => script, costMin: 3 });

test("a script is replayed to its finish, and counted while it runs", async () => {
  const engine = engineOf({
    events: [bytes("a"), bytes("b")],
    finish: "stop_token",
    timings: { completionTokens: 2 },
  });
  const running = run(engine, {});
  expect(engine.stats().running).toBe(1);
  const { events, finish } = await running;
  expect(events.slice(0, 2)).toEqual([bytes("a"), bytes("b")]);
  expect(finish).toMatchObject({ reason: "stop_token", timings: { promptTokens: 3, completionTokens: 2 } });
  expect(engine.stats()).toEqual({ running: 0, queued: 0, grammars: 0, cacheBytes: 0 });
});

test("cancel ends it between two events", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const engine = engineOf({ events: [bytes("a")], finish: "complete", pace: () => promise });
  const generation = unwrap(engine.submit(plainRequest));
  generation.cancel();
  const reasons: string[] = [];
  for await (const event of generation.events) reasons.push(event.kind === "finish" ? event.reason : event.kind);
  expect(reasons).toEqual(["cancelled"]);
  resolve();
});

test("step mode parks before each event, over the same rows", async () => {
  const engine = engineOf({ events: [bytes("a"), bytes("b")], finish: "complete" });
  const rows = new Set<unknown>();
  const { events } = await run(engine, { step: true }, ({ logits, mask }) => rows.add(logits).add(mask));
  expect(events.map((event) => event.kind)).toEqual(["parked", "bytes", "parked", "bytes", "finish"]);
  expect(rows.size).toBe(2);
});

test("grammars are counted until disposed; what the script refuses is not taken", () => {
  const engine = scriptedEngine({ vocabularyCount: 64, contextMax: 9, script: () => ({ kind: "overloaded" }) });
  const grammar = unwrap(engine.compile(new Uint8Array()));
  expect(engine.stats().grammars).toBe(1);
  grammar[Symbol.dispose]();
  grammar[Symbol.dispose]();
  expect(engine.stats().grammars).toBe(0);
  expect(engine.submit(plainRequest)).toEqual({ ok: false, failure: { kind: "overloaded" } });
});
