import { expect, test } from "bun:test";
import { sseData, sseResponse } from "./sse.ts";

const options = { pingMs: 60_000, headers: {}, onCancel: () => {} };

test("frames come in order, with the headers of an event stream", async () => {
  const response = sseResponse(frames(sseData({ a: "ü" }), "data: [DONE]\n\n"), {
    ...options,
    headers: { "x-own": "1" },
  });
  expect(Object.fromEntries(response.headers)).toEqual({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "x-own": "1",
  });
  expect(await response.text()).toBe('data: {"a":"ü"}\n\ndata: [DONE]\n\n');
});

test("silence is filled with comments", async () => {
  const quiet = Promise.withResolvers<string>();
  async function* silent() {
    yield await quiet.promise;
  }
  const response = sseResponse(silent(), { ...options, pingMs: 1 });
  const reader = readerOf(response);
  expect([await read(reader), await read(reader)]).toEqual([": ping\n\n", ": ping\n\n"]);
  quiet.resolve("data: 1\n\n");
  let text = await read(reader);
  while (text === ": ping\n\n") text = await read(reader);
  expect(text).toBe("data: 1\n\n");
});

test("a room may fill silence with events of its own", async () => {
  async function* silent() {
    yield await new Promise<string>(() => {});
  }
  const reader = readerOf(sseResponse(silent(), { ...options, pingMs: 1, ping: "event: ping\ndata: {}\n\n" }));
  expect(await read(reader)).toBe("event: ping\ndata: {}\n\n");
});

test("a client that goes away while nothing comes is told at once, and the frames are released", async () => {
  const gone = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  async function* endless() {
    try {
      yield "data: 1\n\n";
      await gone.promise;
    } finally {
      released.resolve();
    }
  }
  const response = sseResponse(endless(), { ...options, onCancel: gone.resolve });
  const reader = readerOf(response);
  expect(await read(reader)).toBe("data: 1\n\n");
  await reader.cancel();
  await Promise.all([gone.promise, released.promise]);
});

async function* frames(...items: string[]) {
  yield* items;
}

function readerOf(response: Response) {
  if (response.body === null) throw new Error("no body");
  return response.body.getReader();
}

async function read(reader: ReturnType<typeof readerOf>): Promise<string> {
  return new TextDecoder().decode((await reader.read()).value);
}
