import type { SpecialTokens } from "../models/card.ts";
import type { Partition } from "./added-tokens.ts";
import type { TokenIndex } from "./token-index.ts";
import { type Tokenizer, tokenKinds, type VocabularyData } from "./tokenizer.ts";

export type Parts = {
  readonly vocabulary: VocabularyData;
  readonly index: TokenIndex;
  /** Texts of added and control tokens, exactly. */
  readonly added: ReadonlyMap<string, number>;
  readonly partition: Partition;
  /** Appends the tokens of a section without added tokens. `sectionIndex` counts the sections of its text from 0. */
  readonly encodeSection: (text: string, sectionIndex: number, special: boolean, out: number[]) => void;
  readonly special: SpecialTokens;
  readonly stopTokens: readonly number[];
};

export function assemble(parts: Parts): Tokenizer {
  const { vocabulary, index, added, special } = parts;
  const { bytes, offsets, kinds, count } = vocabulary;
  let longest = 1;
  for (let token = 0; token < count; token++) {
    longest = Math.max(longest, (offsets[token + 1] ?? 0) - (offsets[token] ?? 0));
  }
  return {
    encode(whole, options) {
      const out: number[] = [];
      // Each UTF-16 unit is a byte or more, and each token at most `longest` bytes.
      const text = whole.slice(0, (options.tokensMax ?? Number.POSITIVE_INFINITY) * longest + 1);
      for (const [sectionIndex, section] of parts.partition(text, options.special).entries()) {
        if ("token" in section) out.push(section.token);
        else parts.encodeSection(section.text, sectionIndex, options.special, out);
      }
      return Uint32Array.from(out);
    },
    decode(tokens, options) {
      const shown = tokens.filter(
        (token) => token >= 0 && token < count && (options.special || kinds[token] === tokenKinds.normal),
      );
      const pieces = shown.map((token) => bytes.subarray(offsets[token], offsets[token + 1]));
      const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
      let at = 0;
      for (const piece of pieces) {
        joined.set(piece, at);
        at += piece.length;
      }
      return joined;
    },
    idOf(text) {
      const token = added.get(text);
      if (token !== undefined) return token;
      const spelled = new TextEncoder().encode(text);
      const found = index.find(spelled, 0, spelled.length);
      return found < 0 ? undefined : found;
    },
    vocabulary,
    bos: special.bos,
    addBos: special.addBos && special.bos !== undefined,
    eos: special.eos,
    addEos: special.addEos && special.eos !== undefined,
    stopTokens: parts.stopTokens,
  };
}
