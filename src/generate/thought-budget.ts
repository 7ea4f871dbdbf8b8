import type { Tags } from "../dialects/thoughts.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { LogitsProcessor } from "./processors.ts";

/**
 * Ends thoughts that take more than `tokensMax` tokens together: from then on their closing tag is all that may come. Counts what
 * follows the first `promptTokens` tokens; a thought may have `begun` before. Where the grammar does not let the tag come,
 * or a code point is not complete, it waits.
 */
export function thoughtBudget(
  tokenizer: Pick<Tokenizer, "encode" | "decode">,
  { tokensMax, promptTokens, thoughts }: ThoughtBudget,
): LogitsProcessor {
  const open = byteText(Buffer.from(thoughts.open));
  const close = byteText(Buffer.from(thoughts.close));
  const closing = tokenizer.encode(thoughts.close, { special: true });
  let seen = promptTokens;
  let inside = thoughts.begun;
  let spent = 0;
  /** Tokens of the tag that were forced. */
  let forced = 0;
  /** Bytes since the last tag, one a character. */
  let tail = "";

  const read = (token: number): void => {
    if (inside) spent++;
    tail += byteText(tokenizer.decode([token], { special: true }));
    for (;;) {
      const tag = inside ? close : open;
      const at = tail.indexOf(tag);
      if (at < 0) return;
      tail = tail.slice(at + tag.length);
      inside = !inside;
      forced = 0;
    }
  };

  return (_logits, mask, tokens) => {
    for (; seen < tokens.length; seen++) read(tokens[seen] ?? 0);
    if (!inside || spent < tokensMax || (forced === 0 && endsInsideCodePoint(tail))) return;
    const token = closing[forced] ?? closing[0];
    if (token === undefined) return;
    const bit = (mask[token >>> 5] ?? 0) & (1 << (token & 31));
    if (bit === 0) {
      forced = 0;
      return;
    }
    mask.fill(0);
    mask[token >>> 5] = bit;
    forced++;
  };
}

export type ThoughtBudget = {
  readonly tokensMax: number;
  readonly promptTokens: number;
  readonly thoughts: Tags & { readonly begun: boolean };
};

function byteText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** Whether the last bytes are the beginning of a longer UTF-8 sequence. */
function endsInsideCodePoint(bytes: string): boolean {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes.charCodeAt(bytes.length - back);
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2);
    if (!(byte >= 0x80)) return false;
  }
  return false;
}
