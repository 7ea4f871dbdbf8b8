import type { BodyFailure } from "./body.ts";

/** What is refused before any work, on whatever path: the room that claims the path says it in its own shape. */
export type Refusal =
  | BodyFailure
  | { readonly kind: "body_too_large"; readonly bytesMax: number }
  /** The body did not arrive in time. */
  | { readonly kind: "body_late" }
  | { readonly kind: "unknown_url"; readonly method: string; readonly path: string }
  | { readonly kind: "wrong_method"; readonly method: string; readonly path: string; readonly allow: readonly string[] }
  | { readonly kind: "unauthorized" }
  | { readonly kind: "rate_limited"; readonly retryAfterS: number };

export type RefusalText = {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** What all shapes say alike. A room puts the message into its own body. */
export function refusalText(refusal: Refusal): RefusalText {
  switch (refusal.kind) {
    case "body_too_large":
      return { status: 413, message: "Request body too large.", headers: {} };
    case "body_invalid":
      return { status: 400, message: refusal.message, headers: {} };
    case "body_late":
      return { status: 408, message: "The request body did not arrive in time.", headers: {} };
    case "unknown_url": {
      const { method, path } = refusal;
      const message = `Unknown request URL: ${method} ${path}. Please check the URL for typos.`;
      return { status: 404, message, headers: {} };
    }
    case "wrong_method": {
      const { method, path, allow } = refusal;
      const message = `Not allowed to ${method} on ${path}; use ${allow.join(" or ")}.`;
      return { status: 405, message, headers: { allow: allow.join(", ") } };
    }
    case "unauthorized":
      return { status: 401, message: "Invalid API Key", headers: { "www-authenticate": "Bearer" } };
    case "rate_limited": {
      const message = `Rate limit reached. Please try again in ${refusal.retryAfterS} s.`;
      return { status: 429, message, headers: { "retry-after": String(refusal.retryAfterS) } };
    }
    default:
      return refusal satisfies never;
  }
}
