import { describer, type RoomDocument } from "../api/operation.ts";

/** Open to everybody at all times: how a server is asked whether it lives. */
export const healthPaths: readonly string[] = ["/", "/health", "/v1/health"];

const of = describer("Server", "OpenAIError");
const health = { ...of({ summary: "Whether the server lives and takes requests", answer: "Health" }), security: [] };

/** The routes that belong to no room, as /openapi.json has them. */
export const ownDocument: RoomDocument = {
  operations: {
    ...Object.fromEntries(healthPaths.map((path) => [`GET ${path}`, health])),
    "GET /metrics": of({ summary: "Counts for Prometheus", plain: { answer: "text/plain" } }),
    "GET /openapi.json": of({ summary: "This document", answer: "OpenAPI" }),
  },
  schemas: {
    Health: {
      type: "object",
      required: ["status"],
      properties: { status: { const: "ok" } },
    },
    OpenAPI: { type: "object", required: ["openapi", "info", "paths"] },
  },
};
