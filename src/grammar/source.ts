import type { GrammarSource } from "../generation/grammar-source.ts";
import { fail, type Result } from "../generation/result.ts";
import { parseGbnf, type TokensOf } from "./gbnf/parse.ts";
import type { IrBuilder, NodeId } from "./ir.ts";
import type { Refusal } from "./json-schema/schema.ts";
import { lowerRules } from "./rules/lower.ts";

export type GrammarOptions = {
  /** The tokens of a text in which special tokens are read as such. */
  readonly tokensOf: TokensOf;
  /** The node of a JSON Schema inside the grammar, as its own text. */
  readonly json: (schema: string) => Result<NodeId, Refusal>;
};

/**
 * A grammar → the node that writes what fits it. A place inside the grammar (line:column, or a JSON pointer) is the refusal's `pointer`,
 * its rule or construct the `keyword`.
 */
export function lowerGrammar(
  builder: IrBuilder,
  source: GrammarSource,
  options: GrammarOptions,
): Result<NodeId, Refusal> {
  switch (source.syntax) {
    case "gbnf": {
      const rules = parseGbnf(builder, source.text, options.tokensOf);
      return rules.ok ? lowerRules(builder, rules.value, "root", "refused") : rules;
    }
    default:
      return fail({ pointer: "", keyword: source.syntax, reason: "is not supported" });
  }
}
