import type { Failure } from "../../generation/failure.ts";
import type { Request as InnerRequest } from "../../generation/request.ts";
import type { Result } from "../../generation/result.ts";
import { errorResponse } from "../openai-error.ts";
import { responseHeaders } from "../response-headers.ts";
import type { Service } from "../service.ts";
import { sseResponse } from "../sse.ts";
import { admitChoices, type ChoiceEvent, repeated } from "./choices.ts";
import type { Frame } from "./frame.ts";
import { scoredOnce } from "./scored-prompts.ts";

/** What one HTTP request asks to be generated. */
export type Asked = {
  readonly id: string;
  /** One for each prompt. */
  readonly requests: readonly InnerRequest[];
  /** Answers to each. */
  readonly choices: number;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly pingMs: number | undefined;
  readonly ignored: readonly string[];
};

/** How answers become a body or a stream. */
export type Encoding = {
  whole(frame: Frame, events: AsyncIterable<ChoiceEvent>): Promise<Result<object, Failure>>;
  stream(frame: Frame, events: AsyncIterable<ChoiceEvent>): AsyncIterable<string>;
};

/** Generates every choice and answers with them. */
export async function respond(
  service: Service,
  http: Request,
  { id, requests, choices, stream, includeUsage, pingMs, ignored }: Asked,
  encoding: Encoding,
): Promise<Response> {
  const gone = new AbortController();
  const signal = AbortSignal.any([http.signal, gone.signal]);
  const all = requests.flatMap((request) => repeated(request, choices).map(scoredOnce));
  const answers = await admitChoices(service, all, signal);
  if (!answers.ok) return errorResponse(answers.failure);
  const { model, events } = answers.value;
  const created = Math.floor(Date.now() / 1000);
  const frame = { id, created, model, choices: all.length, choicesPerPrompt: choices, includeUsage };
  const headers = responseHeaders(answers.value, ignored);
  if (stream) {
    const onCancel = () => gone.abort();
    return sseResponse(encoding.stream(frame, events), { pingMs: pingMs ?? service.pingMs, headers, onCancel });
  }
  const encoded = await encoding.whole(frame, events);
  return encoded.ok ? Response.json(encoded.value, { headers }) : errorResponse(encoded.failure);
}
