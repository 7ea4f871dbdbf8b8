import { tokenKinds, type VocabularyData } from "./tokenizer.ts";

/**
 * Cuts a SentencePiece text, whose merging knows no borders, before spaces that no token of this vocabulary can reach over.
 * The tokens stay exactly the same, and words become pieces that can be remembered.
 */
export function spaceSplit(vocabulary: VocabularyData): (text: string) => readonly string[] {
  const { count, bytes, offsets, kinds } = vocabulary;
  /** By the last byte of a character: whether some token has a space after such a character. */
  const reached = new Uint8Array(256);
  for (let token = 0; token < count; token++) {
    if (kinds[token] !== tokenKinds.normal) continue;
    for (let at = (offsets[token] ?? 0) + 1; at < (offsets[token + 1] ?? 0); at++) {
      if (bytes[at] === 0x20) reached[bytes[at - 1] ?? 0] = 1;
    }
  }
  const mayCutAfter = (unit: number): boolean => {
    // The last byte of a surrogate depends on its other half; not cutting is always right.
    if (unit >= 0xd800 && unit <= 0xdfff) return false;
    return reached[unit < 0x80 ? unit : 0x80 | (unit & 0x3f)] === 0;
  };
  return (text) => {
    const pieces: string[] = [];
    let start = 0;
    for (let at = text.indexOf(" ", 1); at > 0; at = text.indexOf(" ", at + 1)) {
      if (!mayCutAfter(text.charCodeAt(at - 1))) continue;
      pieces.push(text.slice(start, at));
      start = at;
    }
    if (start < text.length) pieces.push(text.slice(start));
    return pieces;
  };
}
