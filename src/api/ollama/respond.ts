import type { Failure } from "../../generation/failure.ts";
import type { Result } from "../../generation/result.ts";
import { type JsonBody, readJson } from "../body.ts";
import { ndjsonResponse } from "../ndjson.ts";
import { responseHeaders } from "../response-headers.ts";
import { requestIdOf } from "../room.ts";
import type { Service } from "../service.ts";
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
  const { model, request, stream, logprobs, keepAliveS, ignored } = decoded.value;
  if (request === undefined) {
    const headers = responseHeaders({ constraint: "none", relaxed: [] }, ignored);
    return jsonText(encodeLoad({ endpoint, model }, keepAliveS === 0 ? "unload" : "load"), headers);
  }
  const gone = new AbortController();
  const answered = await service.answer(request, AbortSignal.any([http.signal, gone.signal]));
  if (!answered.ok) return errorResponse(answered.failure);
  const frame: Frame = { endpoint, model, startMs, logprobs };
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
