/** A Lark grammar as it is written. `at` is a place, line:column. */
export type LarkGrammar = {
  readonly rules: ReadonlyMap<string, LarkRule>;
  readonly terminals: ReadonlyMap<string, LarkRule>;
  readonly ignored: readonly LarkItem[];
  /** Whether ignored text may stand before the first lexeme. */
  readonly initialSkip: boolean;
};

/** `shortest`: it ends where it first may. */
export type LarkRule = { readonly item: LarkItem; readonly shortest: boolean; readonly at: string };

export type LarkItem =
  | { readonly kind: "name"; readonly name: string; readonly at: string }
  | { readonly kind: "string"; readonly text: string; readonly ignoreCase: boolean }
  /** One character, ends included. */
  | { readonly kind: "range"; readonly first: number; readonly last: number }
  | { readonly kind: "pattern"; readonly source: string; readonly flags: string; readonly at: string }
  /** Any one of these tokens, or `negated` any one but these. */
  | {
      readonly kind: "tokens";
      readonly negated: boolean;
      readonly ranges: readonly (readonly [number, number])[];
      readonly at: string;
    }
  | { readonly kind: "json"; readonly schema: string; readonly at: string }
  /** A grammar inside the grammar, with rules of its own. */
  | { readonly kind: "lark"; readonly grammar: LarkGrammar; readonly at: string }
  /** Any run of these pieces, one after another. */
  | { readonly kind: "substring"; readonly pieces: readonly string[] }
  | { readonly kind: "sequence"; readonly items: readonly LarkItem[] }
  | { readonly kind: "choice"; readonly items: readonly LarkItem[] }
  | { readonly kind: "repeat"; readonly item: LarkItem; readonly min: number; readonly max: number | undefined }
  /** Of terminals only. */
  | { readonly kind: "intersection"; readonly items: readonly LarkItem[]; readonly at: string }
  | { readonly kind: "complement"; readonly item: LarkItem; readonly at: string };
