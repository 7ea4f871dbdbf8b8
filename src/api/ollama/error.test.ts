import { expect, test } from "bun:test";
import type { Failure } from "../../generation/failure.ts";
import type { Refusal } from "../refusal.ts";
import { errorResponse, ollamaRoom } from "./error.ts";

test.each([
  [{ kind: "invalid", message: "Bad.", param: "x" }, 400, "Bad."],
  [{ kind: "constraint", message: "No.", param: "format", pointer: "", keyword: "x" }, 400, "format: No."],
  [{ kind: "context", message: "Too long.", promptTokens: 5, contextMax: 4 }, 400, "Too long."],
  [{ kind: "model_not_found", model: "x" }, 404, "model 'x' not found"],
  [{ kind: "overloaded", message: "" }, 503, "server busy, please try again.  maximum pending requests exceeded"],
  [{ kind: "cancelled" }, 503, "the request was cancelled"],
  [{ kind: "engine", message: "Broken." }, 500, "Broken."],
  [{ kind: "body_invalid", message: "…", empty: true }, 400, "missing request body"],
  [{ kind: "body_invalid", message: "Not JSON." }, 400, "Not JSON."],
  [{ kind: "body_too_large", bytesMax: 1 }, 413, "Request body too large."],
  [{ kind: "unauthorized" }, 401, "unauthorized"],
  [{ kind: "rate_limited", retryAfterS: 3 }, 429, "Rate limit reached. Please try again in 3 s."],
] satisfies readonly (readonly [Failure | Refusal, number, string])[])("%j", async (failure, status, error) => {
  const response = errorResponse(failure);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ error });
  expect(response.headers.has("retry-after")).toBe([503, 429].includes(status));
});

test("the room's paths, and those whose body is no JSON", () => {
  const none = new Headers();
  expect(["/api", "/api/chat", "/api/x/y"].every((path) => ollamaRoom.claims(path, none))).toBe(true);
  expect(["/", "/apis", "/v1/api/chat"].some((path) => ollamaRoom.claims(path, none))).toBe(false);
  expect(ollamaRoom.streamsBody?.("/api/blobs/sha256:0")).toBe(true);
  expect(ollamaRoom.streamsBody?.("/api/create")).toBe(false);
});
