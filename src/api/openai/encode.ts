import type { Event, FinishReason, TokenLogprob, Usage } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { sseData, sseDone } from "../sse.ts";
import { errorBody } from "./error.ts";

/** What every chunk of one answer repeats, and how it is to be written. */
export type ChatFrame = {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  /** Then an answer without text has the content null, else "". */
  readonly toolsOffered: boolean;
  /** Calls come whole, so that name and arguments can share a chunk. */
  readonly holdCalls: boolean;
  readonly logprobs: boolean;
  readonly includeUsage: boolean;
};

/** Events → the body of an answer without stream. */
export async function encodeAnswer(frame: ChatFrame, events: AsyncIterable<Event>): Promise<Result<object, Failure>> {
  let text = "";
  let reasoning = "";
  const logprobs: object[] = [];
  const open = new Map<number, { id: string; name: string; arguments: string }>();
  const calls: object[] = [];
  for await (const event of events) {
    switch (event.kind) {
      case "progress":
        break;
      case "reasoning":
        reasoning += event.text;
        break;
      case "text":
        text += event.text;
        logprobs.push(...event.logprobs.map(encodeLogprob));
        break;
      case "call_begin":
        open.set(event.index, { id: event.id, name: event.name, arguments: "" });
        break;
      case "call_arguments": {
        const call = open.get(event.index);
        if (call !== undefined) call.arguments += event.text;
        break;
      }
      case "call_end": {
        const call = open.get(event.index);
        if (call === undefined) break;
        const { id, name, arguments: text } = call;
        calls.push({ id, type: "function", function: { name, arguments: text } });
        break;
      }
      case "finish": {
        const message = {
          role: "assistant",
          content: text === "" && frame.toolsOffered ? null : text,
          refusal: null,
          annotations: [],
          ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        };
        const choice = {
          index: 0,
          message,
          logprobs: frame.logprobs ? { content: logprobs, refusal: null } : null,
          finish_reason: finishReason(event.reason),
        };
        const usage = encodeUsage(event.usage);
        return ok({ ...head(frame, "chat.completion"), choices: [choice], usage, timings: timings(event.usage) });
      }
      case "failure":
        return fail(event.failure);
      default:
        event satisfies never;
    }
  }
  return fail({ kind: "engine", message: "The answer ended without a finish." });
}

/** Events → the frames of a stream, from the role to `[DONE]`. */
export async function* encodeStream(frame: ChatFrame, events: AsyncIterable<Event>): AsyncGenerator<string, void> {
  const start = head(frame, "chat.completion.chunk");
  const usageSoFar = frame.includeUsage ? { usage: null } : {};
  const chunk = (delta: object, logprobs: object | null = null, reason: string | null = null) =>
    sseData({ ...start, choices: [{ index: 0, delta, logprobs, finish_reason: reason }], ...usageSoFar });
  let held: { readonly id: string; readonly name: string } | undefined;

  yield chunk({ role: "assistant", content: frame.toolsOffered ? null : "" });
  for await (const event of events) {
    switch (event.kind) {
      case "progress":
      case "call_end":
        break;
      case "reasoning":
        yield chunk({ reasoning_content: event.text });
        break;
      case "text": {
        const logprobs = frame.logprobs ? { content: event.logprobs.map(encodeLogprob), refusal: null } : null;
        yield chunk({ content: event.text }, logprobs);
        break;
      }
      case "call_begin":
        if (frame.holdCalls) held = event;
        else yield chunk({ tool_calls: [encodeCall(event, event.index, "")] });
        break;
      case "call_arguments":
        yield chunk({ tool_calls: [encodeCall(held, event.index, event.text)] });
        held = undefined;
        break;
      case "finish":
        yield sseData({
          ...start,
          choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: finishReason(event.reason) }],
          ...usageSoFar,
          timings: timings(event.usage),
        });
        if (frame.includeUsage) yield sseData({ ...start, choices: [], usage: encodeUsage(event.usage) });
        yield sseDone;
        return;
      case "failure":
        yield sseData(errorBody(event.failure));
        yield sseDone;
        return;
      default:
        event satisfies never;
    }
  }
}

function head(frame: ChatFrame, object: string) {
  const { id, created, model } = frame;
  return { id, object, created, model, system_fingerprint: `fp_${Bun.hash(model).toString(16)}` };
}

/** A piece of a call; `begun` is what only its first piece says. */
function encodeCall(begun: { readonly id: string; readonly name: string } | undefined, index: number, text: string) {
  if (begun === undefined) return { index, function: { arguments: text } };
  return { index, id: begun.id, type: "function", function: { name: begun.name, arguments: text } };
}

function finishReason(reason: FinishReason): string {
  switch (reason.kind) {
    case "stop":
    case "stop_string":
      return "stop";
    case "calls":
      return "tool_calls";
    case "length":
    case "context":
      return "length";
    default:
      return reason satisfies never;
  }
}

function encodeLogprob(entry: TokenLogprob) {
  return { ...encodeToken(entry), top_logprobs: entry.top.map(encodeToken) };
}

/** Tokens that end inside a code point show U+FFFD as text; `bytes` are exact. */
function encodeToken({ bytes, logprob }: { readonly bytes: Uint8Array; readonly logprob: number }) {
  return { token: new TextDecoder().decode(bytes), logprob, bytes: [...bytes] };
}

function encodeUsage(usage: Usage) {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

/** llama.cpp's extension, under its names. */
function timings(usage: Usage) {
  const { promptMs, completionMs, cachedTokens } = usage;
  const read = usage.promptTokens - cachedTokens;
  return {
    cache_n: cachedTokens,
    prompt_n: read,
    prompt_ms: promptMs,
    prompt_per_token_ms: ratio(promptMs, read),
    prompt_per_second: ratio(read * 1000, promptMs),
    predicted_n: usage.completionTokens,
    predicted_ms: completionMs,
    predicted_per_token_ms: ratio(completionMs, usage.completionTokens),
    predicted_per_second: ratio(usage.completionTokens * 1000, completionMs),
  };
}

function ratio(a: number, b: number): number {
  return b === 0 ? 0 : a / b;
}
