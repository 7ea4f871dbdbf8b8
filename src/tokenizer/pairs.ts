import type { TextTable } from "../models/text-table.ts";
import type { Pairs } from "./merge.ts";
import { type Spelling, spelledBytes } from "./spelling.ts";
import type { TokenIndex } from "./token-index.ts";

/** Merges as a vocabulary lists them, `left right` each, the earlier the better. */
export function rankedPairs(merges: TextTable, spelling: Spelling, index: TokenIndex): Pairs {
  const { count, bytes: source, starts, ends } = merges;
  const lefts = new Int32Array(count);
  const rights = new Int32Array(count);
  const results = new Int32Array(count);
  const mask = 2 ** Math.ceil(Math.log2(Math.max(count, 1) * 2)) - 1;
  // Rank + 1, so that 0 is an empty slot.
  const slots = new Uint32Array(mask + 1);
  const slotOf = (left: number, right: number): number => {
    for (let slot = hash(left, right) & mask; ; slot = (slot + 1) & mask) {
      const rank = (slots[slot] ?? 0) - 1;
      if (rank < 0 || (lefts[rank] === left && rights[rank] === right)) return slot;
    }
  };

  let spelled = new Uint8Array(256);
  for (let rank = 0; rank < count; rank++) {
    const start = starts[rank] ?? 0;
    const end = ends[rank] ?? 0;
    if (end - start > spelled.length) spelled = new Uint8Array(2 * (end - start));
    // The left part has at least one character, which may be a space in vocabularies that do not escape it.
    const space = source.indexOf(0x20, start + 1);
    if (space < 0 || space >= end) continue;
    const middle = spelledBytes(spelling, source, start, space, spelled, 0);
    const length = spelledBytes(spelling, source, space + 1, end, spelled, middle);
    const left = index.find(spelled, 0, middle);
    const right = index.find(spelled, middle, length);
    const result = index.find(spelled, 0, length);
    // A merge of what are no tokens never comes up.
    if (left < 0 || right < 0 || result < 0) continue;
    lefts[rank] = left;
    rights[rank] = right;
    results[rank] = result;
    const slot = slotOf(left, right);
    if (slots[slot] === 0) slots[slot] = rank + 1;
  }
  return {
    find: (left, right) => (left < 0 || right < 0 ? -1 : (slots[slotOf(left, right)] ?? 0) - 1),
    priority: (rank) => rank,
    result: (rank) => results[rank] ?? -1,
  };
}

/** Builds the pairs with the first question: resolving a quarter of a million merges is no part of start-up. */
export function lazyPairs(build: () => Pairs): Pairs {
  let built: Pairs | undefined;
  const pairs = () => {
    built ??= build();
    return built;
  };
  return {
    find: (left, right, bytes, start, end) => pairs().find(left, right, bytes, start, end),
    priority: (handle) => pairs().priority(handle),
    result: (handle) => pairs().result(handle),
  };
}

/** SentencePiece: whatever is a token together may be joined, the highest score first. */
export function scoredPairs(scores: Float32Array, index: TokenIndex): Pairs {
  return {
    find: (_left, _right, bytes, start, end) => index.find(bytes, start, end),
    priority: (token) => -(scores[token] ?? 0),
    result: (token) => token,
  };
}

function hash(left: number, right: number): number {
  const mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca77);
  return mixed ^ (mixed >>> 15);
}
