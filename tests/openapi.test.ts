import { afterAll, beforeAll, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import { type Chat, script, startChat } from "./fixtures/chat.ts";
import { targets } from "./fixtures/fuzz/bodies.ts";
import { randomFrom } from "./fixtures/random.ts";

let chat: Chat;
let ajv: Ajv2020;
beforeAll(async () => {
  chat = startChat(() => script([["text", "hello"]]));
  const document = JSON.parse(await (await fetch(new URL("/openapi.json", chat.server.url))).text());
  ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema({ $id: "document", ...document });
});
afterAll(() => chat.server.stop(0));

/** What the document says against an answer; undefined where it has nothing to say. */
async function faultOf(method: string, path: string, response: Response): Promise<unknown> {
  const status = response.ok ? "200" : `${Math.floor(response.status / 100)}XX`;
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
  const names = ["paths", path, method.toLowerCase(), "responses", status, "content", type, "schema"];
  const pointer = names.map((name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.getSchema(`document#/${pointer}`);
  if (validate === undefined) return `${status} ${type} is not described`;
  const text = await response.text();
  return validate(type === "application/json" ? JSON.parse(text) : text)
    ? undefined
    : { text, errors: validate.errors };
}

test.each([...new Set(targets)].map((target) => [`${target.method} ${target.path}`, target] as const))(
  "%s answers and refuses as it is described",
  async (_, { method, path, bodies }) => {
    const random = randomFrom(1);
    const described = path.replace("resp_unknown", "{id}").replace(/sha256:\w+/, "{digest}");
    for (const body of [...bodies, ...bodies].map((make) => make(random))) {
      for (const text of [JSON.stringify(body), "[]"]) {
        const response = await fetch(new URL(path, chat.server.url), { method, body: text });
        expect(await faultOf(method, described, response)).toBeUndefined();
      }
    }
  },
);

test.each([
  ["/health", "/health", {}],
  ["/metrics", "/metrics", {}],
  ["/openapi.json", "/openapi.json", {}],
  ["/props", "/props", {}],
  ["/slots", "/slots", {}],
  ["/v1/models", "/v1/models", {}],
  ["/v1/models", "/v1/models", { "anthropic-version": "2023-06-01" }],
  ["/v1/models/replay", "/v1/models/{id}", {}],
  ["/v1/models/none", "/v1/models/{id}", {}],
  ["/v1/models/replay", "/v1/models/{id}", { "anthropic-version": "2023-06-01" }],
  ["/v1/responses/none", "/v1/responses/{id}", {}],
  ["/api/version", "/api/version", {}],
  ["/api/tags", "/api/tags", {}],
  ["/api/ps", "/api/ps", {}],
] satisfies readonly (readonly [string, string, Record<string, string>])[])(
  "GET %s, as %s, with %j",
  async (path, described, headers) => {
    expect(await faultOf("GET", described, await fetch(new URL(path, chat.server.url), { headers }))).toBeUndefined();
  },
);

test("no route reads a body by what its type says", async () => {
  const document = await (await fetch(new URL("/openapi.json", chat.server.url))).text();
  const { paths }: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(document);
  const types = [
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "application/json",
    "text/plain; charset=?",
    ";",
  ];
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of Object.keys(operations)) {
      if (method === "get" || path === "/api/pull") continue;
      for (const type of types) {
        const headers = { "content-type": type };
        const url = new URL(path.replaceAll(/\{\w+\}/g, "0"), chat.server.url);
        for (const body of [undefined, "{"]) {
          const response = await fetch(url, {
            method: method.toUpperCase(),
            headers,
            ...(body === undefined ? {} : { body }),
          });
          await response.text();
          expect([method, path, type, response.status < 500]).toEqual([method, path, type, true]);
        }
      }
    }
  }
});

test("a kept response, its items and its end", async () => {
  const url = (path: string) => new URL(path, chat.server.url);
  const body = JSON.stringify({ input: "Hello" });
  const { id } = JSON.parse(await (await fetch(url("/v1/responses"), { method: "POST", body })).text());
  const kept = "/v1/responses/{id}";
  expect(await faultOf("GET", kept, await fetch(url(`/v1/responses/${id}`)))).toBeUndefined();
  const items = await fetch(url(`/v1/responses/${id}/input_items?limit=1`));
  expect(await faultOf("GET", `${kept}/input_items`, items)).toBeUndefined();
  expect(await faultOf("DELETE", kept, await fetch(url(`/v1/responses/${id}`), { method: "DELETE" }))).toBeUndefined();
});
