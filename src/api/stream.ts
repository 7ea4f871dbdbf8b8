/** What fills silence, after how many milliseconds of it. */
export type Ping = { readonly frame: string; readonly afterMs: number };

/**
 * A response that sends frames as they come, and a ping whenever nothing was sent for a while. Its headers leave at once; a frame is
 * asked for only when the connection takes more. `onCancel` must make the frames end: a client that goes away while a frame is
 * awaited can be told to nobody else.
 */
export function streamResponse(
  frames: AsyncIterable<string>,
  {
    type,
    ping,
    headers,
    onCancel,
  }: {
    readonly type: string;
    readonly ping?: Ping;
    readonly headers: Readonly<Record<string, string>>;
    readonly onCancel: () => void;
  },
): Response {
  const iterator = frames[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setInterval> | undefined;
  const stopPings = () => clearInterval(timer);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      // A timer without end would run at once.
      if (ping === undefined || ping.afterMs === Number.POSITIVE_INFINITY) return;
      const frame = utf8.encode(ping.frame);
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(frame);
      }, ping.afterMs);
    },
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) {
        stopPings();
        controller.close();
        return;
      }
      timer?.refresh();
      controller.enqueue(utf8.encode(oneLine(next.value)));
    },
    async cancel() {
      stopPings();
      onCancel();
      await iterator.return?.();
    },
  });
  return new Response(stream, {
    headers: { "content-type": type, "cache-control": "no-cache", "x-accel-buffering": "no", ...headers },
  });
}

/**
 * Characters that JSON may hold as they are, and that some readers take for the end of a line (Python's `splitlines`, on which HTTPX builds
 * its `iter_lines`). In a frame they occur in strings of JSON only, where an escape says the same.
 */
function oneLine(frame: string): string {
  return frame.replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const utf8 = new TextEncoder();
