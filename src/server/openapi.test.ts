import { expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { script, startChat } from "../../tests/fixtures/chat.ts";
import { openapiDocument } from "./openapi.ts";
import { ownDocument } from "./own-routes.ts";
import { mountRooms, roomDocuments } from "./rooms.ts";

const chat = startChat(() => script([]));
await chat.server.stop(0);
const routes = [
  ...mountRooms(chat.service).routes,
  ...Object.keys(ownDocument.operations).map((route) => {
    const [method = "", path = ""] = route.split(" ");
    return { method, path };
  }),
];
const documents = [ownDocument, ...roomDocuments];
const document = openapiDocument(routes, documents, { version: "1.2.3", open: true });

test("every route is described, and nothing else", () => {
  const described = documents.flatMap(({ operations }) => Object.keys(operations));
  expect(new Set(routes.map(({ method, path }) => `${method} ${path}`))).toEqual(new Set(described));
});

test("the document is valid OpenAPI, and every reference leads to a schema", async () => {
  const plain = JSON.parse(JSON.stringify(document));
  expect(await new Validator().validate(plain)).toMatchObject({ valid: true });
  const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name ?? "",
  );
  expect(Object.keys(plain.components.schemas)).toEqual(expect.arrayContaining(names));
  const ids = [...JSON.stringify(document).matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(routes.length);
});

test("a route of two rooms has both of their answers", () => {
  expect(document).toMatchObject({
    paths: {
      "/v1/models": {
        get: {
          tags: ["OpenAI", "Anthropic"],
          responses: {
            "200": {
              content: {
                "application/json": {
                  schema: {
                    anyOf: [
                      { $ref: "#/components/schemas/ModelList" },
                      { $ref: "#/components/schemas/AnthropicModelList" },
                    ],
                  },
                },
              },
            },
          },
        },
      },
      "/v1/models/{id}": { get: { parameters: [{ name: "id", in: "path", required: true }, { in: "header" }] } },
    },
  });
});

test("with keys, they are asked for; health asks for none", () => {
  const keyed = openapiDocument(routes, documents, { version: "1", open: false });
  expect(keyed).toMatchObject({
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: { "/health": { get: { security: [] } } },
  });
});
