import { Elysia } from "elysia";
import { readJson } from "../body.ts";
import { responseHeaders } from "../response-headers.ts";
import type { Service } from "../service.ts";
import { sseResponse } from "../sse.ts";
import { decodeChat } from "./decode.ts";
import { type ChatFrame, encodeAnswer, encodeStream } from "./encode.ts";
import { errorResponse } from "./error.ts";

/** OpenAI's shape. Bodies are read by the room itself, since their text is needed as well as their values. */
export function openaiRoutes(service: Service) {
  return new Elysia({ name: "openai" })
    .post("/v1/chat/completions", ({ request, server }) => chat(service, request, server), { parse: "none" })
    .post("/chat/completions", ({ request, server }) => chat(service, request, server), { parse: "none" })
    .get("/v1/models", () => Response.json({ object: "list", data: service.models.map(encodeModel) }))
    .get("/v1/models/*", ({ params }) => {
      const id = decodePath(params["*"]);
      const model = service.models.find((known) => known.id === id);
      return model === undefined
        ? errorResponse({ kind: "model_not_found", model: id })
        : Response.json(encodeModel(model));
    });
}

type Connection = { timeout(request: Request, seconds: number): void } | null;

async function chat(service: Service, http: Request, server: Connection): Promise<Response> {
  const body = await readJson(http);
  if (!body.ok) return errorResponse(body.failure);
  // From here on the client waits for us: a long prompt is no reason to cut the connection.
  server?.timeout(http, 0);
  const id = `chatcmpl-${crypto.randomUUID().replaceAll("-", "")}`;
  const decoded = decodeChat(body.value, { id, holdCalls: service.holdCalls });
  if (!decoded.ok) return errorResponse(decoded.failure);
  const { request, stream, includeUsage, ignored } = decoded.value;

  const gone = new AbortController();
  const answer = await service.answer(request, AbortSignal.any([http.signal, gone.signal]));
  if (!answer.ok) return errorResponse(answer.failure);
  const { model, events } = answer.value;
  const frame: ChatFrame = {
    id,
    created: Math.floor(Date.now() / 1000),
    model,
    toolsOffered: request.tools.length > 0,
    holdCalls: request.holdCalls,
    logprobs: request.logprobs !== undefined,
    includeUsage,
  };
  const headers = responseHeaders(answer.value, ignored);
  if (stream) {
    const onCancel = () => gone.abort();
    return sseResponse(encodeStream(frame, events), { pingMs: service.pingMs, headers, onCancel });
  }
  const encoded = await encodeAnswer(frame, events);
  return encoded.ok ? Response.json(encoded.value, { headers }) : errorResponse(encoded.failure);
}

/** A model's name may contain slashes, as they are or escaped. What is not an escape stands for itself. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function encodeModel(model: Service["models"][number]) {
  const { id, created, contextMax, dialect, dialectDetected } = model;
  return {
    id,
    object: "model",
    created,
    owned_by: "tenon",
    context_length: contextMax,
    tool_dialect: dialect,
    tool_dialect_detected: dialectDetected,
  };
}
