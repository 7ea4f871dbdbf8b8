import { expect, test } from "bun:test";
import type { EngineEvent } from "./engine.ts";
import { Inbox } from "./inbox.ts";

const finish: EngineEvent = {
  kind: "finish",
  reason: "length",
  timings: {
    promptTokens: 0,
    cachedTokens: 0,
    completionTokens: 0,
    promptMs: 0,
    completionMs: 0,
    closedByRule: false,
  },
};
const progress = (done: number): EngineEvent => ({ kind: "progress", done, total: 9 });

test("events come in order, whether they wait for the reader or the reader for them", async () => {
  let abandoned = 0;
  const inbox = new Inbox(() => abandoned++);
  inbox.push(progress(1));
  inbox.push(progress(2));
  const seen: EngineEvent[] = [];
  const reading = (async () => {
    for await (const event of inbox) seen.push(event);
  })();
  await Bun.sleep(0);
  expect(seen).toEqual([progress(1), progress(2)]);
  inbox.push(progress(3));
  await Bun.sleep(0);
  inbox.push(progress(4));
  inbox.push(finish);
  await reading;
  expect(seen).toEqual([progress(1), progress(2), progress(3), progress(4), finish]);
  expect(abandoned).toBe(0);
});

test("a reader who leaves abandons the request once; after the finish nothing is left to abandon", async () => {
  let abandoned = 0;
  const inbox = new Inbox(() => abandoned++);
  inbox.push(progress(1));
  const events = inbox[Symbol.asyncIterator]();
  await events.next();
  await events.return?.();
  await events.return?.();
  expect(abandoned).toBe(1);
  expect((await events.next()).done).toBe(true);

  const whole = new Inbox(() => abandoned++);
  whole.push(finish);
  for await (const event of whole) if (event.kind === "finish") break;
  expect(abandoned).toBe(1);
});
