import type { EngineEvent, EngineFinish } from "../engine/engine.ts";
import type { Constraint } from "../generation/answer.ts";
import type { Event, FinishReason, PromptToken, TokenLogprob } from "../generation/event.ts";
import { ArgumentWriter } from "./arguments.ts";
import { Content, type ContentPiece } from "./content.ts";
import { InputText } from "./input-text.ts";
import { utf8Decoder } from "./utf8.ts";

export type EventOptions = {
  readonly stop: readonly string[];
  readonly holdCalls: boolean;
  /** Tokens of the prompt, where the end shall tell of all. */
  readonly keptTokens?: Uint32Array;
  /** Tokens of the prompt, where the engine tells how likely each was. */
  readonly scoredTokens?: Uint32Array;
  /** Whether the engine tells how likely tokens are. */
  readonly logprobs?: boolean;
  /** Under a grammar the token limit only ends an answer where that is complete: all of it (`enforced`), or its calls (`triggered`). */
  readonly constraint: Constraint;
  readonly tokenBytes: (token: number) => Uint8Array;
  readonly callId: () => string;
  /** Whether calls of this name carry an input instead of arguments. */
  readonly isCustom: (name: string) => boolean;
  /** Tells the engine to stop; its `finish` still comes. */
  readonly cancel: () => void;
};

/** What the engine says about bytes and tokens → what the answer says about text and calls. */
export async function* toEvents(
  source: AsyncIterable<EngineEvent>,
  options: EventOptions,
): AsyncGenerator<Event, void> {
  const mapper = new EventMapper(options);
  for await (const event of source) {
    switch (event.kind) {
      case "progress":
        yield event;
        break;
      case "prompt_token":
        mapper.promptToken(event);
        break;
      case "token":
        yield* mapper.prompt();
        mapper.token(event);
        break;
      case "bytes":
        yield* mapper.bytes(event);
        break;
      case "parked":
      case "embedding":
        break;
      case "finish":
        yield* mapper.finish(event);
        return;
      default:
        event satisfies never;
    }
  }
  yield { kind: "failure", failure: { kind: "engine", message: "The engine ended the answer without a reason." } };
}

type BytesEvent = Extract<EngineEvent, { kind: "bytes" }>;
type FinishEvent = Extract<EngineEvent, { kind: "finish" }>;
type TokenEvent = Extract<EngineEvent, { kind: "token" | "prompt_token" }>;

class EventMapper {
  readonly #options: EventOptions;
  readonly #content: Content;
  #reasoning = utf8Decoder();
  #reasoningTokens = 0;
  #inReasoning = false;
  readonly #kept: number[] | undefined;
  /** Tokens of which bytes are still to come, with how many. */
  readonly #tokens: { readonly entry: TokenLogprob; bytesLeft: number }[] = [];
  /** Of the prompt; undefined once they are told, or where nobody asked. */
  #scored: PromptToken[] | undefined;
  #call: OpenCall | undefined;
  /** What came of arguments before the name of their call. */
  readonly #early: BytesEvent[] = [];
  #callsEnded = 0;
  /** Whether the last thing of the answer is a call that ended. */
  #endsWithCall = false;

  constructor(options: EventOptions) {
    this.#options = options;
    this.#content = new Content(options.stop);
    this.#kept = options.keptTokens === undefined ? undefined : [...options.keptTokens];
    const [first] = options.scoredTokens ?? [];
    if (first !== undefined) {
      this.#scored = [{ token: first, bytes: options.tokenBytes(first), logprob: undefined, top: [] }];
    }
  }

  promptToken(event: TokenEvent): void {
    this.#scored?.push(this.#entryOf(event));
  }

  /** All of the prompt is told before the first token of the answer. */
  *prompt(): Generator<Event, void> {
    if (this.#scored === undefined) return;
    yield { kind: "prompt", tokens: this.#scored };
    this.#scored = undefined;
  }

  token(event: TokenEvent): void {
    if (this.#content.stoppedBy === undefined) this.#kept?.push(event.token);
    const entry = this.#entryOf(event);
    this.#tokens.push({ entry, bytesLeft: entry.bytes.length });
  }

  #entryOf({ token, logprob, top }: TokenEvent): TokenLogprob {
    const { tokenBytes } = this.#options;
    const others = top.map((other) => ({ ...other, bytes: tokenBytes(other.token) }));
    return { token, bytes: tokenBytes(token), logprob, top: others };
  }

  *bytes(event: BytesEvent): Generator<Event, void> {
    if (this.#content.stoppedBy !== undefined) return;
    const { channel, call, bytes } = event;
    const slices = this.#sliceByToken(bytes);
    if (channel !== "reasoning") yield* this.#endReasoning();
    if (channel !== "call_name") yield* this.#writeEarly();
    if (channel === "text") {
      yield* this.#endCall(true);
      yield* this.#text(this.#content.push(slices));
      if (this.#content.stoppedBy !== undefined) this.#options.cancel();
      return;
    }
    // Around a whole object the markup is its call's end.
    if (channel === "markup") return yield* this.#endCall(false);
    yield* this.#text(this.#content.flush());
    switch (channel) {
      case "reasoning":
        this.#inReasoning = true;
        this.#reasoningTokens++;
        yield* reasoning(this.#reasoning.decode(bytes, { stream: true }));
        return;
      case "call_name":
        if (this.#call?.index !== call) {
          yield* this.#endCall(true);
          this.#call = new OpenCall(call, this.#options);
          this.#endsWithCall = false;
        }
        this.#call.name += this.#call.nameDecoder.decode(bytes, { stream: true });
        return;
      default:
        if (this.#call === undefined) this.#early.push(event);
        else yield* this.#call.write(channel, bytes);
    }
  }

  /** The name of the open call is complete. */
  *#writeEarly(): Generator<Event, void> {
    if (this.#call === undefined) return;
    for (const { channel, bytes } of this.#early.splice(0)) yield* this.#call.write(channel, bytes);
  }

  *finish({ reason, timings, logprobSum = 0, message }: FinishEvent): Generator<Event, void> {
    const { logprobs = false } = this.#options;
    const end = {
      usage: { ...timings, reasoningTokens: this.#reasoningTokens },
      ...(logprobs ? { meanLogprob: logprobSum / Math.max(1, timings.completionTokens) } : {}),
      ...(this.#kept === undefined ? {} : { tokens: this.#kept }),
    };
    const { stoppedBy } = this.#content;
    if (stoppedBy !== undefined) {
      yield { kind: "finish", reason: { kind: "stop_string", text: stoppedBy }, ...end };
      return;
    }
    if (reason === "cancelled") {
      yield { kind: "failure", failure: { kind: "cancelled" } };
      return;
    }
    if (reason === "failed") {
      yield {
        kind: "failure",
        failure: { kind: "engine", message: `The engine failed: ${message ?? "no reason given"}.` },
      };
      return;
    }
    yield* this.prompt();
    yield* this.#endReasoning();
    yield* this.#text(this.#content.flush());
    yield* this.#endCall(reason === "stop_token" || reason === "complete" || this.#options.constraint !== "none");
    yield { kind: "finish", reason: this.#reason(reason), ...end };
  }

  /** A complete answer is complete, also exactly at the limit. */
  #reason(reason: Exclude<EngineFinish, "cancelled" | "failed">): FinishReason {
    if (reason === "stop_token" || reason === "complete") return { kind: this.#callsEnded > 0 ? "calls" : "stop" };
    if (this.#endsWithCall) return { kind: "calls" };
    return this.#options.constraint === "enforced" && this.#call === undefined ? { kind: "stop" } : { kind: reason };
  }

  *#text({ text, logprobs }: ContentPiece): Generator<Event, void> {
    if (text === "") return;
    this.#endsWithCall = false;
    yield { kind: "text", text, logprobs };
  }

  *#endReasoning(): Generator<Event, void> {
    if (!this.#inReasoning) return;
    this.#inReasoning = false;
    yield* reasoning(this.#reasoning.decode());
    this.#reasoning = utf8Decoder();
  }

  /** Ends the open call if it is complete; one that is not stays open, and so never becomes part of the answer. */
  *#endCall(closed: boolean): Generator<Event, void> {
    if (this.#call === undefined || !this.#call.isComplete(closed)) return;
    yield* this.#call.end();
    this.#call = undefined;
    this.#callsEnded++;
    this.#endsWithCall = true;
  }

  /** Bytes come in the order of their tokens, so each slice belongs to the first token that still has some. */
  #sliceByToken(
    bytes: Uint8Array,
  ): readonly { readonly bytes: Uint8Array; readonly entry: TokenLogprob | undefined }[] {
    const slices: { readonly bytes: Uint8Array; readonly entry: TokenLogprob | undefined }[] = [];
    let at = 0;
    while (at < bytes.length) {
      const token = this.#tokens[0];
      if (token !== undefined && token.bytesLeft === 0) {
        this.#tokens.shift();
        continue;
      }
      const length = Math.min(token?.bytesLeft ?? Number.POSITIVE_INFINITY, bytes.length - at);
      // A token that lies across two pieces belongs to the first.
      const first = token !== undefined && token.bytesLeft === token.entry.bytes.length;
      slices.push({ bytes: bytes.subarray(at, at + length), entry: first ? token.entry : undefined });
      if (token !== undefined) token.bytesLeft -= length;
      at += length;
    }
    return slices;
  }
}

/** A call that was begun and not ended. Its name is known once something else follows. */
class OpenCall {
  readonly index: number;
  readonly nameDecoder = utf8Decoder();
  name = "";
  readonly #writer = new ArgumentWriter();
  /** Of a custom call: raw, or the one argument of an object. */
  readonly #raw = utf8Decoder();
  readonly #input = new InputText();
  #isObject = false;
  readonly #id: string;
  readonly #options: EventOptions;
  #begun = false;
  #held = "";

  constructor(index: number, options: EventOptions) {
    this.index = index;
    this.#id = options.callId();
    this.#options = options;
  }

  /** `closed`: the call's own end was written. Raw input says nothing about where it ends. */
  isComplete(closed: boolean): boolean {
    return this.#isRaw ? closed : this.#writer.isComplete(closed);
  }

  *write(channel: BytesEvent["channel"], bytes: Uint8Array): Generator<Event, void> {
    if (channel === "custom_input") return yield* this.#arguments(this.#raw.decode(bytes, { stream: true }));
    this.#isObject = true;
    const text = this.#writer.write(channel, bytes);
    yield* this.#arguments(this.#isCustom ? this.#input.write(text) : text);
  }

  *end(): Generator<Event, void> {
    const rest = this.#isRaw ? this.#raw.decode() : this.#writer.end();
    const text = this.#isCustom && this.#isObject ? this.#input.write(rest) : rest;
    if (this.#options.holdCalls) {
      yield this.#begin();
      yield { kind: "call_arguments", index: this.index, text: this.#held + text };
    } else yield* this.#arguments(text);
    yield { kind: "call_end", index: this.index };
  }

  get #isRaw(): boolean {
    return this.#isCustom && !this.#isObject;
  }

  get #isCustom(): boolean {
    return this.#options.isCustom(this.name);
  }

  *#arguments(text: string): Generator<Event, void> {
    if (this.#options.holdCalls) {
      this.#held += text;
      return;
    }
    if (!this.#begun) yield this.#begin();
    if (text !== "") yield { kind: "call_arguments", index: this.index, text };
  }

  #begin(): Event {
    this.#begun = true;
    return { kind: "call_begin", index: this.index, id: this.#id, name: this.name, custom: this.#isCustom };
  }
}

function* reasoning(text: string): Generator<Event, void> {
  if (text !== "") yield { kind: "reasoning", text };
}
