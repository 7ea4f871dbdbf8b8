import type { Answer } from "../generation/answer.ts";
import type { Embeddings, EmbedOptions } from "../generation/embedding.ts";
import type { Failure } from "../generation/failure.ts";
import type { ModelDetail } from "../generation/model-detail.ts";
import type { Request } from "../generation/request.ts";
import type { Result } from "../generation/result.ts";
import type { Status } from "../generation/status.ts";
import type { Derivation } from "../generation/stored-model.ts";
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
    options: EmbedOptions,
    signal: AbortSignal,
  ): Promise<Result<Embeddings, Failure>>;
  status(): Status;
  describe(): ModelDetail;
  /** What a name means; undefined and a name that nothing here has are the loaded model. One that is here and not loaded is refused. */
  chosen(name: string | undefined): Result<ChosenModel, Failure>;
  /** The loaded model, and after it those that were made from it. */
  models(): readonly ModelDetail[];
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

/** The model that answers. */
export type ChosenModel = {
  readonly id: string;
  /** For generation: the loaded model's own, or a name that nobody knows, which `--strict-models` refuses. */
  readonly asked: string;
  /** What it says beside the weights; undefined for the loaded model itself. */
  readonly derivation: Derivation | undefined;
};
