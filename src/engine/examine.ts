import type { Library } from "./library.ts";

/** What the native side finds about this machine, a line each; a bad one begins with FAIL. It compiles and runs kernels, for a second or so. */
export function examine(library: Library): string {
  const text = new Uint8Array(textBytesMax);
  const length = library.calls.tenon_examine(text, text.length);
  return length < 0 ? `FAIL  ${library.errorText()}\n` : new TextDecoder().decode(text.subarray(0, length));
}

const textBytesMax = 16 * 1024;
