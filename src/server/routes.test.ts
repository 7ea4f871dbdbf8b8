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
  ["/v1/responses/input_tokens", ["POST"], "/v1/responses/input_tokens"],
  ["/v1/responses/r/input_items", ["GET", "HEAD"], "/v1/responses/:id/input_items"],
])("%s takes %j as %s", (path, methods, pattern) => {
  expect(routes.find(path)).toMatchObject({ methods, pattern });
});

test.each(["/v1/responses/r/other", "/v1", "/v1/modelsx", "/v1/models-", "//", ""])("%p is unknown", (path) => {
  expect(routes.find(path)).toBeUndefined();
});
