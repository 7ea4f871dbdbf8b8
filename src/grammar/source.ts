import type { GrammarSource } from "../generation/grammar-source.ts";
import type { Policy } from "../generation/policy.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { lowerChoice } from "./choice.ts";
import type { Embedding } from "./embedding.ts";
import { parseGbnf } from "./gbnf/parse.ts";
import type { IrBuilder, NodeId } from "./ir.ts";
import type { Documents } from "./json-schema/documents.ts";
import { lowerSchema } from "./json-schema/lower.ts";
import type { Refusal } from "./json-schema/schema.ts";
import { larkRules, larkStart } from "./lark/lower.ts";
import { parseLark } from "./lark/parse.ts";
import { lowerLexicon } from "./lexicon/lexicon.ts";
import { jsonStyle, schemaOptions } from "./policy.ts";
import { Languages } from "./regex/language.ts";
import { noFlags } from "./regex/pattern.ts";
import { lowerRules } from "./rules/lower.ts";
import { lowerStructuralTag } from "./structural-tag/lower.ts";
import { wholePattern } from "./whole-pattern.ts";

export type GrammarOptions = {
  readonly tokensOf: Embedding["tokensOf"];
  readonly tokenCount: Embedding["tokenCount"];
  readonly controlToken: Embedding["controlToken"];
  /** Of the JSON inside. */
  readonly policy: Policy;
  /** What its references may lead to. */
  readonly documents: Documents;
  /** The first `origin` of the values of schemas inside. */
  readonly originFirst: number;
  /** Steps of lowering each of them; see `SchemaOptions`. */
  readonly stepsMax?: number;
};

/** `places[i]`: the pointer, in its own schema, of the value with origin `originFirst + i`. */
export type LoweredGrammar = { readonly node: NodeId; readonly places: readonly string[] };

/**
 * A grammar → the node that writes what fits it. A place inside the grammar (line:column, or a JSON pointer) is the refusal's `pointer`,
 * its rule or construct the `keyword`.
 */
export function lowerGrammar(
  builder: IrBuilder,
  source: GrammarSource,
  { tokensOf, tokenCount, controlToken, policy, documents, originFirst, ...budget }: GrammarOptions,
): Result<LoweredGrammar, Refusal> {
  const places: string[] = [];
  const json: Embedding["json"] = (schema, order = "schema") => {
    const options = {
      ...schemaOptions(policy, order),
      documents,
      objectsOnly: false,
      originFirst: originFirst + places.length,
      ...budget,
    };
    const lowered = lowerSchema(builder, schema, options);
    if (!lowered.ok) return lowered;
    places.push(...lowered.value.places);
    return ok(builder.node({ kind: "json", value: lowered.value.value, style: jsonStyle(policy) }));
  };
  const node = lowerSource({ builder, languages: new Languages(), tokensOf, tokenCount, controlToken, json }, source);
  return node.ok ? ok({ node: node.value, places }) : node;
}

function lowerLark(embedding: Embedding, text: string): Result<NodeId, Refusal> {
  const grammar = parseLark(text, embedding);
  if (!grammar.ok) return grammar;
  const rules = larkRules(embedding, grammar.value);
  return rules.ok ? lowerRules(embedding, rules.value, larkStart, "rewritten") : rules;
}

/** ECMAScript; the whole text has to match. */
function lowerRegex({ builder, languages }: Embedding, pattern: string): Result<NodeId, Refusal> {
  const language = wholePattern(languages, pattern, noFlags);
  if (!language.ok) return fail({ pointer: "", keyword: "", reason: language.failure });
  return ok(builder.node({ kind: "regex", regex: languages.emit(builder, language.value) }));
}

function lowerText(
  embedding: Embedding,
  text: string,
  leftRecursion: "refused" | "rewritten",
): Result<NodeId, Refusal> {
  const rules = parseGbnf(embedding, text);
  return rules.ok ? lowerRules(embedding, rules.value, "root", leftRecursion) : rules;
}

function lowerSource(embedding: Embedding, source: GrammarSource): Result<NodeId, Refusal> {
  switch (source.syntax) {
    case "gbnf":
      return lowerText(embedding, source.text, "refused");
    case "structural_tag":
      return lowerStructuralTag(embedding, source.text, {
        ebnf: (text) => lowerText(embedding, text, "rewritten"),
        regex: (pattern) => lowerRegex(embedding, pattern),
      });
    case "choice":
      return lowerChoice(embedding.builder, source.texts);
    case "lexicon":
      return lowerLexicon(embedding.builder, source);
    case "lark":
      return lowerLark(embedding, source.text);
    case "regex":
      return lowerRegex(embedding, source.text);
    default:
      return source satisfies never;
  }
}
