import type { CompileFailure, Engine } from "../engine/engine.ts";
import type { Constraint } from "../generation/answer.ts";
import type { Failure } from "../generation/failure.ts";
import type { Request } from "../generation/request.ts";
import type { Result } from "../generation/result.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { LogitsProcessor } from "./processors.ts";

/** A loaded model with everything that depends on it. */
export type Model = {
  readonly id: string;
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  /** The conversation as the model reads it. */
  readonly render: (request: Request) => Result<RenderedPrompt, Failure>;
  /** What may be said in answer. */
  readonly constrain: (request: Request) => Result<Constrained, Failure>;
  readonly processors: readonly LogitsProcessor[];
};

export type RenderedPrompt = { readonly tokens: Uint32Array<ArrayBuffer> };

export type Constrained = {
  readonly constraint: Constraint;
  /** An encoded Ir; undefined where nothing is constrained and nothing has to be read. */
  readonly ir: Uint8Array<ArrayBuffer> | undefined;
  readonly stopTokens: readonly number[];
  /** Names the place in the caller's request that a compile failure is about. */
  readonly failureOf: (failure: CompileFailure) => Failure;
};
