import { expect, test } from "bun:test";
import { createVisits } from "./visits.ts";

test("a visit ends with its client, with the server, or by itself, and emptiness is told once all have", async () => {
  const visits = createVisits();
  await visits.empty();
  const client = new AbortController();
  const first = visits.enter(client.signal);
  const second = visits.enter(new AbortController().signal);
  const third = visits.enter(new AbortController().signal);
  expect(visits.count).toBe(3);

  client.abort();
  expect([first.signal.aborted, second.signal.aborted]).toEqual([true, false]);
  second.leave();
  second.leave();
  visits.cancel();
  expect([second.signal.aborted, third.signal.aborted]).toEqual([false, true]);

  let empty = false;
  const told = visits.empty().then(() => {
    empty = true;
  });
  first.leave();
  await Promise.resolve();
  expect([visits.count, empty]).toEqual([1, false]);
  third.leave();
  await told;
  expect([visits.count, empty]).toEqual([0, true]);
});

test("a client that has left before is gone", () => {
  expect(createVisits().enter(AbortSignal.abort()).signal.aborted).toBe(true);
});
