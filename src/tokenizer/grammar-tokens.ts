import { type Tokenizer, tokenKinds } from "./tokenizer.ts";

/** What grammars ask of a tokenizer: the tokens of a text in which special ones are read as such, and a control token by its text. */
export function grammarTokens(tokenizer: Tokenizer): {
  readonly tokensOf: (text: string) => Uint32Array;
  readonly controlToken: (text: string) => number | undefined;
} {
  const { kinds } = tokenizer.vocabulary;
  return {
    tokensOf: (text) => tokenizer.encode(text, { special: true }),
    controlToken: (text) => {
      const token = tokenizer.idOf(text);
      return token !== undefined && kinds[token] === tokenKinds.control ? token : undefined;
    },
  };
}
