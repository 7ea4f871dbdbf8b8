/** A streaming decoder that gives back every code point, a byte order mark included, and U+FFFD for what is not UTF-8. */
export function utf8Decoder(): TextDecoder {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}
