import type { EngineEvent } from "./engine.ts";

/**
 * The events of one request between whoever makes them and its one reader. Bounded by the request's own length: it makes no
 * more than a few for each of its tokens.
 */
export class Inbox implements AsyncIterable<EngineEvent> {
  readonly #abandoned: () => void;
  #waiting: EngineEvent[] = [];
  #taken = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  /** `abandoned` is called when the reader leaves before the finish event was taken. */
  constructor(abandoned: () => void) {
    this.#abandoned = abandoned;
  }

  /** Nothing is pushed after `finish`. */
  push(event: EngineEvent): void {
    this.#waiting.push(event);
    this.#wake?.();
    this.#wake = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<EngineEvent, undefined> {
    return {
      next: async () => {
        if (this.#ended) return { done: true, value: undefined };
        let event = this.#take();
        while (event === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          event = this.#take();
        }
        if (event.kind === "finish") this.#ended = true;
        return { done: false, value: event };
      },
      return: async () => {
        if (!this.#ended) this.#abandoned();
        this.#ended = true;
        return { done: true, value: undefined };
      },
    };
  }

  #take(): EngineEvent | undefined {
    const event = this.#waiting[this.#taken];
    if (event === undefined) return undefined;
    this.#taken++;
    if (this.#taken === this.#waiting.length) {
      this.#waiting = [];
      this.#taken = 0;
    }
    return event;
  }
}
