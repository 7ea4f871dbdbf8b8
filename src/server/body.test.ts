import { expect, test } from "bun:test";
import { handClock } from "../../tests/fixtures/hand-clock.ts";
import { createBodies } from "./body.ts";

const clock = handClock();

const piece = new Uint8Array(100).fill(0x20);
const chunked = (count: number, end = true) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let sent = 0; sent < count; sent++) controller.enqueue(piece);
      if (end) controller.close();
    },
  });
const post = (body: ReadableStream) => new Request("http://tenon/", { method: "POST", body });

test("a body within the bounds is read whole, and none is empty", async () => {
  const bodies = createBodies({ bytesMax: 300, timeoutMs: 1, clock });
  expect(await bodies.read(post(chunked(3)))).toMatchObject({
    ok: true,
    value: { bytes: new Uint8Array(300).fill(32) },
  });
  expect(await bodies.read(new Request("http://tenon/"))).toMatchObject({
    ok: true,
    value: { bytes: new Uint8Array() },
  });
});

test("too large, and too late", async () => {
  const bodies = createBodies({ bytesMax: 300, timeoutMs: 20, clock });
  const tooLarge = { ok: false, failure: { kind: "body_too_large", bytesMax: 300 } } as const;
  expect(await bodies.read(post(chunked(4)))).toEqual(tooLarge);
  const declared = new Request("http://tenon/", {
    method: "POST",
    body: chunked(1),
    headers: { "content-length": "400" },
  });
  expect(await bodies.read(declared)).toEqual(tooLarge);
  const late = bodies.read(post(chunked(1, false)));
  clock.advance(19);
  await clock.waiting(1);
  clock.advance(1);
  expect(await late).toEqual({ ok: false, failure: { kind: "body_late" } });
});

test("all bodies together have a bound, and what is refused or given back counts no more", async () => {
  const bodies = createBodies({ bytesMax: 300, timeoutMs: 1, clock, heldBytesMax: 500 });
  const first = await bodies.read(post(chunked(3)));
  expect(await bodies.read(post(chunked(3)))).toMatchObject({ ok: false, failure: { kind: "overloaded" } });
  expect(await bodies.read(post(chunked(2)))).toMatchObject({ ok: true });
  if (first.ok) first.value.release();
  if (first.ok) first.value.release();
  expect(await bodies.read(post(chunked(3)))).toMatchObject({ ok: true });
  expect(await bodies.read(post(chunked(1)))).toMatchObject({ ok: false, failure: { kind: "overloaded" } });
});
