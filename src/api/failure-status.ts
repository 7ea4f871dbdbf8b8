import type { Failure } from "../generation/failure.ts";
import { retryAfterS } from "../limits.ts";
import { type Refusal, refusalText } from "./refusal.ts";

/** The status of a failure, and the headers that go with it, in the shapes that follow HTTP's own meanings. */
export function failureStatus(failure: Failure | Refusal): {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
} {
  switch (failure.kind) {
    case "invalid":
    case "constraint":
    case "context":
      return { status: 400, headers: {} };
    case "model_not_found":
      return { status: 404, headers: {} };
    case "overloaded":
    case "cancelled":
      return { status: 503, headers: { "retry-after": String(retryAfterS) } };
    case "engine":
      return { status: 500, headers: {} };
    default:
      return refusalText(failure);
  }
}
