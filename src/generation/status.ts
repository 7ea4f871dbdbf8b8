/** Counts of now, and sums since the start. */
export type Status = {
  /** Requests that can run at once. */
  readonly slots: number;
  readonly running: number;
  readonly queued: number;
  readonly queueMax: number;
  /** Compiled grammars alive. */
  readonly grammars: number;
  /** Bytes of KV cache in use. */
  readonly cacheBytes: number;
  readonly totals: Totals;
};

export type Totals = {
  /** Answers that finished, and those that failed or were cancelled. */
  readonly finished: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly calls: number;
  /** Texts that were embedded; their tokens and time are among those of prompts. */
  readonly embeddings: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly promptMs: number;
  readonly completionMs: number;
};
