import { Elysia } from "elysia";
import type { Answer } from "../../generation/answer.ts";
import type { Event } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { readJson, unparsed } from "../body.ts";
import { responseHeaders } from "../response-headers.ts";
import { callerOf, requestIdOf } from "../room.ts";
import type { Service } from "../service.ts";
import { sseResponse } from "../sse.ts";
import { decodeResponse, type Past, type ResponseRequest } from "./decode.ts";
import { echoSampling } from "./echo.ts";
import { encodeStream, encodeWhole, writtenBy } from "./encode.ts";
import { errorResponse, notFound, renamed } from "./error.ts";
import { inputItemsPage } from "./input-items.ts";
import type { Item } from "./items.ts";
import { wrongQuery } from "./query.ts";
import { nowSeconds, Recording } from "./recording.ts";
import type { ResponseFrame } from "./response.ts";
import { type Kept, ResponseStore, type StoredResponse } from "./store.ts";

/**
 * OpenAI's Responses, and those of them that are kept. Bodies are read by the room itself, since their text is needed as well as
 * their values.
 */
export function responsesRoutes(service: Service, store = new ResponseStore()) {
  const app = new Elysia({ name: "responses" });
  const kept = ({ request }: { readonly request: Request }) => store.of(callerOf(request));
  for (const path of ["/v1/responses", "/responses"]) {
    app
      .post(path, (context) => create(service, kept(context), context.request), unparsed)
      .post(`${path}/input_tokens`, (context) => countTokens(service, kept(context), context.request), unparsed)
      // Not the name of a response: nothing compacts conversations here.
      .post(
        `${path}/compact`,
        () => errorResponse({ kind: "unknown_url", method: "POST", path: `${path}/compact` }),
        unparsed,
      )
      .get(`${path}/:id`, (context) => retrieve(service, kept(context), context.params.id, context.request))
      .delete(`${path}/:id`, (context) => remove(kept(context), context.params.id), unparsed)
      .post(`${path}/:id/cancel`, (context) => cancel(kept(context), context.params.id), unparsed)
      .get(`${path}/:id/input_items`, (context) => listItems(kept(context), context.params.id, context.request));
  }
  return app;
}

export function claims(path: string): boolean {
  return /^(\/v1)?\/responses(\/|$)/.test(path);
}

async function create(service: Service, kept: Kept, http: Request): Promise<Response> {
  const body = await readJson(http);
  if (!body.ok) return errorResponse(body.failure);
  const id = `resp_${crypto.randomUUID().replaceAll("-", "")}`;
  const decoded = decodeResponse(body.value, pastOf(kept), { ...service, id: requestIdOf(http) });
  if (!decoded.ok) return errorResponse(decoded.failure);
  const asked = decoded.value;
  const { background } = asked.echo;

  const gone = new AbortController();
  const cancel = () => gone.abort();
  const signal = background ? gone.signal : AbortSignal.any([http.signal, gone.signal]);
  const answer = await service.answer(asked.request, signal);
  if (!answer.ok) return errorResponse(renamed(answer.failure));
  const headers = responseHeaders(answer.value, asked.ignored);
  const stream = { pingMs: asked.pingMs ?? service.pingMs, headers };
  if (!asked.echo.store) {
    const frame = frameOf(id, asked, answer.value, nowSeconds);
    if (asked.stream) return sseResponse(encodeStream(frame, answer.value.events), { ...stream, onCancel: cancel });
    return wholeResponse(frame, answer.value.events, headers);
  }

  const recording = new Recording();
  const frame = frameOf(id, asked, answer.value, () => recording.endedAt);
  const response: StoredResponse = { frame, input: asked.input, ownItems: asked.ownItems, recording, cancel };
  if (background) {
    kept.add(response);
    record(answer.value.events, recording).then(() => kept.settle(id));
    if (asked.stream) return followed(response, http.signal, stream);
    return Response.json(writtenBy(frame, recording.events).response(), { headers });
  }
  const events = keeping(answer.value.events, response, kept);
  if (asked.stream) return sseResponse(encodeStream(frame, events), { ...stream, onCancel: cancel });
  return wholeResponse(frame, events, headers);
}

async function wholeResponse(
  frame: ResponseFrame,
  events: AsyncIterable<Event>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const whole = await encodeWhole(frame, events);
  return whole.ok ? Response.json(whole.value, { headers }) : errorResponse(whole.failure);
}

async function record(events: AsyncIterable<Event>, recording: Recording): Promise<void> {
  for await (const event of events) recording.push(event);
}

/** Passes events on, and keeps the response before its caller can know that it is complete. One whose caller has gone is not kept. */
async function* keeping(
  events: AsyncIterable<Event>,
  response: StoredResponse,
  kept: Kept,
): AsyncGenerator<Event, void> {
  for await (const event of events) {
    response.recording.push(event);
    if (response.recording.ended) kept.add(response);
    yield event;
  }
}

/** A kept response as a stream, from behind the event with the sequence number `after`. `signal` is the listener's. */
function followed(
  { frame, recording }: StoredResponse,
  signal: AbortSignal,
  stream: { readonly pingMs: number; readonly headers: Readonly<Record<string, string>> },
  after = -1,
): Response {
  const left = new AbortController();
  const events = recording.follow(AbortSignal.any([signal, left.signal]));
  return sseResponse(encodeStream(frame, events, after), { ...stream, onCancel: () => left.abort() });
}

function retrieve(service: Service, kept: Kept, id: string, request: Request): Response {
  const response = kept.get(id);
  if (response === undefined) return notFound(id);
  const query = new URL(request.url).searchParams;
  const after = query.get("starting_after") ?? undefined;
  if (after !== undefined && !/^\d{1,15}$/.test(after))
    return errorResponse(wrongQuery("starting_after", "the number of an event"));
  const stream = query.get("stream") ?? "false";
  if (stream !== "true" && stream !== "false") return errorResponse(wrongQuery("stream", "'true' or 'false'"));
  if (stream === "false") {
    return Response.json(writtenBy(response.frame, response.recording.events).response());
  }
  return followed(response, request.signal, { pingMs: service.pingMs, headers: {} }, Number(after ?? -1));
}

function remove(kept: Kept, id: string): Response {
  const response = kept.get(id);
  if (response === undefined) return notFound(id);
  response.cancel();
  kept.delete(id);
  return Response.json({ id, object: "response", deleted: true });
}

/** Resolves when the response has ended. One that ended before stays as it is. */
async function cancel(kept: Kept, id: string): Promise<Response> {
  const response = kept.get(id);
  if (response === undefined) return notFound(id);
  const { frame, recording } = response;
  if (!frame.echo.background) {
    const message = "Only responses that were made with 'background' set to true can be cancelled.";
    return errorResponse({ kind: "invalid", message, param: "id" });
  }
  response.cancel();
  await Array.fromAsync(recording.follow(new AbortController().signal));
  return Response.json(writtenBy(frame, recording.events).response());
}

function listItems(kept: Kept, id: string, request: Request): Response {
  const response = kept.get(id);
  if (response === undefined) return notFound(id);
  const page = inputItemsPage(response.input, new URL(request.url).searchParams);
  return page.ok ? Response.json(page.value) : errorResponse(page.failure);
}

async function countTokens(service: Service, kept: Kept, http: Request): Promise<Response> {
  const body = await readJson(http);
  if (!body.ok) return errorResponse(body.failure);
  const decoded = decodeResponse(body.value, pastOf(kept), { ...service, id: requestIdOf(http) });
  if (!decoded.ok) return errorResponse(decoded.failure);
  const prompt = service.prompt(decoded.value.request);
  if (!prompt.ok) return errorResponse(prompt.failure);
  return Response.json({ object: "response.input_tokens", input_tokens: prompt.value.tokens.length });
}

function pastOf(kept: Kept): Past {
  return { item: (id) => kept.item(id), conversation: (id) => conversationOf(kept, id) };
}

function conversationOf(kept: Kept, id: string): Result<readonly Item[], Failure> {
  const param = "previous_response_id";
  const response = kept.get(id);
  if (response === undefined) {
    const message = `Previous response with id '${id}' not found.`;
    return fail({ kind: "invalid", message, param, code: "previous_response_not_found" });
  }
  if (!response.recording.ended) {
    const message = `Previous response with id '${id}' is still being made.`;
    return fail({ kind: "invalid", message, param, code: "previous_response_not_ready" });
  }
  return ok(kept.conversation(id) ?? []);
}

function frameOf(
  id: string,
  asked: ResponseRequest,
  { model, sampling }: Answer,
  endedAt: () => number,
): ResponseFrame {
  const { request, echo, reasoningAs, sealReasoning } = asked;
  return {
    id,
    createdAt: nowSeconds(),
    endedAt,
    model,
    echo: { ...echo, ...echoSampling(sampling) },
    logprobs: request.logprobs !== undefined,
    reasoningAs,
    sealReasoning,
  };
}
