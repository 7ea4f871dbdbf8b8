import type { Failure } from "../generation/failure.ts";
import type { Result } from "../generation/result.ts";
import type { Derivation, PullEvent, StoredModel } from "../generation/stored-model.ts";

/**
 * The models that are on disk or loaded. Names are `name[:tag]` in any case, and may leave off what follows a separator as long as they
 * mean one model. A name that no model may have is `invalid`, one that no model has `model_not_found`.
 */
export type ModelStore = {
  /** By id; the loaded one is always among them. */
  list(): Promise<readonly StoredModel[]>;
  /** Those that were made from the loaded one, by id. */
  derived(): readonly StoredModel[];
  find(name: string): StoredModel | undefined;
  /** What the file of its weights says of itself, by GGUF's keys; arrays are null unless they are asked for. */
  metadata(model: StoredModel, options: { readonly arrays: boolean }): Readonly<Record<string, unknown>>;
  /** Makes a model out of another one. What `changes` leaves undefined is that one's. */
  derive(name: string, from: string, changes: DerivationChanges): Result<void, Failure>;
  /** Makes a model out of weights that were sent; the blob is it from then on. */
  adopt(name: string, sha256: string): Result<void, Failure>;
  copy(source: string, destination: string): Result<void, Failure>;
  /** Weights only where they lie in the models folder, are not loaded, and no other model has them. */
  remove(name: string): Result<void, Failure>;
  /** SHA-256 in lower-case hexadecimal, here and below. */
  hasBlob(sha256: string): boolean;
  /** Keeps a body whose SHA-256 this is. */
  putBlob(sha256: string, body: ReadableStream<Uint8Array>): Promise<Result<void, Failure>>;
  /** Fetches a model. Fails at once where the name says no place. Aborting the signal ends it and leaves nothing behind. */
  pull(name: string, signal: AbortSignal): Result<AsyncIterable<PullEvent>, Failure>;
};

export type DerivationChanges = Partial<Omit<Derivation, "base" | "parent">>;
