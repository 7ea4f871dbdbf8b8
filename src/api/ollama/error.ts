import type { Failure } from "../../generation/failure.ts";
import { failureStatus } from "../failure-status.ts";
import { type Refusal, refusalText } from "../refusal.ts";
import type { Room } from "../room.ts";

/** The room's own paths. */
export const ollamaRoom: Room = {
  claims: (path) => /^\/api(\/|$)/.test(path),
  errorResponse,
  streamsBody: (path) => path.startsWith("/api/blobs/"),
};

export function errorResponse(failure: Failure | Refusal): Response {
  const { status, headers } = failureStatus(failure);
  return Response.json({ error: errorText(failure) }, { status, headers });
}

/** All that an error has in this shape. */
export function errorText(failure: Failure | Refusal): string {
  switch (failure.kind) {
    case "invalid":
      return failure.message;
    case "constraint":
      return failure.param === undefined ? failure.message : `${failure.param}: ${failure.message}`;
    case "context":
    case "engine":
      return failure.message;
    case "model_not_found":
      return `model '${failure.model}' not found`;
    case "overloaded":
      return "server busy, please try again.  maximum pending requests exceeded";
    case "cancelled":
      return "the request was cancelled";
    case "unauthorized":
      return "unauthorized";
    case "body_invalid":
      return failure.empty === true ? "missing request body" : failure.message;
    default:
      return refusalText(failure).message;
  }
}
