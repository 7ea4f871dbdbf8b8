/** A constraint in another language than JSON Schema, as its own text. */
export type GrammarSource =
  /** llama.cpp's grammars; Lark as llguidance and OpenAI's custom tools use it; ECMAScript's regular expressions, whole text; vLLM's structural tags, as JSON. */
  | { readonly syntax: "gbnf" | "lark" | "regex" | "structural_tag"; readonly text: string }
  /** One of these texts. */
  | { readonly syntax: "choice"; readonly texts: readonly string[] }
  /** Words of this list; with `fold` also in the spellings that differ in case and marks. */
  | { readonly syntax: "lexicon"; readonly words: readonly string[]; readonly fold: boolean };
