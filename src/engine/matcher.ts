import { fail, ok, type Result } from "../generation/result.ts";
import type { ChannelName } from "../grammar/ir.ts";
import { none, structs } from "./abi.gen.ts";
import { channelName } from "./channel.ts";
import type { Grammar } from "./engine.ts";
import { type Library, statuses } from "./library.ts";
import { readField, reportOf } from "./memory.ts";
import type { NativeVocabulary } from "./vocabulary.ts";

/** Follows one output through a grammar, token by token, for whoever brings the model. */
export type Matcher = {
  /** Bit `t & 31` of word `t >> 5` says that token t may come next. Native memory: `fill` writes it in place. */
  readonly mask: Uint32Array<ArrayBuffer>;
  /** Allows only tokens after which the output can be finished within `tokensLeft`, the next one included. */
  fill(tokensLeft?: number): void;
  /** False, and nothing changed, when the token is not allowed. */
  accept(token: number): boolean;
  allowed(token: number, tokensLeft?: number): boolean;
  acceptsEnd(): boolean;
  /** Nothing but the end may follow. */
  isComplete(): boolean;
  /** Tokens of the shortest completion. */
  cost(): number;
  /** What the last accepted token made certain. */
  segments(): Segment[];
  /** At the end: what is still held back. */
  flush(): Segment[];
  /** A second output with the same beginning; it cannot be taken back further than that. */
  fork(): Result<Matcher, string>;
  /** Takes back the last `count` tokens; false, and nothing changed, when there are fewer or more than are remembered. */
  rollback(count: number): boolean;
  /** The bytes that have to come next: no other may, except for whitespace. Empty where there is a choice. */
  forced(): Uint8Array<ArrayBuffer>;
  [Symbol.dispose](): void;
};

export type Segment = {
  readonly channel: ChannelName;
  /** Counts call names from 0; undefined before the first. */
  readonly call: number | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

export function createMatcher(
  vocabulary: NativeVocabulary,
  grammar: Grammar,
  stopTokens: readonly number[],
): Result<Matcher, string> {
  const { calls } = vocabulary.library;
  const stops = Uint32Array.from(stopTokens);
  return opened(vocabulary, (report) => calls.tenon_matcher_create(grammar.handle, stops, stops.length, report));
}

function opened(vocabulary: NativeVocabulary, open: (report: Uint8Array) => number): Result<Matcher, string> {
  const { library } = vocabulary;
  const { calls } = library;
  const report = reportOf(structs.MatcherReport);
  if (open(report.bytes) !== statuses.ok) return fail(library.errorText());
  const handle = report.get("handle");
  const mask = vocabulary.maskRows[report.get("row")];
  if (mask === undefined) throw new Error("a matcher without a row");
  /** A count, or the bug that made a call fail: nothing here depends on what users send. */
  const checked = (status: number): number => {
    if (status < 0) throw new Error(library.errorText());
    return status;
  };
  const segments = () => readSegments(library, handle, checked);
  return ok({
    mask,
    fill: (tokensLeft = none) => {
      checked(calls.tenon_matcher_mask(handle, tokensLeft));
    },
    accept: (token) => checked(calls.tenon_matcher_accept(handle, token)) === 1,
    allowed: (token, tokensLeft = none) => checked(calls.tenon_matcher_allowed(handle, token, tokensLeft)) === 1,
    acceptsEnd: () => checked(calls.tenon_matcher_accepts_end(handle)) === 1,
    isComplete: () => checked(calls.tenon_matcher_is_complete(handle)) === 1,
    cost: () => checked(calls.tenon_matcher_cost(handle)),
    segments,
    flush: () => {
      checked(calls.tenon_matcher_flush(handle));
      return segments();
    },
    fork: () => opened(vocabulary, (other) => calls.tenon_matcher_fork(handle, other)),
    rollback: (count) => checked(calls.tenon_matcher_rollback(handle, count)) === 1,
    forced: () => {
      const buffer = new Uint8Array(forcedBytes);
      return buffer.slice(0, checked(calls.tenon_matcher_forced(handle, buffer, buffer.length)));
    },
    [Symbol.dispose]: () => {
      calls.tenon_matcher_destroy(handle);
    },
  });
}

function readSegments(library: Library, handle: number, checked: (status: number) => number): Segment[] {
  let buffer = new Uint8Array(segmentBytes);
  let length = checked(library.calls.tenon_matcher_segments(handle, buffer, buffer.length));
  if (length > buffer.length) {
    buffer = new Uint8Array(length);
    length = checked(library.calls.tenon_matcher_segments(handle, buffer, buffer.length));
  }
  const { bytes: headBytes, fields } = structs.Segment;
  const view = new DataView(buffer.buffer);
  const out: Segment[] = [];
  for (let at = 0; at < length; ) {
    const call = readField(view, at, fields.call);
    const size = readField(view, at, fields.length);
    out.push({
      channel: channelName(readField(view, at, fields.channel)),
      call: call === none ? undefined : call,
      bytes: buffer.slice(at + headBytes, at + headBytes + size),
    });
    at += headBytes + Math.ceil(size / 4) * 4;
  }
  return out;
}

/** Bytes of forced text that are looked for at once: longer than any key or frame. */
const forcedBytes = 512;
/** Bytes that nearly every token's segments fit into. */
const segmentBytes = 1024;
