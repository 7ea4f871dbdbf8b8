/** Text ↔ tokens of one model, and its vocabulary's bytes for the native side. */
export type Tokenizer = {
  /**
   * `special`: control and added tokens spelled in the text become those tokens (prompts); otherwise they are text.
   * No BOS is added: prompt/ decides that. With `tokensMax` a text that has more tokens for certain, by its length alone, is cut
   * where that is so: enough to refuse it, without the seconds that megabytes take.
   */
  encode(text: string, options: { readonly special: boolean; readonly tokensMax?: number }): Uint32Array<ArrayBuffer>;
  /** The exact bytes of tokens, joined; control tokens only with `special`. */
  decode(tokens: readonly number[], options: { readonly special: boolean }): Uint8Array;
  /** The id of a token by its exact text, such as `<tool_call>` or `<|im_end|>`. */
  idOf(text: string): number | undefined;
  readonly vocabulary: VocabularyData;
  readonly bos: number | undefined;
  readonly addBos: boolean;
  readonly eos: number | undefined;
  /** Whether a text that stands for itself ends with it. */
  readonly addEos: boolean;
  /** End-of-turn and end-of-text tokens: generation stops at any of them. */
  readonly stopTokens: readonly number[];
};

/** A vocabulary as the native side takes it. */
export type VocabularyData = {
  readonly count: number;
  /** All tokens' bytes, one after another. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** count + 1 offsets into `bytes`. */
  readonly offsets: Uint32Array<ArrayBuffer>;
  /** One of `tokenKinds` for each token. */
  readonly kinds: Uint8Array<ArrayBuffer>;
};

/** Part of the ABI. `control`: reachable by id only; `unused`: never produced; all others are text like their bytes. */
export const tokenKinds = { normal: 0, control: 1, unused: 2 } as const;
