import type { Event, FinishReason, Usage } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { lexiconField } from "../lexicon-field.ts";
import { sseEvent } from "../sse.ts";
import { type BlockEvent, blocksOf } from "./blocks.ts";
import { errorBody } from "./error.ts";
import type { Display } from "./signature.ts";

/** What an answer says of itself, and how it is to be written. */
export type MessageFrame = {
  readonly id: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly display: Display;
  readonly requestId: string;
};

/**
 * Events → the text of an answer's body. Text, since the input of a call has to keep its order of keys and the digits of its
 * numbers.
 */
export async function encodeMessage(
  frame: MessageFrame,
  events: AsyncIterable<Event>,
): Promise<Result<string, Failure>> {
  const blocks: string[] = [];
  let block: object = {};
  let thought = "";
  let text = "";
  for await (const event of blocksOf(events, frame.display)) {
    switch (event.kind) {
      case "start":
        block = event.block;
        text = "";
        thought = "";
        break;
      case "text":
      case "arguments":
        text += event.text;
        break;
      case "thought":
        thought += event.text;
        break;
      case "signature":
        block = { ...block, thinking: thought, signature: event.signature };
        break;
      case "stop":
        // A call that was cut off is none.
        if (event.complete) blocks.push(blockText(event.type, block, text));
        break;
      case "finish":
        return ok(messageText(frame, blocks, event));
      case "failure":
        return fail(event.failure);
      default:
        event satisfies never;
    }
  }
  return fail({ kind: "engine", message: "The answer ended without a finish." });
}

/** Events → the frames of a stream, from `message_start` to `message_stop` or `error`. */
export async function* encodeStream(frame: MessageFrame, events: AsyncIterable<Event>): AsyncGenerator<string, void> {
  yield sse("message_start", { message: message(frame, [], openStop, startUsage(frame)) });
  yield pingFrame;
  for await (const event of blocksOf(events, frame.display)) {
    switch (event.kind) {
      case "start":
        yield sse("content_block_start", { index: event.index, content_block: event.block });
        break;
      case "text":
        yield delta(event, { type: "text_delta", text: event.text });
        break;
      case "arguments":
        yield delta(event, { type: "input_json_delta", partial_json: event.text });
        break;
      case "thought":
        yield delta(event, { type: "thinking_delta", thinking: event.text });
        break;
      case "signature":
        yield delta(event, { type: "signature_delta", signature: event.signature });
        break;
      case "stop":
        yield sse("content_block_stop", { index: event.index });
        break;
      case "finish": {
        const stop = { ...stopOf(event.reason), stop_details: null, container: null, ...lexiconField(event.words) };
        yield sse("message_delta", { delta: stop, usage: tokenUsage(event.usage) });
        yield sse("message_stop", {});
        return;
      }
      case "failure":
        yield sseEvent("error", errorBody(event.failure, frame.requestId));
        return;
      default:
        event satisfies never;
    }
  }
}

/** What fills silence. */
export const pingFrame = sse("ping", {});

function sse(type: string, fields: object): string {
  return sseEvent(type, { type, ...fields });
}

function delta({ index }: { readonly index: number }, delta: object): string {
  return sse("content_block_delta", { index, delta });
}

type Stop = { readonly stop_reason: string | null; readonly stop_sequence: string | null };

function message({ id, model }: MessageFrame, content: readonly unknown[], stop: Stop, usage: object) {
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content,
    ...stop,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage,
  };
}

const openStop: Stop = { stop_reason: null, stop_sequence: null };

/** The object of a message with these texts as its content. */
function messageText(frame: MessageFrame, blocks: readonly string[], event: FinishEvent): string {
  const whole = message(frame, [], stopOf(event.reason), messageUsage(tokenUsage(event.usage)));
  const text = JSON.stringify({ ...whole, ...lexiconField(event.words) });
  const content = '"content":[';
  const at = text.indexOf(`${content}]`) + content.length;
  return text.slice(0, at) + blocks.join(",") + text.slice(at);
}

type FinishEvent = Extract<BlockEvent, { kind: "finish" }>;

/** A call's input is the text as it was generated. */
function blockText(type: string, block: object, text: string): string {
  if (type === "thinking") return JSON.stringify(block);
  if (type === "text") return JSON.stringify({ ...block, text });
  const open = JSON.stringify({ ...block, input: undefined });
  return `${open.slice(0, -1)},"input":${text}}`;
}

function stopOf(reason: FinishReason): Stop {
  switch (reason.kind) {
    case "stop":
      return { stop_reason: "end_turn", stop_sequence: null };
    case "stop_string":
      return { stop_reason: "stop_sequence", stop_sequence: reason.text };
    case "calls":
      return { stop_reason: "tool_use", stop_sequence: null };
    case "length":
      return { stop_reason: "max_tokens", stop_sequence: null };
    case "context":
      return { stop_reason: "model_context_window_exceeded", stop_sequence: null };
    default:
      return reason satisfies never;
  }
}

/** The prompt's tokens are those that were read and those that the cache held; writing into it costs nothing, and is not counted. */
function tokenUsage({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: Usage) {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    output_tokens_details: { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  };
}

function messageUsage(tokens: ReturnType<typeof tokenUsage>) {
  return { ...tokens, cache_creation: null, service_tier: "standard", inference_geo: null, speed: null };
}

/** Before the prompt is read nobody knows how much of it the cache holds; `message_delta` says it. */
function startUsage({ promptTokens }: MessageFrame) {
  const nothing = { cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  return messageUsage(tokenUsage({ ...nothing, promptTokens, promptMs: 0, completionMs: 0, closedByRule: false }));
}
