import { Elysia } from "elysia";
import type { Failure } from "../../generation/failure.ts";
import type { Result } from "../../generation/result.ts";
import { type JsonBody, readJson, unparsed } from "../body.ts";
import { findModel } from "../find-model.ts";
import { errorResponse } from "../openai-error.ts";
import { decodePath } from "../path.ts";
import { responseHeaders } from "../response-headers.ts";
import { requestIdOf } from "../room.ts";
import type { Service } from "../service.ts";
import type { ChoiceEvent } from "./choices.ts";
import { decodeChat } from "./decode.ts";
import { decodeCompletion } from "./decode-completion.ts";
import { decodeEmbedding, dimensionsFailure, encodeEmbeddings } from "./embeddings.ts";
import { encodeAnswer, encodeStream } from "./encode.ts";
import { encodeCompletion, encodeCompletionStream } from "./encode-completion.ts";
import { applyTemplate, detokenize, inputTokens, props, slots, tokenize } from "./llama-server.ts";
import { encodeModel } from "./models.ts";
import { respond } from "./respond.ts";
import { withScoredPrompts } from "./scored-prompts.ts";

/** OpenAI's shape, and llama-server's beside it. Bodies are read by the room itself, since their text is needed as well as their values. */
export function openaiRoutes(service: Service) {
  const models = () => Response.json({ object: "list", data: service.models().map(encodeModel) });
  const model = ({ params }: { readonly params: { readonly "*": string } }) => {
    const id = decodePath(params["*"]);
    const detail = findModel(service, id);
    if (detail === undefined) return errorResponse({ kind: "model_not_found", model: id });
    return Response.json(encodeModel(detail));
  };
  return new Elysia({ name: "openai" })
    .post("/v1/chat/completions", posted(service, chat), unparsed)
    .post("/chat/completions", posted(service, chat), unparsed)
    .post("/v1/completions", posted(service, completion), unparsed)
    .post("/v1/embeddings", posted(service, embeddings), unparsed)
    .post("/v1/chat/completions/input_tokens", posted(service, answered(inputTokens)), unparsed)
    .post("/tokenize", posted(service, answered(tokenize)), unparsed)
    .post("/detokenize", posted(service, answered(detokenize)), unparsed)
    .post("/apply-template", posted(service, answered(applyTemplate)), unparsed)
    .get("/props", () => Response.json(props(service)))
    .get("/slots", () => Response.json(slots(service)))
    .get("/v1/models", models)
    .get("/models", models)
    .get("/v1/models/*", model);
}

type Handler = (service: Service, body: JsonBody, http: Request) => Response | Promise<Response>;

/** Reads the body and passes it on. */
function posted(service: Service, handle: Handler) {
  return async ({ request }: { readonly request: Request }): Promise<Response> => {
    const body = await readJson(request);
    if (!body.ok) return errorResponse(body.failure);
    return handle(service, body.value, request);
  };
}

/** What is answered at once, without the model. */
function answered(answer: (service: Service, body: JsonBody) => Result<object, Failure>): Handler {
  return (service, body) => {
    const value = answer(service, body);
    return value.ok ? Response.json(value.value) : errorResponse(value.failure);
  };
}

async function chat(service: Service, body: JsonBody, http: Request): Promise<Response> {
  const id = freshId("chatcmpl-");
  const decoded = decodeChat(body, { id: requestIdOf(http), service });
  if (!decoded.ok) return errorResponse(decoded.failure);
  const { request, legacy, ...asked } = decoded.value;
  const written = {
    toolsOffered: request.tools.length > 0,
    holdCalls: request.holdCalls,
    logprobs: request.logprobs !== undefined,
    legacy,
    reasoningAlias: service.reasoningAlias ?? false,
  };
  return respond(
    service,
    http,
    { ...asked, id, requests: [request] },
    {
      whole: (frame, events) => encodeAnswer({ ...frame, ...written }, events),
      stream: (frame, events) => encodeStream({ ...frame, ...written }, events),
    },
  );
}

async function completion(service: Service, body: JsonBody, http: Request): Promise<Response> {
  const id = freshId("cmpl-");
  const decoded = decodeCompletion(body, { id: requestIdOf(http), service });
  if (!decoded.ok) return errorResponse(decoded.failure);
  const { echo, logprobs, kept, ...asked } = decoded.value;
  const texts = asked.requests.map(({ prompt = "" }) => (echo ? textOf(service, prompt) : ""));
  const scored = asked.requests.some(({ scorePrompt }) => scorePrompt);
  const written = {
    echoes: texts.flatMap((text) => Array.from({ length: asked.choices }, () => text)),
    kept,
    logprobs,
    scored,
  };
  const prompted = (events: AsyncIterable<ChoiceEvent>) => (scored ? withScoredPrompts(events, asked.choices) : events);
  return respond(
    service,
    http,
    { ...asked, id },
    {
      whole: (frame, events) => encodeCompletion({ ...frame, ...written }, prompted(events)),
      stream: (frame, events) => encodeCompletionStream({ ...frame, ...written }, prompted(events)),
    },
  );
}

async function embeddings(service: Service, body: JsonBody, http: Request): Promise<Response> {
  const decoded = decodeEmbedding(body, service);
  if (!decoded.ok) return errorResponse(decoded.failure);
  const wanted = decoded.value;
  const model = service.chosen(wanted.model);
  if (!model.ok) return errorResponse(model.failure);
  const refusal = dimensionsFailure(wanted, service.describe());
  if (refusal !== undefined) return errorResponse(refusal);
  const { id, asked } = model.value;
  const options = { id: requestIdOf(http), model: asked, truncate: false };
  const embedded = await service.embed(wanted.inputs, options, http.signal);
  if (!embedded.ok) return errorResponse(embedded.failure);
  const headers = responseHeaders({ constraint: "none", relaxed: [] }, wanted.ignored);
  return Response.json(encodeEmbeddings(id, embedded.value, wanted), { headers });
}

function freshId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll("-", "");
}

function textOf(service: Service, prompt: string | Uint32Array): string {
  return typeof prompt === "string" ? prompt : new TextDecoder().decode(service.detokenize([...prompt]));
}
