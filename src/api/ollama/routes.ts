import { Elysia } from "elysia";
import { unparsed } from "../body.ts";
import type { Service } from "../service.ts";
import { embed, embeddings } from "./embed.ts";
import { copy, create, headBlob, postBlob, pull, push, remove, show } from "./manage.ts";
import { encodeLoaded, encodeModel } from "./models.ts";
import { chat, generate } from "./respond.ts";

/** Ollama's shape. Bodies are read by the room itself, since their text is needed as well as their values. */
export function ollamaRoutes(service: Service) {
  const { store } = service;
  const byName = (handle: Handler) => (context: { readonly request: Request }) => handle(service, context.request);
  const own = (handle: Handler) => byName((_, http) => foreign(http) ?? handle(service, http));
  return new Elysia({ name: "ollama" })
    .get("/api/version", () => Response.json({ version: protocolVersion }))
    .get("/api/tags", async () => Response.json({ models: (await store.list()).map(encodeModel) }))
    .get("/api/ps", async () => {
      const loaded = (await store.list()).filter((model) => model.loaded && model.derivation === undefined);
      return Response.json({ models: loaded.map((model) => encodeLoaded(model, service.describe())) });
    })
    .post("/api/chat", byName(chat), unparsed)
    .post("/api/generate", byName(generate), unparsed)
    .post("/api/embed", byName(embed), unparsed)
    .post("/api/embeddings", byName(embeddings), unparsed)
    .post("/api/show", byName(show), unparsed)
    .post("/api/create", own(create), unparsed)
    .post("/api/copy", own(copy), unparsed)
    .delete("/api/delete", own(remove), unparsed)
    .post("/api/pull", own(pull), unparsed)
    .post("/api/push", push, unparsed)
    .get("/api/blobs/:digest", ({ params }) => headBlob(service, params.digest))
    .post(
      "/api/blobs/:digest",
      ({ params, request }) => foreign(request) ?? postBlob(service, params.digest, request),
      unparsed,
    );
}

/** What Ollama's clients look for at `/`; undefined for everybody else. */
export function greeting(headers: Headers): Response | undefined {
  const known = /^ollama\b/i.test(headers.get("user-agent") ?? "");
  return known ? new Response("Ollama is running", { headers: { "content-type": "text/plain" } }) : undefined;
}

type Handler = (service: Service, http: Request) => Response | Promise<Response>;

/** Of Ollama, by whose number clients know what they may ask for: log-probabilities are the youngest thing here. */
const protocolVersion = "0.12.11";

/** A page of another site can send a plain POST to this machine without being asked. It may not change what is on its disk. */
function foreign(http: Request): Response | undefined {
  if (http.headers.get("sec-fetch-site") !== "cross-site") return undefined;
  return Response.json({ error: "pages of other sites may not change models" }, { status: 403 });
}
