import { expect, test } from "bun:test";
import { createCors } from "./cors.ts";

const app = "https://app.example";
const from = (origin: string) => new Headers({ origin });

test.each([
  [[], app, {}],
  [["*"], app, { "access-control-allow-origin": "*" }],
  [[app], app, { "access-control-allow-origin": app, vary: "Origin" }],
  [[app], "https://other.example", { vary: "Origin" }],
  [[app], "https://app.example.evil", { vary: "Origin" }],
])("origins %j, asked from %s", (origins, origin, expected) => {
  const { "access-control-expose-headers": exposed, ...headers } = createCors(origins).headers(from(origin));
  expect<Record<string, string>>(headers).toEqual(expected);
  expect(exposed !== undefined).toBe("access-control-allow-origin" in expected);
});

test("a preflight names what was asked for; other requests and origins get none", () => {
  const cors = createCors([app]);
  const asks = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
  const answer = cors.preflight("OPTIONS", new Headers({ origin: app, ...asks }));
  expect(answer?.status).toBe(204);
  expect(Object.fromEntries(answer?.headers ?? [])).toMatchObject({
    "access-control-allow-origin": app,
    "access-control-allow-headers": "authorization",
    "access-control-allow-methods": expect.stringContaining("POST"),
  });
  expect(cors.preflight("OPTIONS", from(app))).toBeUndefined();
  expect(cors.preflight("POST", new Headers({ origin: app, ...asks }))).toBeUndefined();
  expect(cors.preflight("OPTIONS", new Headers({ origin: "https://other.example", ...asks }))).toBeUndefined();
});
