import type { Failure } from "../../generation/failure.ts";
import { retryAfterS } from "../../limits.ts";
import type { BodyFailure } from "../body.ts";

/** OpenAI's error object, as answers and streams carry it. */
export type ErrorBody = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
    /** llama.cpp's counts, beside a context failure. */
    readonly n_prompt_tokens?: number;
    readonly n_ctx?: number;
  };
};

export function errorResponse(failure: Failure | BodyFailure): Response {
  const { status, headers } = statusOf(failure);
  return Response.json(errorBody(failure), { status, headers });
}

export function errorBody(failure: Failure | BodyFailure): ErrorBody {
  switch (failure.kind) {
    case "invalid":
      return body(failure.message, "invalid_request_error", failure.param, failure.code);
    case "constraint": {
      const code = failure.param?.startsWith("tools") ? "invalid_function_parameters" : "invalid_json_schema";
      return body(failure.message, "invalid_request_error", failure.param, code);
    }
    case "context": {
      const { error } = body(failure.message, "invalid_request_error", "messages", "context_length_exceeded");
      return { error: { ...error, n_prompt_tokens: failure.promptTokens, n_ctx: failure.contextMax } };
    }
    case "model_not_found":
      return body(`The model '${failure.model}' does not exist`, "invalid_request_error", "model", "model_not_found");
    case "overloaded":
      return body(failure.message, "unavailable_error", undefined, "server_busy");
    case "cancelled":
      return body("The request was cancelled.", "unavailable_error", undefined, "cancelled");
    case "engine":
      return body(failure.message, "server_error");
    case "body_too_large":
      return body("Request body too large.", "invalid_request_error");
    case "body_invalid":
      return body(failure.message, "invalid_request_error");
    default:
      return failure satisfies never;
  }
}

/** A path that no room serves. */
export function unknownUrl(method: string, path: string): Response {
  const message = `Unknown request URL: ${method} ${path}. Please check the URL for typos.`;
  return Response.json(body(message, "invalid_request_error", undefined, "unknown_url"), { status: 404 });
}

export function wrongMethod(method: string, path: string, allow: readonly string[]): Response {
  const message = `Not allowed to ${method} on ${path}; use ${allow.join(" or ")}.`;
  return Response.json(body(message, "invalid_request_error", undefined, "method_not_allowed"), {
    status: 405,
    headers: { allow: allow.join(", ") },
  });
}

function statusOf(failure: Failure | BodyFailure): {
  readonly status: number;
  readonly headers: Record<string, string>;
} {
  switch (failure.kind) {
    case "invalid":
    case "constraint":
    case "context":
    case "body_invalid":
      return { status: 400, headers: {} };
    case "model_not_found":
      return { status: 404, headers: {} };
    case "body_too_large":
      return { status: 413, headers: {} };
    case "overloaded":
    case "cancelled":
      return { status: 503, headers: { "retry-after": String(retryAfterS) } };
    case "engine":
      // The official clients repeat a 500 by themselves; the same request would fail in the same way.
      return { status: 500, headers: { "x-should-retry": "false" } };
    default:
      return failure satisfies never;
  }
}

function body(message: string, type: string, param?: string, code?: string): ErrorBody {
  return { error: { message, type, param: param ?? null, code: code ?? null } };
}
