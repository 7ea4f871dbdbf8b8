import { tokenKinds, type VocabularyData } from "./tokenizer.ts";

/** Ordinary tokens by their bytes. Built in one pass over the vocabulary: 262k tokens in about 20 ms. */
export type TokenIndex = {
  /** The token whose bytes are source[start, end); -1 for none. */
  find(source: Uint8Array, start: number, end: number): number;
};

/**
 * Control and unused tokens are not in it: text can never become one. Where a byte token (`<0x0A>`) has the bytes of
 * another token, the other one is meant: `isByte` comes last.
 */
export function tokenIndex(vocabulary: VocabularyData, isByte: (token: number) => boolean): TokenIndex {
  const { count, bytes, offsets, kinds } = vocabulary;
  const mask = 2 ** Math.ceil(Math.log2(Math.max(count, 1) * 2)) - 1;
  // Token + 1, so that 0 is an empty slot.
  const slots = new Uint32Array(mask + 1);
  let lengthMax = 0;

  const slotOf = (source: Uint8Array, start: number, end: number): number => {
    const length = end - start;
    for (let slot = hash(source, start, end) & mask; ; slot = (slot + 1) & mask) {
      const token = (slots[slot] ?? 0) - 1;
      if (token < 0) return slot;
      const offset = offsets[token] ?? 0;
      if ((offsets[token + 1] ?? 0) - offset !== length) continue;
      let same = 0;
      while (same < length && source[start + same] === bytes[offset + same]) same++;
      if (same === length) return slot;
    }
  };

  const add = (token: number) => {
    const start = offsets[token] ?? 0;
    const end = offsets[token + 1] ?? 0;
    const slot = slotOf(bytes, start, end);
    if (slots[slot] === 0) slots[slot] = token + 1;
    lengthMax = Math.max(lengthMax, end - start);
  };
  const late: number[] = [];
  for (let token = 0; token < count; token++) {
    if (kinds[token] !== tokenKinds.normal) continue;
    if (isByte(token)) late.push(token);
    else add(token);
  }
  for (const token of late) add(token);

  return {
    find: (source, start, end) => (end - start > lengthMax ? -1 : (slots[slotOf(source, start, end)] ?? 0) - 1),
  };
}

/** FNV-1a, with its high bits folded in since only low ones choose the slot. */
function hash(source: Uint8Array, start: number, end: number): number {
  let value = 0x811c9dc5;
  for (let at = start; at < end; at++) value = Math.imul(value ^ (source[at] ?? 0), 0x01000193);
  return value ^ (value >>> 15);
}
