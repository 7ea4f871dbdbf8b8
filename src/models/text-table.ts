/** Many texts as ranges of one byte array. UTF-8, not validated. */
export type TextTable = {
  readonly count: number;
  readonly bytes: Uint8Array;
  /** Text i is bytes[starts[i], ends[i]). */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
};

export const emptyTextTable: TextTable = {
  count: 0,
  bytes: new Uint8Array(0),
  starts: new Uint32Array(0),
  ends: new Uint32Array(0),
};

/** The bytes of text `index`, which must be below `count`: a view, not a copy. */
export function bytesAt(table: TextTable, index: number): Uint8Array {
  return table.bytes.subarray(table.starts[index], table.ends[index]);
}

export function textAt(table: TextTable, index: number): string {
  return decoder.decode(bytesAt(table, index));
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function textTable(texts: readonly string[]): TextTable {
  const encoder = new TextEncoder();
  const starts = new Uint32Array(texts.length);
  const ends = new Uint32Array(texts.length);
  // A UTF-16 unit takes at most three bytes.
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + text.length * 3, 0));
  let end = 0;
  for (const [index, text] of texts.entries()) {
    starts[index] = end;
    end += encoder.encodeInto(text, bytes.subarray(end)).written;
    ends[index] = end;
  }
  return { count: texts.length, bytes: bytes.subarray(0, end), starts, ends };
}
