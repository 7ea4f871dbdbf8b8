import { enums, none, structs } from "./abi.gen.ts";
import { channelName } from "./channel.ts";
import type { EngineEvent, EngineFinish } from "./engine.ts";
import { type Field, readField } from "./memory.ts";

/** An event as it comes from the ring. A parked request names its slot and the token before; only JavaScript keeps the text so far. */
export type NativeEvent =
  | Exclude<EngineEvent, { kind: "parked" }>
  | { readonly kind: "parked"; readonly slot: number; readonly previous: number | undefined };

/** Reads the records in the first `length` bytes; what it passes on is copied. */
export function readEvents(
  buffer: Uint8Array<ArrayBuffer>,
  length: number,
  receive: (request: number, event: NativeEvent) => void,
): void {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const { fields } = structs.EventHead;
  for (let at = 0; at < length; at += readField(view, at, fields.bytes)) {
    receive(readField(view, at, fields.request), readEvent(buffer, view, at, readField(view, at, fields.kind)));
  }
}

function readEvent(buffer: Uint8Array<ArrayBuffer>, view: DataView, at: number, kind: number): NativeEvent {
  const get = (field: Field) => readField(view, at, field);
  switch (kind) {
    case enums.EventKind.progress: {
      const { done, total } = structs.EventProgress.fields;
      return { kind: "progress", done: get(done), total: get(total) };
    }
    case enums.EventKind.text: {
      const { bytes: head, fields } = structs.EventText;
      const call = get(fields.call);
      return {
        kind: "bytes",
        channel: channelName(get(fields.channel)),
        call: call === none ? 0 : call,
        bytes: buffer.slice(at + head, at + head + get(fields.length)),
      };
    }
    case enums.EventKind.token:
      return { kind: "token", ...readToken(view, at) };
    case enums.EventKind.prompt_token:
      return { kind: "prompt_token", ...readToken(view, at) };
    case enums.EventKind.embedding: {
      const { bytes: head, fields } = structs.EventEmbedding;
      return {
        kind: "embedding",
        elements: new Float32Array(buffer.slice(at + head, at + head + 4 * get(fields.count)).buffer),
      };
    }
    case enums.EventKind.parked: {
      const { slot, previous } = structs.EventParked.fields;
      return { kind: "parked", slot: get(slot), previous: get(previous) === none ? undefined : get(previous) };
    }
    case enums.EventKind.finish:
      return readFinish(buffer, at, get);
    default:
      throw new Error(`no event has the number ${kind}`);
  }
}

function readToken(view: DataView, at: number) {
  const { bytes: head, fields } = structs.EventToken;
  const { bytes: each, fields: pair } = structs.Logprob;
  const top = Array.from({ length: readField(view, at, fields.alternatives) }, (_, index) => ({
    token: readField(view, at + head + index * each, pair.token),
    logprob: readField(view, at + head + index * each, pair.logprob),
  }));
  return { token: readField(view, at, fields.token), logprob: readField(view, at, fields.logprob), top };
}

function readFinish(buffer: Uint8Array, at: number, get: (field: Field) => number): NativeEvent {
  const { bytes: head, fields } = structs.EventFinish;
  const message = utf8.decode(buffer.subarray(at + head, at + head + get(fields.length)));
  return {
    kind: "finish",
    reason: finishReason(get(fields.reason)),
    timings: {
      promptTokens: get(fields.prompt_tokens),
      cachedTokens: get(fields.cached_tokens),
      completionTokens: get(fields.completion_tokens),
      promptMs: get(fields.prompt_ms),
      completionMs: get(fields.completion_ms),
      closedByRule: get(fields.closed_by_rule) === 1,
    },
    logprobSum: get(fields.logprob_sum),
    ...(message === "" ? {} : { message }),
  };
}

function finishReason(number: number): EngineFinish {
  const reason = finishReasons.find((name) => enums.FinishReason[name] === number);
  if (reason === undefined) throw new Error(`no reason to finish has the number ${number}`);
  return reason;
}

const finishReasons = [
  "stop_token",
  "complete",
  "length",
  "context",
  "cancelled",
  "failed",
] as const satisfies readonly EngineFinish[];

const utf8 = new TextDecoder();
