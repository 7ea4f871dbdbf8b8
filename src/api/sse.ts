import { streamResponse } from "./stream.ts";

/** One server-sent event of a JSON value. */
export function sseData(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The same with a name. */
export function sseEvent(name: string, value: unknown): string {
  return `event: ${name}\n${sseData(value)}`;
}

export const sseDone = "data: [DONE]\n\n";

/** A stream of events, as stream.ts sends it, with `ping`, by default a comment, whenever nothing was sent for `pingMs`. */
export function sseResponse(
  frames: AsyncIterable<string>,
  options: {
    readonly pingMs: number;
    readonly ping?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly onCancel: () => void;
  },
): Response {
  const { pingMs, ping = ": ping\n\n", headers, onCancel } = options;
  const type = "text/event-stream; charset=utf-8";
  return streamResponse(frames, { type, ping: { frame: ping, afterMs: pingMs }, headers, onCancel });
}
