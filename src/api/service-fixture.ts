import type { ModelStore } from "./model-store.ts";
import type { Service } from "./service.ts";

/** For tests of decoders: what they ask of a service, whose tokens are bytes. */
export const decodeService: Pick<Service, "holdCalls" | "lexicon" | "strictFields" | "tokenize"> = {
  holdCalls: false,
  lexicon: undefined,
  strictFields: false,
  tokenize: (text) => Uint32Array.from(Buffer.from(text)),
};

const unused = () => {
  throw new Error("not part of this test");
};

/** For tests of what never looks at models on disk. */
export const unusedStore: ModelStore = {
  list: unused,
  derived: unused,
  find: unused,
  metadata: unused,
  derive: unused,
  adopt: unused,
  copy: unused,
  remove: unused,
  hasBlob: unused,
  putBlob: unused,
  pull: unused,
};
