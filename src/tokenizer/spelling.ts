import { decodeByteLevel } from "./byte-level.ts";

/**
 * How the texts of a vocabulary spell bytes: in the byte-level alphabet, or as UTF-8 with `▁` for a space and
 * `<0xNN>` for single bytes.
 */
export type Spelling = "byte-level" | "sentencepiece";

/** Appends the bytes of source[start, end) to `target` at `at` and returns their end; never more than were read. */
export function spelledBytes(
  spelling: Spelling,
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  if (spelling === "byte-level") {
    const to = decodeByteLevel(source, start, end, target, at);
    // Tokens outside the alphabet, as some vocabularies have them among the ordinary ones, stand for themselves.
    return to >= 0 ? to : copyBytes(source, start, end, target, at);
  }
  let to = at;
  for (let from = start; from < end; ) {
    if (source[from] === 0xe2 && source[from + 1] === 0x96 && source[from + 2] === 0x81 && from + 2 < end) {
      target[to++] = 0x20;
      from += 3;
    } else target[to++] = source[from++] ?? 0;
  }
  return to;
}

export function copyBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  for (let from = start, to = at; from < end; ) target[to++] = source[from++] ?? 0;
  return at + end - start;
}

/** The byte of `<0x0A>`; undefined for any other text. */
export function byteOfName(source: Uint8Array, start: number, end: number): number | undefined {
  if (end - start !== 6) return undefined;
  const match = /^<0x([0-9A-Fa-f]{2})>$/.exec(String.fromCharCode(...source.subarray(start, end)));
  return match?.[1] === undefined ? undefined : Number.parseInt(match[1], 16);
}
