import type { Failure } from "../../generation/failure.ts";
import { retryAfterS } from "../../limits.ts";
import { type Refusal, refusalText } from "../refusal.ts";

/** Anthropic's error object, as answers and `error` events carry it. */
export type ErrorBody = {
  readonly type: "error";
  readonly error: { readonly type: ErrorType; readonly message: string; readonly details?: object };
  readonly request_id: string;
};

export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "not_found_error"
  | "request_too_large"
  | "rate_limit_error"
  | "timeout_error"
  | "api_error"
  | "overloaded_error";

export function errorResponse(failure: Failure | Refusal, requestId: string): Response {
  const { status, headers } = told(failure);
  return Response.json(errorBody(failure, requestId), { status, headers });
}

export function errorBody(failure: Failure | Refusal, requestId: string): ErrorBody {
  const { type, message } = told(failure);
  // By these details clients know that they have to send the whole conversation, and do.
  const unthreaded = failure.kind === "invalid" && failure.code === threadUnsupported;
  const details = { error_code: threadUnsupported, unsupported: ["thread"] };
  return { type: "error", error: { type, message, ...(unthreaded ? { details } : {}) }, request_id: requestId };
}

/** The code of a request that goes on from a conversation which the server would have kept. */
export const threadUnsupported = "thread_unsupported_request";

type Told = {
  readonly status: number;
  readonly type: ErrorType;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
};

function told(failure: Failure | Refusal): Told {
  switch (failure.kind) {
    case "invalid":
      return invalid(fieldMessage(failure));
    case "constraint":
      return invalid(failure.param === undefined ? failure.message : `${fieldOf(failure.param)}: ${failure.message}`);
    case "context": {
      // Clients read these numbers. Where the prompt itself would fit and leaves no room for an answer, the most that a prompt may
      // have lies somewhere below it.
      const promptMax = Math.min(failure.contextMax, failure.promptTokens - 1);
      return invalid(`prompt is too long: ${failure.promptTokens} tokens > ${promptMax} maximum`);
    }
    case "model_not_found":
      return { status: 404, type: "not_found_error", message: `model: ${failure.model}`, headers: {} };
    case "overloaded":
      return overloaded(failure.message);
    case "cancelled":
      return overloaded("The request was cancelled.");
    case "engine":
      // The official clients repeat a 500 by themselves; the same request would fail in the same way.
      return { status: 500, type: "api_error", message: failure.message, headers: { "x-should-retry": "false" } };
    default:
      return { ...refusalText(failure), type: refusalType(failure) };
  }
}

function refusalType(refusal: Refusal): ErrorType {
  switch (refusal.kind) {
    case "body_too_large":
      return "request_too_large";
    case "body_late":
      return "timeout_error";
    case "body_invalid":
    case "wrong_method":
      return "invalid_request_error";
    case "unknown_url":
      return "not_found_error";
    case "unauthorized":
      return "authentication_error";
    case "rate_limited":
      return "rate_limit_error";
    default:
      return refusal satisfies never;
  }
}

function invalid(message: string): Told {
  return { status: 400, type: "invalid_request_error", message, headers: {} };
}

/** Anthropic's own status for a full server. */
function overloaded(message: string): Told {
  return { status: 529, type: "overloaded_error", message, headers: { "retry-after": String(retryAfterS) } };
}

/** The body has no field for the parameter: it stands in front of the message, as the hosted API has it. */
function fieldMessage({ message, param, code }: Extract<Failure, { kind: "invalid" }>): string {
  if (param === undefined) return message;
  if (code === "missing_required_parameter") return `${fieldOf(param)}: Field required`;
  return `${fieldOf(param)}: ${message}`;
}

/** `messages[0].content` as `messages.0.content`. */
function fieldOf(param: string): string {
  return param.replace(/\[(\d+)\]/g, ".$1");
}
