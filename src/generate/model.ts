import type { Constrained } from "../dialects/constrain.ts";
import type { Engine } from "../engine/engine.ts";
import type { Failure } from "../generation/failure.ts";
import type { Request } from "../generation/request.ts";
import type { Result } from "../generation/result.ts";
import type { Prompt } from "../prompt/render.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Compiled } from "./compile.ts";
import type { LogitsProcessor } from "./processors.ts";

/** A loaded model with everything that depends on it. */
export type Model = {
  readonly id: string;
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  /** The conversation as the model reads it. */
  readonly render: (request: Request) => Result<Prompt, Failure>;
  /** What may be said in answer to this prompt. */
  readonly constrain: (request: Request, prompt: Prompt, stepsMax?: number) => Result<Constrained, Failure>;
  /** The same and compiled, on another thread; nobody waits for it any more once the signal is given. */
  readonly elsewhere?: (request: Request, prompt: Prompt, signal: AbortSignal) => Promise<Result<Compiled, Failure>>;
  readonly processors: readonly LogitsProcessor[];
  /** It gives vectors of texts, and nothing else. */
  readonly embeds?: boolean;
};
