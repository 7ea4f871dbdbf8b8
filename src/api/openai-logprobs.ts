import type { PromptToken, TokenLogprob } from "../generation/event.ts";

/** A token's log-probability in the form of chats and responses. */
export function encodeLogprob(entry: TokenLogprob) {
  return { ...encodeToken(entry), top_logprobs: entry.top.map(encodeToken) };
}

/** Tokens that end inside a code point show U+FFFD as text; `bytes` are exact. */
function encodeToken({ bytes, logprob }: { readonly bytes: Uint8Array; readonly logprob: number }) {
  return { token: tokenText(bytes), logprob, bytes: [...bytes] };
}

/** The form of completions: parallel lists, for one answer piece by piece, and for the prompt in front of it. */
export class LegacyLogprobs {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #offset: number;

  /** Of what follows `text`; with `tokens`, those of the text itself come first. */
  constructor(text: string, tokens: readonly PromptToken[] = []) {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const units = tokens.reduce((sum, { bytes }) => sum + decoder.decode(bytes, { stream: true }).length, 0);
    // What tokens have in front of the text, a BOS or a space, is none of it.
    this.#offset = text.length - units;
  }

  encode(entries: readonly PromptToken[]) {
    return {
      tokens: entries.map(({ bytes }) => tokenText(bytes)),
      token_logprobs: entries.map(({ logprob }) => logprob ?? null),
      // The chosen token is always among them, as in the hosted API.
      top_logprobs: entries.map(({ bytes, logprob, top }) =>
        logprob === undefined
          ? null
          : Object.fromEntries([...top, { bytes, logprob }].map((each) => [tokenText(each.bytes), each.logprob])),
      ),
      text_offset: entries.map(({ bytes }) => {
        const at = Math.max(0, this.#offset);
        this.#offset += this.#decoder.decode(bytes, { stream: true }).length;
        return at;
      }),
    };
  }
}

function tokenText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
