import type { Answer } from "../generation/answer.ts";
import type { Failure } from "../generation/failure.ts";
import type { Request } from "../generation/request.ts";
import type { Result } from "../generation/result.ts";

/** What an api room needs of the server behind it. */
export type Service = {
  /**
   * Admits a request: whatever can be known before the first token is a failure here, and so an HTTP status. What fails later
   * is the last event. Aborting the signal ends the answer, also while it is queued or its prompt is read.
   */
  answer(request: Request, signal: AbortSignal): Promise<Result<Answer, Failure>>;
  readonly models: readonly ModelInfo[];
  /** Deliver calls whole where a request says nothing. */
  readonly holdCalls: boolean;
  /** Milliseconds of silence before a keep-alive comment. */
  readonly pingMs: number;
};

export type ModelInfo = {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** Tokens. */
  readonly contextMax: number;
  /** How its tool calls are written. */
  readonly dialect: string;
  /** False when the template shows no calls and the generic frame is used. */
  readonly dialectDetected: boolean;
};
