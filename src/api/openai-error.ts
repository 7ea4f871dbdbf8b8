import type { Failure } from "../generation/failure.ts";
import { failureStatus } from "./failure-status.ts";
import { type Refusal, refusalText } from "./refusal.ts";

/** OpenAI's error object, as the answers and streams of both of its shapes carry it. */
export type ErrorBody = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    /** A number where llama.cpp has one. */
    readonly code: string | number | null;
    /** llama.cpp's counts, beside a context failure. */
    readonly n_prompt_tokens?: number;
    readonly n_ctx?: number;
  };
};

export function errorResponse(failure: Failure | Refusal): Response {
  const { status, headers } = failureStatus(failure);
  // The official clients repeat a 500 by themselves; the same request would fail in the same way.
  const once = failure.kind === "engine" ? { "x-should-retry": "false" } : {};
  return Response.json(errorBody(failure), { status, headers: { ...headers, ...once } });
}

export function errorBody(failure: Failure | Refusal): ErrorBody {
  switch (failure.kind) {
    case "invalid":
      return body(failure.message, "invalid_request_error", failure.param, failure.code);
    case "constraint":
      return body(failure.message, "invalid_request_error", failure.param, constraintCode(failure));
    case "context": {
      const { message, param = "messages" } = failure;
      const { error } = body(message, "invalid_request_error", param, "context_length_exceeded");
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
    default:
      return refusalBody(failure);
  }
}

function constraintCode({ syntax, param }: Extract<Failure, { kind: "constraint" }>): string {
  if (syntax !== undefined) return "invalid_grammar";
  return /^(tools|functions)\b/.test(param ?? "") ? "invalid_function_parameters" : "invalid_json_schema";
}

function refusalBody(refusal: Refusal): ErrorBody {
  const { message } = refusalText(refusal);
  switch (refusal.kind) {
    case "body_too_large":
    case "body_invalid":
      return body(message, "invalid_request_error");
    case "body_late":
      return body(message, "timeout_error");
    case "unknown_url":
      return body(message, "invalid_request_error", undefined, "unknown_url");
    case "wrong_method":
      return body(message, "invalid_request_error", undefined, "method_not_allowed");
    case "unauthorized":
      return { error: { message, type: "authentication_error", param: null, code: 401 } };
    case "rate_limited":
      return body(message, "rate_limit_error", undefined, "rate_limit_exceeded");
    default:
      return refusal satisfies never;
  }
}

function body(message: string, type: string, param?: string, code?: string): ErrorBody {
  return { error: { message, type, param: param ?? null, code: code ?? null } };
}
