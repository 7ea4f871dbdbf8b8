import type { Refusal } from "../api/refusal.ts";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { bodiesBytesMax } from "../limits.ts";
import type { Clock } from "./clock.ts";

export type Bodies = {
  /**
   * The whole body of a request, or why it is not taken: too large, too late, or too much is held already. Bun drops what a client
   * still sends of a refused one, so that the client gets to read the answer.
   */
  read(http: Request): Promise<Result<Body, Refusal | Failure>>;
};

/** Bytes, until they are given back. */
export type Body = { readonly bytes: Uint8Array<ArrayBuffer>; release(): void };

/** Reads bodies of at most `bytesMax` bytes, each within `timeoutMs`, and all together within `heldBytesMax`. */
export function createBodies(limits: {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly heldBytesMax?: number;
}): Bodies {
  const { bytesMax, timeoutMs, clock, heldBytesMax = bodiesBytesMax } = limits;
  let heldBytes = 0;
  return {
    async read(http) {
      if (Number(http.headers.get("content-length")) > bytesMax) return fail({ kind: "body_too_large", bytesMax });
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      const release = () => {
        heldBytes -= bytes;
        bytes = 0;
      };
      const failure = await readChunks(
        http.body,
        (late) => clock.after(timeoutMs, late),
        (chunk) => {
          bytes += chunk.byteLength;
          heldBytes += chunk.byteLength;
          if (bytes > bytesMax) return { kind: "body_too_large", bytesMax };
          if (heldBytes > heldBytesMax) return { kind: "overloaded", message: "Too many requests are being sent." };
          chunks.push(chunk);
          return undefined;
        },
      );
      if (failure === undefined) return ok({ bytes: new Uint8Array(Buffer.concat(chunks, bytes)), release });
      release();
      return fail(failure);
    },
  };
}

/** Hands every chunk on until one is refused. A client that goes away while it sends is late, too: nobody reads that answer. */
async function readChunks(
  body: ReadableStream<Uint8Array> | null,
  limit: (late: () => void) => () => void,
  take: (chunk: Uint8Array) => Refusal | Failure | undefined,
): Promise<Refusal | Failure | undefined> {
  if (body === null) return undefined;
  const reader = body.getReader();
  let late = false;
  const stop = limit(() => {
    late = true;
    void reader.cancel();
  });
  try {
    while (true) {
      const next = await reader.read();
      if (late) return { kind: "body_late" };
      if (next.done) return undefined;
      const failure = take(next.value);
      if (failure === undefined) continue;
      void reader.cancel();
      return failure;
    }
  } catch {
    return { kind: "body_late" };
  } finally {
    stop();
  }
}
