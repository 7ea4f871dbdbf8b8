import type { Result } from "../generation/result.ts";
import type { Sampling } from "../generation/sampling.ts";
import type { ChannelName } from "../grammar/ir.ts";

/** What runs a model. native.ts is the Zig library; scripted.ts replays tokens for wire tests. */
export type Engine = {
  /** Tokens. */
  readonly vocabularyCount: number;
  readonly contextMax: number;
  /** Compiles an encoded Ir. The grammar is shared by requests and freed with its last one, once disposed. */
  compile(ir: Uint8Array<ArrayBuffer>, workUnits?: number): Result<Grammar, CompileFailure>;
  /** Never blocks. Fails when the queue is full or the prompt and the shortest answer do not fit. */
  submit(request: EngineRequest): Result<Generation, SubmitFailure>;
  /** The same for the vector of a text, which comes as `embedding` events: all that embedding models give, and no other model does. */
  embed(tokens: Uint32Array<ArrayBuffer>): Result<Generation, SubmitFailure>;
  /** Live counts, for health, metrics and leak tests. */
  stats(): EngineStats;
  [Symbol.dispose](): void;
};

export type Grammar = {
  readonly handle: number;
  /** Tokens of the shortest complete output. */
  readonly costMin: number;
  [Symbol.dispose](): void;
};

export type CompileFailure = {
  readonly kind: "invalid" | "unsatisfiable" | "limit";
  readonly message: string;
  /** `origin` of the Value at fault, when one is. */
  readonly origin: number | undefined;
};

export type SubmitFailure =
  | { readonly kind: "overloaded" }
  | { readonly kind: "context"; readonly needed: number; readonly contextMax: number }
  | { readonly kind: "invalid"; readonly message: string };

export type EngineRequest = Omit<Sampling, "seed"> & {
  readonly tokens: Uint32Array<ArrayBuffer>;
  readonly grammar: Grammar | undefined;
  readonly seed: number;
  /** With 0 the prompt is all there is. */
  readonly tokensMax: number;
  readonly stopTokens: readonly number[];
  /** Undefined: none. */
  readonly logprobs: number | undefined;
  /** Tell first how likely each token of the prompt was; only with `logprobs`. */
  readonly scorePrompt?: boolean;
  /** Park after every step until `release`, with logits and mask open to JavaScript. */
  readonly step: boolean;
  /** False: compute every token by itself. Drafts of what has to come change the time, and nothing else. */
  readonly drafts?: boolean;
};

/** One running request: its events in order, the last one `finish`. Breaking out of the loop cancels it. */
export type Generation = {
  readonly events: AsyncIterable<EngineEvent>;
  cancel(): void;
  /** Step mode: views over native memory of this request's slot, valid while it is parked. */
  readonly logits: Float32Array;
  readonly mask: Uint32Array;
  release(): void;
};

export type EngineEvent =
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  /** Bytes whose channel is decided. `call` counts call names from 0. May end inside a code point. */
  | { readonly kind: "bytes"; readonly channel: ChannelName; readonly call: number; readonly bytes: Uint8Array }
  /** Comes before the bytes that the token makes certain; only with `logprobs`. */
  | {
      readonly kind: "token";
      readonly token: number;
      readonly logprob: number;
      readonly top: readonly { readonly token: number; readonly logprob: number }[];
    }
  /** The next token of the prompt after its first one; only with `scorePrompt`. */
  | {
      readonly kind: "prompt_token";
      readonly token: number;
      readonly logprob: number;
      readonly top: readonly { readonly token: number; readonly logprob: number }[];
    }
  /** The next elements of the vector. */
  | { readonly kind: "embedding"; readonly elements: Float32Array }
  | { readonly kind: "parked"; readonly tokens: Uint32Array }
  | {
      readonly kind: "finish";
      readonly reason: EngineFinish;
      readonly timings: Timings;
      /** Over all tokens generated, the one that ended the answer included; says something only with `logprobs`. */
      readonly logprobSum?: number;
      /** Why it failed, for the log. */
      readonly message?: string;
    };

export type EngineFinish =
  /** The model chose a stop token. */
  | "stop_token"
  /** The grammar allows nothing but the end. */
  | "complete"
  | "length"
  | "context"
  | "cancelled"
  | "failed";

export type Timings = {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly promptMs: number;
  readonly completionMs: number;
  readonly closedByRule: boolean;
};

export type EngineStats = {
  readonly running: number;
  readonly queued: number;
  readonly grammars: number;
  /** Bytes of KV cache in use. */
  readonly cacheBytes: number;
};
