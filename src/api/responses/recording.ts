import type { Event } from "../../generation/event.ts";

/** The events of one response, kept from the first to the last: whoever comes later hears all of them. */
export class Recording {
  readonly #events: Event[] = [];
  #changed = Promise.withResolvers<void>();
  #bytes = 0;
  #endedAt = 0;
  #ended = false;

  /** So far. */
  get events(): readonly Event[] {
    return this.#events;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Seconds since 1970; 0 before the end. */
  get endedAt(): number {
    return this.#endedAt;
  }

  /** About the memory that the events take. */
  get bytes(): number {
    return this.#bytes;
  }

  push(event: Event): void {
    if (event.kind === "progress" && this.#events.length > 0) return;
    this.#events.push(event);
    this.#bytes += eventBytes(event);
    if (event.kind === "finish" || event.kind === "failure") {
      this.#ended = true;
      this.#endedAt = nowSeconds();
    }
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** All events, then those to come, until the last one or the signal. */
  async *follow(signal: AbortSignal): AsyncGenerator<Event, void> {
    const aborted = Promise.withResolvers<void>();
    const abort = () => aborted.resolve();
    signal.addEventListener("abort", abort, { once: true });
    try {
      for (let next = 0; !signal.aborted; ) {
        const event = this.#events[next];
        if (event !== undefined) {
          next++;
          yield event;
        } else if (this.#ended) return;
        else await Promise.race([this.#changed.promise, aborted.promise]);
      }
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** An object and its text, in UTF-16; a log-probability is an object with a few bytes and its alternatives. */
function eventBytes(event: Event): number {
  const text = "text" in event ? 2 * event.text.length : 0;
  const logprobs = event.kind === "text" ? event.logprobs : [];
  return logprobs.reduce((sum, { top }) => sum + logprobBytes * (1 + top.length), objectBytes + text);
}

const objectBytes = 128;
const logprobBytes = 192;
