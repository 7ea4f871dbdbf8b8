import type { Failure } from "../generation/failure.ts";
import type { Refusal } from "./refusal.ts";

/** How a room answers for its paths where none of its routes does. */
export type Room = {
  /** Whether an error on this path is told in this room's shape. */
  claims(path: string, headers: Headers): boolean;
  errorResponse(failure: Failure | Refusal, requestId: string): Response;
  /** Paths whose body is no JSON and may be of any size: their route reads it by itself. */
  streamsBody?(path: string): boolean;
};

/** The id under which a request is logged. The server sets this header before a room sees the request, and on every answer. */
export function requestIdOf(http: Request): string {
  const id = http.headers.get(requestIdHeader);
  if (id === null) throw new Error("a request came to a room without its id");
  return id;
}

export const requestIdHeader = "x-request-id";

/** Who asks: a name for the key that was presented, or "" on a server without keys. The server alone says it, in this header. */
export function callerOf(http: Request): string {
  return http.headers.get(callerHeader) ?? "";
}

export const callerHeader = "x-tenon-caller";
