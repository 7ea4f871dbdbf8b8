import type { Event } from "./event.ts";
import type { Sampling } from "./sampling.ts";

/** An admitted request: everything that could be known before the first token was in order. */
export type Answer = {
  /** Id of the model that answers, whatever the request called it. */
  readonly model: string;
  /** All of the prompt, also what a cache holds of it. */
  readonly promptTokens: number;
  readonly constraint: Constraint;
  /** What `policy.relax` widened: JSON pointers into the schemas, each after the `param` of its schema. */
  readonly relaxed: readonly string[];
  /** As it is, whoever asked for it. */
  readonly sampling: Sampling;
  readonly events: AsyncIterable<Event>;
};

/** The whole answer fits a grammar; or a grammar holds from the start of a call; or nothing is masked. */
export type Constraint = "enforced" | "triggered" | "none";
