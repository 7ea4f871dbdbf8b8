import { pieceCacheEntriesMax, pieceCacheLengthMax } from "../limits.ts";
import { type Pairs, Symbols } from "./merge.ts";

import type { TokenIndex } from "./token-index.ts";

/** Appends the tokens of one piece of text to `out`. */
export type PieceEncoder = (piece: string, out: number[]) => void;

export type PieceRules = {
  readonly index: TokenIndex;
  readonly pairs: Pairs;
  /** What merging starts from. */
  readonly symbols: "bytes" | "characters";
  /** The token of each single byte, -1 where there is none: what is left of characters that are no token. */
  readonly byteTokens: Int32Array;
  /** A piece that is a token as a whole becomes it, whatever the merges say. */
  readonly wholePieces: boolean;
  /** Stands for a byte without a token; without it such a byte is lost. */
  readonly unknown: number | undefined;
};

export function pieceEncoder(rules: PieceRules): PieceEncoder {
  const { index, pairs, byteTokens } = rules;
  const symbols = new Symbols();
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(256);

  const encode = (piece: string, out: number[]) => {
    if (piece.length * 3 > bytes.length) bytes = new Uint8Array(piece.length * 3);
    const length = encoder.encodeInto(piece, bytes).written;
    if (rules.wholePieces) {
      const token = index.find(bytes, 0, length);
      if (token >= 0) {
        out.push(token);
        return;
      }
    }
    symbols.count = 0;
    for (let start = 0; start < length; ) {
      const end = rules.symbols === "bytes" ? start + 1 : start + sequenceBytes(bytes[start] ?? 0);
      const token = rules.symbols === "bytes" ? (byteTokens[bytes[start] ?? 0] ?? -1) : index.find(bytes, start, end);
      symbols.push(token, start, end);
      start = end;
    }
    symbols.merge(bytes, pairs);
    for (let symbol = length > 0 ? 0 : -1; symbol >= 0; symbol = symbols.next[symbol] ?? -1) {
      const token = symbols.tokens[symbol] ?? -1;
      if (token >= 0) out.push(token);
      else pushBytes(symbols.starts[symbol] ?? 0, symbols.ends[symbol] ?? 0, out);
    }
  };

  const pushBytes = (start: number, end: number, out: number[]) => {
    let known = true;
    for (let at = start; at < end; at++) known &&= (byteTokens[bytes[at] ?? 0] ?? -1) >= 0;
    if (!known) {
      // Neighbouring unknowns are one, as SentencePiece has it.
      if (rules.unknown !== undefined && out.at(-1) !== rules.unknown) out.push(rules.unknown);
      return;
    }
    for (let at = start; at < end; at++) out.push(byteTokens[bytes[at] ?? 0] ?? 0);
  };

  return cached(encode);
}

/** Texts repeat their words: a piece that was seen is not merged again. */
function cached(encode: PieceEncoder): PieceEncoder {
  const known = new Map<string, readonly number[]>();
  return (piece, out) => {
    if (piece.length > pieceCacheLengthMax) {
      encode(piece, out);
      return;
    }
    let tokens = known.get(piece);
    if (tokens === undefined) {
      const fresh: number[] = [];
      encode(piece, fresh);
      tokens = fresh;
      if (known.size >= pieceCacheEntriesMax) known.clear();
      // A slice of a text keeps all of it alive; a text of its own bytes does not.
      known.set(Buffer.from(piece).toString(), tokens);
    }
    for (const token of tokens) out.push(token);
  };
}

/** The token of each byte among the ordinary and byte tokens, -1 for none. */
export function byteTokensOf(index: TokenIndex): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => index.find(Uint8Array.of(byte), 0, 1));
}

function sequenceBytes(first: number): number {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
