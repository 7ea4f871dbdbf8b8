import type { Service } from "./service.ts";

/** For tests of decoders: what they ask of a service, whose tokens are bytes. */
export const decodeService: Pick<Service, "holdCalls" | "lexicon" | "strictFields" | "tokenize"> = {
  holdCalls: false,
  lexicon: undefined,
  strictFields: false,
  tokenize: (text) => Uint32Array.from(Buffer.from(text)),
};
