/** Which side of a stream is waited for: a model may think long, a client that takes nothing for a while is cut off. */
export type Waiting = "model" | "client";

/**
 * The same stream, watched: `onWait` is told of each change of the side that is waited for, `onEnd` once of the end, and whether the client
 * went away before it.
 */
export function deliver(
  body: ReadableStream<Uint8Array>,
  { onWait, onEnd }: { readonly onWait: (side: Waiting) => void; readonly onEnd: (left: boolean) => void },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        onWait("model");
        let next: Awaited<ReturnType<typeof reader.read>>;
        try {
          next = await reader.read();
        } catch (error) {
          onEnd(false);
          throw error;
        }
        if (next.done) {
          onEnd(false);
          controller.close();
          return;
        }
        controller.enqueue(next.value);
        onWait("client");
      },
      async cancel(reason) {
        onEnd(true);
        await reader.cancel(reason);
      },
    },
    // A chunk is asked for only when the connection takes it.
    { highWaterMark: 0 },
  );
}
