import type { Event } from "./event.ts";

/** An admitted request: everything that could be known before the first token was in order. */
export type Answer = {
  /** Id of the model that answers, whatever the request called it. */
  readonly model: string;
  readonly constraint: Constraint;
  readonly events: AsyncIterable<Event>;
};

/** The whole answer fits a grammar; or a grammar holds from the start of a call; or nothing is masked. */
export type Constraint = "enforced" | "triggered" | "none";
