import { type Tokenizer, tokenKinds } from "./tokenizer.ts";

/** What grammars ask of a tokenizer: how many tokens there are, those of a text in which special ones are read as such, and a control token by its text. */
export function grammarTokens(tokenizer: Tokenizer): {
  readonly tokensOf: (text: string) => Uint32Array;
  readonly tokenCount: number;
  readonly controlToken: (text: string) => number | undefined;
} {
  const { kinds, count } = tokenizer.vocabulary;
  return {
    tokenCount: count,
    tokensOf: (text) => tokenizer.encode(text, { special: true }),
    controlToken: (text) => {
      const token = tokenizer.idOf(text);
      return token !== undefined && kinds[token] === tokenKinds.control ? token : undefined;
    },
  };
}
