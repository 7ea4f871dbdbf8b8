/**
 * The alphabet of byte-level vocabularies (GPT-2's `bytes_to_unicode`): printable Latin-1 bytes stand for themselves, the
 * 68 others for the code points from U+0100 on, in their order.
 */
export const byteOfCharacter: ReadonlyMap<number, number> = (() => {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const printable = bytes.filter((byte) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad));
  const others = bytes.filter((byte) => !printable.includes(byte));
  return new Map([
    ...printable.map((byte) => [byte, byte] as const),
    ...others.map((byte, index) => [0x100 + index, byte] as const),
  ]);
})();

/** The same by code point, for inner loops: -1 where a code point stands for no byte. */
const table: Int16Array = (() => {
  const filled = new Int16Array(0x144).fill(-1);
  for (const [character, byte] of byteOfCharacter) filled[character] = byte;
  return filled;
})();

/**
 * Writes the bytes that source[start, end) spells in the alphabet to `target` at `at`, and returns where they end;
 * -1 where something else than the alphabet occurs. Never writes more bytes than it reads.
 */
export function decodeByteLevel(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  let to = at;
  for (let from = start; from < end; ) {
    const first = source[from] ?? 0;
    // The alphabet has one- and two-byte sequences only.
    const character =
      first < 0x80
        ? first
        : first >= 0xc2 && first <= 0xc5
          ? ((first & 0x1f) << 6) | ((source[from + 1] ?? 0) & 0x3f)
          : -1;
    const byte = table[character] ?? -1;
    if (byte < 0) return -1;
    target[to++] = byte;
    from += first < 0x80 ? 1 : 2;
  }
  return to;
}
