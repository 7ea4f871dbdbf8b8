/** The regular files of a gzipped tar archive (POSIX ustar, with prefixes), as texts. */
export function* tarFiles(
  archive: Uint8Array<ArrayBuffer>,
): Generator<{ readonly path: string; readonly text: string }, void> {
  const bytes = Bun.gunzipSync(archive);
  const utf8 = new TextDecoder();
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const field = (start: number, length: number) =>
      utf8.decode(bytes.subarray(at + start, at + start + length)).split("\0")[0] ?? "";
    const size = Number.parseInt(field(124, 12), 8);
    const type = field(156, 1);
    const prefix = field(345, 155);
    const path = (prefix === "" ? "" : `${prefix}/`) + field(0, 100);
    if (type === "0" || type === "") yield { path, text: utf8.decode(bytes.subarray(at + 512, at + 512 + size)) };
    at += 512 + Math.ceil(size / 512) * 512;
  }
}
