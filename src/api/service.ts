import type { Answer } from "../generation/answer.ts";
import type { Failure } from "../generation/failure.ts";
import type { ModelDetail, ModelInfo } from "../generation/model-detail.ts";
import type { Request } from "../generation/request.ts";
import type { Result } from "../generation/result.ts";
import type { Status } from "../generation/status.ts";
import type { ModelStore } from "./model-store.ts";

/** What an api room needs of the server behind it. */
export type Service = {
  /**
   * Admits a request: whatever can be known before the first token is a failure here, and so an HTTP status. What fails later
   * is the last event. Aborting the signal ends the answer, also while it is queued or its prompt is read.
   */
  answer(request: Request, signal: AbortSignal): Promise<Result<Answer, Failure>>;
  /** What the model would read, without running it. */
  prompt(request: Request): Result<{ readonly text: string; readonly tokens: Uint32Array }, Failure>;
  /** `special`: control tokens spelled in the text become those tokens. `bos`: a BOS comes first where the model wants one. */
  tokenize(text: string, options: { readonly special: boolean; readonly bos: boolean }): Uint32Array<ArrayBuffer>;
  /** The bytes of tokens, joined, with the text of control tokens. Each must be one of the model's. */
  detokenize(tokens: readonly number[]): Uint8Array;
  /** The bytes of each. */
  pieces(tokens: readonly number[]): readonly Uint8Array[];
  /** A vector for each input, in order. `invalid` unless the model is an embedding model. */
  embed(
    inputs: readonly (string | Uint32Array<ArrayBuffer>)[],
    signal: AbortSignal,
  ): Promise<Result<Embeddings, Failure>>;
  status(): Status;
  describe(): ModelDetail;
  readonly models: readonly ModelInfo[];
  readonly store: ModelStore;
  /** Deliver calls whole where a request says nothing. */
  readonly holdCalls: boolean;
  /** Send thoughts under both names that clients of OpenAI's chats read. */
  readonly reasoningAlias?: boolean;
  /** Milliseconds of silence before a keep-alive comment. */
  readonly pingMs: number;
  /** Fields that nothing reads are a 400 instead of a header. */
  readonly strictFields: boolean;
  /** The server's word list; undefined without one. */
  readonly lexicon: readonly string[] | undefined;
};

export type Embeddings = { readonly vectors: readonly Float32Array[]; readonly promptTokens: number };
