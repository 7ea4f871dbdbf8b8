/** One server-sent event of a JSON value. */
export function sseData(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export const sseDone = "data: [DONE]\n\n";

/**
 * A response that sends frames as they come and `ping`, by default a comment, whenever nothing was sent for `pingMs`. Its headers leave at once;
 * a frame is asked for only when the connection takes more. `onCancel` must make the frames end: a client that goes away while
 * a frame is awaited can be told to nobody else.
 */
export function sseResponse(
  frames: AsyncIterable<string>,
  options: {
    readonly pingMs: number;
    readonly ping?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly onCancel: () => void;
  },
): Response {
  const iterator = frames[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setInterval> | undefined;
  const ping = utf8.encode(options.ping ?? ": ping\n\n");
  const stopPings = () => clearInterval(timer);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      // A timer without end would run at once.
      if (options.pingMs === Number.POSITIVE_INFINITY) return;
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(ping);
      }, options.pingMs);
    },
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) {
        stopPings();
        controller.close();
        return;
      }
      timer?.refresh();
      controller.enqueue(utf8.encode(next.value));
    },
    async cancel() {
      stopPings();
      options.onCancel();
      await iterator.return?.();
    },
  });
  return new Response(stream, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      ...options.headers,
    },
  });
}

const utf8 = new TextEncoder();
