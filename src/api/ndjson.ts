import { streamResponse } from "./stream.ts";

/** A stream of lines, each one JSON value, as stream.ts sends it. Nothing fills silence: clients read every line. */
export function ndjsonResponse(
  lines: AsyncIterable<string>,
  options: { readonly headers: Readonly<Record<string, string>>; readonly onCancel: () => void },
): Response {
  return streamResponse(lines, { type: "application/x-ndjson", ...options });
}

/** The line of a JSON value. */
export function ndjsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
