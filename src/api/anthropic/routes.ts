import { Elysia } from "elysia";
import type { Failure } from "../../generation/failure.ts";
import type { Request as Asked } from "../../generation/request.ts";
import { ok, type Result } from "../../generation/result.ts";
import { readJson, unparsed } from "../body.ts";
import { findModel } from "../find-model.ts";
import { decodePath } from "../path.ts";
import { responseHeaders } from "../response-headers.ts";
import { requestIdOf } from "../room.ts";
import type { Service } from "../service.ts";
import { sseResponse } from "../sse.ts";
import { decodeCount, decodeMessages } from "./decode.ts";
import { encodeMessage, encodeStream, type MessageFrame, pingFrame } from "./encode.ts";
import { errorResponse } from "./error.ts";
import { encodeModel, modelsPage } from "./models.ts";

/** Anthropic's shape. Bodies are read by the room itself, since their text is needed as well as their values. */
export function anthropicRoutes(service: Service) {
  return new Elysia({ name: "anthropic" })
    .onRequest(({ request }) => models(service, request))
    .post("/v1/messages", ({ request }) => messages(service, request), unparsed)
    .post("/v1/messages/count_tokens", ({ request }) => countTokens(service, request), unparsed);
}

/** The room's own paths, and every path for its clients, which all send the version of the protocol. */
export function claims(path: string, headers: Headers): boolean {
  return /^\/v1\/messages(\/|$)/.test(path) || headers.has("anthropic-version");
}

async function messages(service: Service, http: Request): Promise<Response> {
  const requestId = requestIdOf(http);
  const body = await readJson(http);
  if (!body.ok) return errorResponse(body.failure, requestId);
  const id = `msg_${crypto.randomUUID().replaceAll("-", "")}`;
  const decoded = decodeMessages(body.value, { ...service, id: requestId });
  if (!decoded.ok) return errorResponse(decoded.failure, requestId);
  const { prefill, stream, pingMs = service.pingMs, display, ignored } = decoded.value;
  const request = withPrefill(service, decoded.value.request, prefill);
  if (!request.ok) return errorResponse(request.failure, requestId);

  const gone = new AbortController();
  const answer = await service.answer(request.value, AbortSignal.any([http.signal, gone.signal]));
  if (!answer.ok) return errorResponse(answer.failure, requestId);
  const { model, promptTokens, events } = answer.value;
  const frame: MessageFrame = { id, model, promptTokens, display, requestId };
  const headers = responseHeaders(answer.value, ignored);
  if (stream) {
    const options = { pingMs, ping: pingFrame, headers, onCancel: () => gone.abort() };
    return sseResponse(encodeStream(frame, events), options);
  }
  const encoded = await encodeMessage(frame, events);
  if (!encoded.ok) return errorResponse(encoded.failure, requestId);
  return new Response(encoded.value, { headers: { ...headers, "content-type": "application/json" } });
}

/**
 * The request whose answer goes on from a text of the assistant's. No template writes an open turn, so the text stands after the prompt
 * that the template ends with.
 */
function withPrefill(service: Service, request: Asked, prefill: string | undefined): Result<Asked, Failure> {
  if (prefill === undefined) return ok(request);
  const prompt = service.prompt(request);
  return prompt.ok ? ok({ ...request, messages: [], prompt: prompt.value.text + prefill }) : prompt;
}

async function countTokens(service: Service, http: Request): Promise<Response> {
  const requestId = requestIdOf(http);
  const body = await readJson(http);
  if (!body.ok) return errorResponse(body.failure, requestId);
  const decoded = decodeCount(body.value, { ...service, id: requestId });
  if (!decoded.ok) return errorResponse(decoded.failure, requestId);
  const request = withPrefill(service, decoded.value.request, decoded.value.prefill);
  const prompt = request.ok ? service.prompt(request.value) : request;
  if (!prompt.ok) return errorResponse(prompt.failure, requestId);
  return Response.json({ input_tokens: prompt.value.tokens.length });
}

/**
 * Two shapes have their models at the same path, and this one's clients tell themselves apart by a header: so they are answered before a
 * route is looked for.
 */
function models(service: Service, http: Request): Response | undefined {
  if (http.method !== "GET" || !http.headers.has("anthropic-version")) return undefined;
  const url = new URL(http.url);
  const id = /^\/v1\/models(?:\/(.*))?$/.exec(url.pathname);
  if (id === null) return undefined;
  const requestId = requestIdOf(http);
  if (id[1] === undefined || id[1] === "") {
    const page = modelsPage(service.models(), url.searchParams);
    return page.ok ? Response.json(page.value) : errorResponse(page.failure, requestId);
  }
  const wanted = decodePath(id[1]);
  const model = findModel(service, wanted);
  return model === undefined
    ? errorResponse({ kind: "model_not_found", model: wanted }, requestId)
    : Response.json(encodeModel(model));
}
