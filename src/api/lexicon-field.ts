import type { LexiconWords } from "../generation/event.ts";

/** The field that says which entries of the lexicon an answer's words are; none where the answer was held to none. */
export function lexiconField(words: LexiconWords | undefined): { readonly tenon_lexicon?: LexiconWords } {
  return words === undefined ? {} : { tenon_lexicon: words };
}
