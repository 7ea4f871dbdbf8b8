/** What an embedding model makes of texts. */
export type Embeddings = {
  /** One for each text, in order, of length one. */
  readonly vectors: readonly Float32Array[];
  /** Of all texts. */
  readonly promptTokens: number;
};

export type EmbedOptions = {
  /** Of the HTTP request, for the log. */
  readonly id: string;
  /** As the caller named it; undefined means the loaded model. */
  readonly model: string | undefined;
  /** Leave out the end of what is too long, instead of refusing it. */
  readonly truncate: boolean;
  /** Tokens that a text may have, where that is less than the model's context. */
  readonly contextMax?: number | undefined;
};
