import type { Failure } from "./failure.ts";

/**
 * The inner answer: a stream of these in order. Text is whole code points. For a call, exactly one `call_begin`, then its
 * argument text in pieces whose concatenation is one JSON object (the raw input of a custom call), then `call_end`. The last event is always `finish`
 * or `failure`, and nothing follows it.
 */
export type Event =
  /** The prompt was read up to here; sent while it is long, so that a connection can be kept alive. */
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  /** All tokens of the prompt, before anything of the answer; only where the request scores them. */
  | { readonly kind: "prompt"; readonly tokens: readonly PromptToken[] }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "text"; readonly text: string; readonly logprobs: readonly TokenLogprob[] }
  | {
      readonly kind: "call_begin";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly custom: boolean;
    }
  | { readonly kind: "call_arguments"; readonly index: number; readonly text: string }
  | { readonly kind: "call_end"; readonly index: number }
  | {
      readonly kind: "finish";
      readonly reason: FinishReason;
      readonly usage: Usage;
      /** Prompt and answer, up to a stop string's last token; only where the request keeps them. */
      readonly tokens?: readonly number[];
      /** Log-probability of the answer, divided by its tokens with the one that ended it; only where log-probabilities are asked for. */
      readonly meanLogprob?: number;
      /** Of an answer that is held to a lexicon, and is a whole output of it. */
      readonly words?: LexiconWords;
    }
  | { readonly kind: "failure"; readonly failure: Failure };

/** The words of an output, each with the entry that it is, or is a spelling of. */
export type LexiconWords = readonly { readonly text: string; readonly entry: string }[];

export type FinishReason =
  /** The model ended, or the constraint was complete. */
  | { readonly kind: "stop" }
  | { readonly kind: "stop_string"; readonly text: string }
  | { readonly kind: "calls" }
  /** The caller's token limit. */
  | { readonly kind: "length" }
  /** The model's context. */
  | { readonly kind: "context" };

/** Natural logarithms of the model's own distribution, before mask and temperature. */
export type TokenLogprob = {
  readonly token: number;
  readonly bytes: Uint8Array;
  readonly logprob: number;
  readonly top: readonly { readonly token: number; readonly bytes: Uint8Array; readonly logprob: number }[];
};

/** The first token of a prompt follows nothing, and has no log-probability. */
export type PromptToken = Omit<TokenLogprob, "logprob"> & { readonly logprob: number | undefined };

export type Usage = {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  readonly promptMs: number;
  readonly completionMs: number;
  /** Whether the closing rule had to end a constrained answer within its token limit. */
  readonly closedByRule: boolean;
};
