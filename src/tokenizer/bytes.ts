import { type Tokenizer, tokenKinds } from "./tokenizer.ts";

/** The vocabulary of no model: token i is byte i. What it can write says what a grammar allows, byte by byte. */
export const byteTokenizer: Tokenizer = {
  encode: (text) => Uint32Array.from(new TextEncoder().encode(text)),
  decode: (tokens) => Uint8Array.from(tokens),
  idOf: () => undefined,
  vocabulary: {
    count: 256,
    bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
    offsets: Uint32Array.from({ length: 257 }, (_, token) => token),
    kinds: new Uint8Array(256).fill(tokenKinds.normal),
  },
  bos: undefined,
  addBos: false,
  eos: undefined,
  addEos: false,
  stopTokens: [],
};
