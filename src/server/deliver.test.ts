import { expect, test } from "bun:test";
import { deliver, type Waiting } from "./deliver.ts";

function watch(body: ReadableStream<Uint8Array>) {
  const waits: Waiting[] = [];
  const ends: boolean[] = [];
  const reader = deliver(body, { onWait: (side) => waits.push(side), onEnd: (left) => ends.push(left) }).getReader();
  return { reader, waits, ends };
}

const chunks = (...texts: string[]) => new Blob(texts).stream();

test("the same bytes, and whose turn it is", async () => {
  const { reader, waits, ends } = watch(chunks("ab"));
  expect(await reader.read()).toMatchObject({ done: false, value: new Uint8Array(Buffer.from("ab")) });
  expect([waits, ends]).toEqual([["model", "client"], []]);
  expect((await reader.read()).done).toBe(true);
  expect([waits.length, ends]).toEqual([3, [false]]);
});

test("a chunk is asked for when somebody takes one, not before", async () => {
  let asked = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        asked++;
        controller.enqueue(new Uint8Array(1));
      },
    },
    { highWaterMark: 0 },
  );
  const { reader } = watch(body);
  await Promise.resolve();
  expect(asked).toBe(0);
  await reader.read();
  expect(asked).toBe(1);
});

test("a client that leaves ends the stream behind, and so does a stream that breaks", async () => {
  let cancelled = false;
  const left = watch(
    new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true;
      },
    }),
  );
  await left.reader.cancel();
  expect([cancelled, left.ends]).toEqual([true, [true]]);
  const broken = watch(
    new ReadableStream<Uint8Array>({
      pull() {
        throw new Error("broken");
      },
    }),
  );
  expect(broken.reader.read()).rejects.toThrow("broken");
  await broken.reader.closed.catch(() => {});
  expect(broken.ends).toEqual([false]);
});
