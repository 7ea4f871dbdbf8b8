import type { TokenLogprob } from "../generation/event.ts";

/** A token's log-probability in the form of chats and responses. */
export function encodeLogprob(entry: TokenLogprob) {
  return { ...encodeToken(entry), top_logprobs: entry.top.map(encodeToken) };
}

/** Tokens that end inside a code point show U+FFFD as text; `bytes` are exact. */
function encodeToken({ bytes, logprob }: { readonly bytes: Uint8Array; readonly logprob: number }) {
  return { token: tokenText(bytes), logprob, bytes: [...bytes] };
}

/** The form of completions: parallel lists, for one answer piece by piece. */
export class LegacyLogprobs {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #offset: number;

  /** `start`: UTF-16 units of text before the first token. */
  constructor(start: number) {
    this.#offset = start;
  }

  encode(entries: readonly TokenLogprob[]) {
    return {
      tokens: entries.map(({ bytes }) => tokenText(bytes)),
      token_logprobs: entries.map(({ logprob }) => logprob),
      // The chosen token is always among them, as in the hosted API.
      top_logprobs: entries.map((entry) =>
        Object.fromEntries([...entry.top, entry].map(({ bytes, logprob }) => [tokenText(bytes), logprob])),
      ),
      text_offset: entries.map(({ bytes }) => {
        const at = this.#offset;
        this.#offset += this.#decoder.decode(bytes, { stream: true }).length;
        return at;
      }),
    };
  }
}

function tokenText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
