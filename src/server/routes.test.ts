import { expect, test } from "bun:test";
import { createRoutes } from "./routes.ts";

const routes = createRoutes([
  { method: "GET", path: "/" },
  { method: "GET", path: "/v1/models" },
  { method: "GET", path: "/v1/models/*" },
  { method: "POST", path: "/v1/responses" },
  { method: "GET", path: "/v1/responses/:id" },
  { method: "DELETE", path: "/v1/responses/:id" },
  { method: "POST", path: "/v1/responses/input_tokens" },
  { method: "GET", path: "/v1/responses/:id/input_items" },
]);

test.each([
  ["/", ["GET", "HEAD"], "/"],
  ["/v1/models", ["GET", "HEAD"], "/v1/models"],
  ["/v1/models/", ["GET", "HEAD"], "/v1/models"],
  ["/v1/models/a/b:c%2f", ["GET", "HEAD"], "/v1/models/*"],
  ["/v1/responses/r", ["GET", "HEAD", "DELETE"], "/v1/responses/:id"],
  ["/v1/responses/input_tokens", ["GET", "HEAD", "DELETE", "POST"], "/v1/responses/input_tokens"],
  ["/v1/responses/r/input_items", ["GET", "HEAD"], "/v1/responses/:id/input_items"],
  ["/v1/responses/r/other", [], undefined],
  ["/v1", [], undefined],
  ["/v1/modelsx", [], undefined],
  ["//", [], undefined],
  ["", [], undefined],
])("%s", (path, methods, pattern) => {
  expect(routes.methods(path)).toEqual(methods);
  expect(routes.pattern(path)).toBe(pattern);
});
