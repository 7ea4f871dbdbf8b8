import type { Failure } from "../../generation/failure.ts";
import { type ErrorBody, errorBody as openaiBody, errorResponse as openaiResponse } from "../openai-error.ts";
import type { Refusal } from "../refusal.ts";

export function errorResponse(failure: Failure | Refusal): Response {
  if (failure.kind !== "context") return openaiResponse(failure);
  return Response.json(errorBody(failure), { status: 400 });
}

export function errorBody(failure: Failure | Refusal): ErrorBody {
  const { error } = openaiBody(failure);
  return { error: failure.kind === "context" ? { ...error, param: "input" } : error };
}

/** A path with the id of a response that is not there, or is there no longer. */
export function notFound(id: string): Response {
  const message = `Response with id '${id}' not found.`;
  const error: ErrorBody["error"] = { message, type: "invalid_request_error", param: "id", code: null };
  return Response.json({ error }, { status: 404 });
}

/** A refusal of the inner request, which calls the limit by the name that most shapes have. */
export function renamed(failure: Failure): Failure {
  return failure.kind === "invalid" && failure.param === "max_tokens"
    ? { ...failure, param: "max_output_tokens" }
    : failure;
}
