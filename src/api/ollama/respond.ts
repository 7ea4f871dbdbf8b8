import type { Failure } from "../../generation/failure.ts";
import type { Request as InnerRequest } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { type JsonBody, readJson } from "../body.ts";
import { ndjsonResponse } from "../ndjson.ts";
import { responseHeaders } from "../response-headers.ts";
import { requestIdOf } from "../room.ts";
import type { Service } from "../service.ts";
import { truncated } from "../truncate.ts";
import { type Asked, decodeChat } from "./decode-chat.ts";
import { decodeGenerate } from "./decode-generate.ts";
import { encodeAnswer, encodeLoad, encodeStream, type Frame } from "./encode.ts";
import { errorResponse } from "./error.ts";

export const chat = (service: Service, http: Request) => answer(service, http, "chat", decodeChat);
export const generate = (service: Service, http: Request) => answer(service, http, "generate", decodeGenerate);

async function answer(
  service: Service,
  http: Request,
  endpoint: Frame["endpoint"],
  decode: (body: JsonBody, id: string, service: Service) => Result<Asked, Failure>,
): Promise<Response> {
  const startMs = performance.now();
  const body = await readJson(http);
  if (!body.ok) return errorResponse(body.failure);
  const decoded = decode(body.value, requestIdOf(http), service);
  if (!decoded.ok) return errorResponse(decoded.failure);
  const { model, request: wanted, stream, logprobs, keepAliveS, ignored, truncate, contextMax } = decoded.value;
  if (wanted === undefined) {
    const headers = responseHeaders({ constraint: "none", relaxed: [] }, ignored);
    return jsonText(encodeLoad({ endpoint, model: model.name }, keepAliveS === 0 ? "unload" : "load"), headers);
  }
  const fitting = truncate ? truncated(wanted, service, contextOf(service, contextMax)) : wanted;
  const request = withinContext(fitting, contextMax, service);
  if (!request.ok) return errorResponse(request.failure);

  const gone = new AbortController();
  const answered = await service.answer(request.value, AbortSignal.any([http.signal, gone.signal]));
  if (!answered.ok) return errorResponse(answered.failure);
  const frame: Frame = { endpoint, model: model.name, startMs, logprobs };
  const headers = responseHeaders(answered.value, ignored);
  if (stream) {
    const lines = encodeStream(frame, answered.value.events);
    return ndjsonResponse(lines, { headers, onCancel: () => gone.abort() });
  }
  const encoded = await encodeAnswer(frame, answered.value.events);
  return encoded.ok ? jsonText(encoded.value, headers) : errorResponse(encoded.failure);
}

function jsonText(text: string, headers: Readonly<Record<string, string>>): Response {
  return new Response(text, { headers: { ...headers, "content-type": "application/json; charset=utf-8" } });
}

function contextOf(service: Service, contextMax: number | undefined): number {
  return Math.min(contextMax ?? Number.POSITIVE_INFINITY, service.describe().contextMax);
}

/** The request, ended where prompt and answer together would have more tokens than the caller wants of a context that has more. */
function withinContext(
  request: InnerRequest,
  contextMax: number | undefined,
  service: Service,
): Result<InnerRequest, Failure> {
  if (contextMax === undefined || contextMax >= service.describe().contextMax) return ok(request);
  const prompt = service.prompt(request);
  if (!prompt.ok) return prompt;
  const promptTokens = prompt.value.tokens.length;
  const left = contextMax - promptTokens;
  if (left > 0) return ok({ ...request, tokensMax: Math.min(left, request.tokensMax ?? left) });
  const message = `The prompt has ${promptTokens} tokens, and 'num_ctx' is ${contextMax}: nothing is left for an answer.`;
  return fail({ kind: "context", message, promptTokens, contextMax });
}
