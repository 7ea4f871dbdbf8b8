import type { TokenLogprob } from "../generation/event.ts";
import { utf8Decoder } from "./utf8.ts";

export type ContentPiece = {
  readonly text: string;
  readonly logprobs: readonly TokenLogprob[];
};

/**
 * The text of an answer on its way out: bytes → whole code points, cut before a stop string. What may still turn out to be the
 * start of one is held back. Of several stop strings the one that is completed first counts, and of those that end
 * together the longest: the same whatever pieces the bytes come in.
 */
export class Content {
  /** The stop string that was met; nothing comes out after it. */
  stoppedBy: string | undefined;
  readonly #stop: readonly string[];
  readonly #decoder = utf8Decoder();
  /** Decoded and not yet out. */
  #held = "";
  /** UTF-16 units that are out. */
  #out = 0;
  /** Log-probabilities that are not out yet, by where in the text their token begins. */
  readonly #tokens: { readonly start: number; readonly entry: TokenLogprob }[] = [];

  constructor(stop: readonly string[]) {
    this.#stop = stop;
  }

  /** Bytes of the text, in slices that each belong to one token where log-probabilities are asked for. */
  push(slices: readonly { readonly bytes: Uint8Array; readonly entry: TokenLogprob | undefined }[]): ContentPiece {
    for (const { bytes, entry } of slices) {
      if (entry !== undefined) this.#tokens.push({ start: this.#out + this.#held.length, entry });
      this.#append(this.#decoder.decode(bytes, { stream: true }));
    }
    return this.#release(this.#held.length - this.#prefixLength());
  }

  /** The end of a run of text: nothing is held back any more, and bytes without the rest of their code point become U+FFFD. */
  flush(): ContentPiece {
    this.#append(this.#decoder.decode());
    return this.#release(this.#held.length);
  }

  #append(text: string): void {
    if (this.stoppedBy !== undefined || text === "") return;
    const before = this.#held.length;
    this.#held += text;
    let end = Number.POSITIVE_INFINITY;
    let start = 0;
    for (const stop of this.#stop) {
      const at = this.#held.indexOf(stop, Math.max(0, before - stop.length + 1));
      if (at < 0) continue;
      const stopEnd = at + stop.length;
      if (stopEnd < end || (stopEnd === end && at < start)) {
        end = stopEnd;
        start = at;
        this.stoppedBy = stop;
      }
    }
    if (this.stoppedBy !== undefined) this.#held = this.#held.slice(0, start);
  }

  /** How much of the end of what is held may be the start of a stop string. */
  #prefixLength(): number {
    if (this.stoppedBy !== undefined) return 0;
    let longest = 0;
    for (const stop of this.#stop) {
      for (let length = Math.min(stop.length - 1, this.#held.length); length > longest; length--) {
        if (this.#held.endsWith(stop.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  #release(length: number): ContentPiece {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#out += length;
    let count = 0;
    while ((this.#tokens[count]?.start ?? this.#out) < this.#out) count++;
    return { text, logprobs: this.#tokens.splice(0, count).map((token) => token.entry) };
  }
}
