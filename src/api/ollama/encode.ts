import type { Event, FinishReason, TokenLogprob, Usage } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { lexiconField } from "../lexicon-field.ts";
import { encodeLogprob } from "../openai-logprobs.ts";
import { errorText } from "./error.ts";

/** What an answer says of itself, and how it is to be written. */
export type Frame = {
  readonly endpoint: "chat" | "generate";
  readonly model: string;
  /** Of performance.now(), when the request came. */
  readonly startMs: number;
  readonly logprobs: boolean;
};

/** Something that was said: text, thoughts, or whole calls as JSON texts. */
type Piece = {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly string[];
  readonly logprobs?: readonly TokenLogprob[];
};

/** Events → the text of an answer's body. Text, since the arguments of a call have to keep their order of keys and the digits of their numbers. */
export async function encodeAnswer(frame: Frame, events: AsyncIterable<Event>): Promise<Result<string, Failure>> {
  let text = "";
  let thinking = "";
  const calls: string[] = [];
  const logprobs: TokenLogprob[] = [];
  for await (const piece of pieces(events)) {
    if (piece.kind === "failure") return fail(piece.failure);
    if (piece.kind === "finish") return ok(line(frame, { text, thinking, calls, logprobs }, endOf(frame, piece)));
    text += piece.text ?? "";
    thinking += piece.thinking ?? "";
    calls.push(...(piece.calls ?? []));
    logprobs.push(...(piece.logprobs ?? []));
  }
  return fail({ kind: "engine", message: "The answer ended without a finish." });
}

/** Events → the lines of a stream. The last one has the statistics, or says what went wrong. */
export async function* encodeStream(frame: Frame, events: AsyncIterable<Event>): AsyncGenerator<string, void> {
  for await (const piece of pieces(events)) {
    if (piece.kind === "failure") yield `${JSON.stringify({ error: errorText(piece.failure) })}\n`;
    else
      yield `${line(frame, piece.kind === "finish" ? {} : piece, piece.kind === "finish" ? endOf(frame, piece) : goesOn)}\n`;
  }
}

/** The answer to a request that asks for nothing. */
export function encodeLoad({ endpoint, model }: Pick<Frame, "endpoint" | "model">, reason: "load" | "unload"): string {
  const frame: Frame = { endpoint, model, startMs: 0, logprobs: false };
  return line(frame, {}, { done: true, done_reason: reason });
}

type EndEvent = Extract<Event, { kind: "finish" | "failure" }>;

/** Calls come whole: their arguments arrive in one event, between a begin and an end. */
async function* pieces(
  events: AsyncIterable<Event>,
): AsyncGenerator<({ readonly kind: "piece" } & Piece) | EndEvent, void> {
  let call = "";
  for await (const event of events) {
    switch (event.kind) {
      case "progress":
      case "prompt":
        break;
      case "text":
        yield { kind: "piece", text: event.text, logprobs: event.logprobs };
        break;
      case "reasoning":
        yield { kind: "piece", thinking: event.text };
        break;
      case "call_begin": {
        const { id, index, name } = event;
        call = `{"id":${JSON.stringify(id)},"function":{"index":${index},"name":${JSON.stringify(name)},"arguments":`;
        break;
      }
      case "call_arguments":
        // Line breaks stand only between JSON's values, and each would end the line.
        call += event.text.replace(/[\r\n]/g, " ");
        break;
      case "call_end":
        yield { kind: "piece", calls: [`${call}}}`] };
        break;
      case "finish":
      case "failure":
        yield event;
        return;
      default:
        event satisfies never;
    }
  }
}

const goesOn = { done: false };

/** One object: who, when, what was said, how it ended. */
function line(frame: Frame, piece: Piece, end: object): string {
  const head = JSON.stringify({ model: frame.model, created_at: new Date().toISOString() });
  const logprobs = frame.logprobs && piece.logprobs?.length ? { logprobs: piece.logprobs.map(encodeLogprob) } : {};
  return `${head.slice(0, -1)},${said(frame, piece)},${JSON.stringify({ ...end, ...logprobs }).slice(1)}`;
}

/** The members that say something. */
function said({ endpoint }: Frame, { text = "", thinking = "", calls = [] }: Piece): string {
  const thoughts = thinking === "" ? "" : `,"thinking":${JSON.stringify(thinking)}`;
  if (endpoint === "generate") return `"response":${JSON.stringify(text)}${thoughts}`;
  const called = calls.length === 0 ? "" : `,"tool_calls":[${calls.join(",")}]`;
  return `"message":{"role":"assistant","content":${JSON.stringify(text)}${thoughts}${called}}`;
}

/** How an answer ended, and its statistics; durations are nanoseconds. The model was loaded before any request. */
function endOf({ endpoint, startMs }: Frame, event: Extract<Event, { kind: "finish" }>) {
  const { reason, usage, tokens } = event;
  return {
    done: true,
    done_reason: reasonOf(reason),
    ...(endpoint === "generate" ? { context: tokens ?? [] } : {}),
    total_duration: nanoseconds(performance.now() - startMs),
    load_duration: 0,
    ...durations(usage),
    ...lexiconField(event.words),
  };
}

function durations({ promptTokens, promptMs, completionTokens, completionMs }: Usage) {
  return {
    prompt_eval_count: promptTokens,
    prompt_eval_duration: nanoseconds(promptMs),
    eval_count: completionTokens,
    eval_duration: nanoseconds(completionMs),
  };
}

export function nanoseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1e6);
}

function reasonOf(reason: FinishReason): "stop" | "length" {
  switch (reason.kind) {
    case "stop":
    case "stop_string":
    case "calls":
      return "stop";
    case "length":
    case "context":
      return "length";
    default:
      return reason satisfies never;
  }
}
