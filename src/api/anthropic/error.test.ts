import { expect, test } from "bun:test";
import type { Failure } from "../../generation/failure.ts";
import type { Refusal } from "../refusal.ts";
import { errorResponse } from "./error.ts";

const cases: readonly [failure: Failure | Refusal, status: number, type: string, message: string][] = [
  [{ kind: "invalid", message: "Wrong." }, 400, "invalid_request_error", "Wrong."],
  [
    { kind: "invalid", message: "Wrong.", param: "messages[0].content[2].text" },
    400,
    "invalid_request_error",
    "messages.0.content.2.text: Wrong.",
  ],
  [
    { kind: "invalid", message: "Missing.", param: "max_tokens", code: "missing_required_parameter" },
    400,
    "invalid_request_error",
    "max_tokens: Field required",
  ],
  [
    { kind: "constraint", message: "No.", param: "tools[0].input_schema", pointer: "/a", keyword: "not" },
    400,
    "invalid_request_error",
    "tools.0.input_schema: No.",
  ],
  [{ kind: "constraint", message: "No.", pointer: "", keyword: "not" }, 400, "invalid_request_error", "No."],
  [
    { kind: "context", message: "", promptTokens: 5000, contextMax: 4096 },
    400,
    "invalid_request_error",
    "prompt is too long: 5000 tokens > 4096 maximum",
  ],
  [
    { kind: "context", message: "", promptTokens: 4096, contextMax: 4096 },
    400,
    "invalid_request_error",
    "prompt is too long: 4096 tokens > 4095 maximum",
  ],
  [{ kind: "model_not_found", model: "m" }, 404, "not_found_error", "model: m"],
  [{ kind: "overloaded", message: "Full." }, 529, "overloaded_error", "Full."],
  [{ kind: "cancelled" }, 529, "overloaded_error", "The request was cancelled."],
  [{ kind: "engine", message: "Broken." }, 500, "api_error", "Broken."],
  [{ kind: "body_too_large", bytesMax: 1 }, 413, "request_too_large", "Request body too large."],
  [{ kind: "body_invalid", message: "No JSON." }, 400, "invalid_request_error", "No JSON."],
  [{ kind: "body_late" }, 408, "timeout_error", "The request body did not arrive in time."],
  [
    { kind: "unknown_url", method: "GET", path: "/v1/x" },
    404,
    "not_found_error",
    "Unknown request URL: GET /v1/x. Please check the URL for typos.",
  ],
  [
    { kind: "wrong_method", method: "GET", path: "/v1/messages", allow: ["POST"] },
    405,
    "invalid_request_error",
    "Not allowed to GET on /v1/messages; use POST.",
  ],
  [{ kind: "unauthorized" }, 401, "authentication_error", "Invalid API Key"],
  [{ kind: "rate_limited", retryAfterS: 7 }, 429, "rate_limit_error", "Rate limit reached. Please try again in 7 s."],
];

test.each(cases)("%j", async (failure, status, type, message) => {
  const response = errorResponse(failure, "req_1");
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ type: "error", error: { type, message }, request_id: "req_1" });
});

test("a request that leans on a kept conversation is told how to go on without", async () => {
  const code = "thread_unsupported_request";
  const response = errorResponse({ kind: "invalid", message: "No.", param: "thread", code }, "req_1");
  expect(await response.json()).toEqual({
    type: "error",
    error: {
      type: "invalid_request_error",
      message: "thread: No.",
      details: { error_code: code, unsupported: ["thread"] },
    },
    request_id: "req_1",
  });
});

test("who should come back is told when, and a broken answer is not asked for again", () => {
  const headers = (failure: Failure | Refusal) => errorResponse(failure, "req_1").headers;
  expect(headers({ kind: "overloaded", message: "" }).get("retry-after")).toMatch(/^\d+$/);
  expect(headers({ kind: "rate_limited", retryAfterS: 7 }).get("retry-after")).toBe("7");
  expect(headers({ kind: "wrong_method", method: "GET", path: "/", allow: ["POST"] }).get("allow")).toBe("POST");
  expect(headers({ kind: "engine", message: "" }).get("x-should-retry")).toBe("false");
});
