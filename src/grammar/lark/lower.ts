import { fail, ok, type Result } from "../../generation/result.ts";
import type { Embedding } from "../embedding.ts";
import type { Node, NodeId } from "../ir.ts";
import type { Refusal } from "../json-schema/schema.ts";
import type { Language } from "../regex/language.ts";
import {
  choice,
  type Expression,
  empty,
  optional,
  type Rule,
  type Rules,
  repeat,
  sequence,
} from "../rules/expression.ts";
import { isTerminal } from "./parse.ts";
import type { LarkGrammar, LarkItem, LarkRule } from "./syntax.ts";
import { Terminals } from "./terminals.ts";

/** Name of the rule that a Lark grammar begins with. */
export const larkStart = "start";

/**
 * Lark's rules over characters instead of lexemes: a terminal in a rule is its language, with ignored text after it. Where a lexer would have
 * taken a longer lexeme, the shorter one is accepted here as well; see docs/decisions for what that means.
 */
export function larkRules(embedding: Embedding, grammar: LarkGrammar): Result<Rules, Refusal> {
  const rules = new Map<string, Rule>();
  const failure = new Lowering(embedding, grammar, "", rules).run();
  return failure === undefined ? ok(rules) : fail(failure);
}

class Lowering {
  readonly #embedding: Embedding;
  readonly #grammar: LarkGrammar;
  readonly #terminals: Terminals;
  /** Names of a grammar inside another have its place before them. */
  readonly #prefix: string;
  readonly #rules: Map<string, Rule>;
  #skip: Expression = empty;
  #refusal: Refusal | undefined;

  constructor(embedding: Embedding, grammar: LarkGrammar, prefix: string, rules: Map<string, Rule>) {
    this.#embedding = embedding;
    this.#grammar = grammar;
    this.#terminals = new Terminals(embedding.languages, grammar.terminals);
    this.#prefix = prefix;
    this.#rules = rules;
  }

  run(): Refusal | undefined {
    const { rules, terminals, ignored, initialSkip } = this.#grammar;
    const { languages } = this.#embedding;
    const skipped: Language[] = [];
    for (const item of ignored) {
      const language = this.#take(this.#terminals.language(item));
      if (language === undefined) return this.#refusal;
      skipped.push(language);
    }
    if (skipped.length > 0) {
      this.#skip = { kind: "regular", language: languages.repeat(languages.union(skipped), 0, undefined) };
    }
    // A terminal that no rule uses may be wrong all the same.
    for (const [name, { at }] of terminals)
      if (this.#take(this.#terminals.named(name, at)) === undefined) return this.#refusal;
    for (const [name, rule] of rules) {
      const body = this.#body(rule);
      if (this.#refusal !== undefined) return this.#refusal;
      const expression = name === larkStart && initialSkip ? sequence([this.#skip, body]) : body;
      this.#rules.set(this.#prefix + name, { expression, at: rule.at });
    }
    return undefined;
  }

  #body(rule: LarkRule): Expression {
    if (!rule.shortest) return this.#expression(rule.item);
    const language = this.#take(this.#terminals.rule(rule));
    return language === undefined ? empty : this.#lexeme({ kind: "regular", language });
  }

  #expression(item: LarkItem): Expression {
    switch (item.kind) {
      case "name":
        if (!isTerminal(item.name) && !item.name.startsWith("common.")) {
          return { kind: "rule", name: this.#prefix + item.name, at: item.at };
        }
        return this.#terminal(item);
      case "string":
        if (item.text === "") return empty;
        if (item.ignoreCase) return this.#terminal(item);
        return this.#lexeme({ kind: "text", text: item.text });
      case "range":
      case "pattern":
        return this.#terminal(item);
      case "sequence":
        return sequence(item.items.map((part) => this.#expression(part)));
      case "choice":
        return choice(item.items.map((part) => this.#expression(part)));
      case "repeat":
        return repeat(this.#expression(item.item), item.min, item.max);
      case "intersection":
      case "complement":
        return this.#fail(item.at, item.kind === "complement" ? "~" : "&", "can stand in terminals only");
      case "tokens":
        return this.#lexeme({ kind: "node", node: this.#tokens(item) });
      case "json": {
        const node = this.#take(this.#embedding.json(item.schema), item.at);
        return node === undefined ? empty : this.#lexeme({ kind: "node", node });
      }
      case "lark": {
        const prefix = `${item.at} `;
        this.#refusal ??= new Lowering(this.#embedding, item.grammar, prefix, this.#rules).run();
        return this.#lexeme({ kind: "rule", name: prefix + larkStart, at: item.at });
      }
      case "substring":
        return item.pieces.length === 0
          ? empty
          : optional(this.#lexeme({ kind: "node", node: this.#substring(item.pieces) }));
      default:
        return item satisfies never;
    }
  }

  #terminal(item: LarkItem): Expression {
    const language = this.#take(this.#terminals.language(item));
    return language === undefined ? empty : this.#lexeme({ kind: "regular", language });
  }

  #lexeme(expression: Expression): Expression {
    return sequence([expression, this.#skip]);
  }

  #tokens({ negated, ranges }: LarkItem & { kind: "tokens" }): NodeId {
    const tokens = ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
    if (negated) return this.#node({ kind: "any_token", except: tokens });
    const items = tokens.map((token) => this.#node({ kind: "token", token }));
    const [first] = items;
    return first !== undefined && items.length === 1 ? first : this.#node({ kind: "choice", items });
  }

  /** Any run of pieces, but none: each goes on with the one after it. */
  #substring(pieces: readonly string[]): NodeId {
    const runs: NodeId[] = [];
    let after: NodeId | undefined;
    for (const piece of pieces.toReversed()) {
      const bytes = this.#node({ kind: "bytes", bytes: utf8.encode(piece) });
      const rest: readonly NodeId[] =
        after === undefined ? [] : [this.#node({ kind: "repeat", item: after, min: 0, max: 1 })];
      after = this.#node({ kind: "sequence", items: [bytes, ...rest] });
      runs.push(after);
    }
    return this.#node({ kind: "choice", items: runs.toReversed() });
  }

  #node(node: Node): NodeId {
    return this.#embedding.builder.node(node);
  }

  /** The value, or undefined and the refusal kept; `at` is where a refusal without a place of this grammar belongs. */
  #take<T>(result: Result<T, Refusal>, at?: string): T | undefined {
    if (result.ok) return result.value;
    const { pointer } = result.failure;
    const place = at === undefined ? pointer : `${at}${pointer === "" ? "" : ` ${pointer}`}`;
    this.#refusal ??= { ...result.failure, pointer: place };
    return undefined;
  }

  #fail(pointer: string, keyword: string, reason: string): Expression {
    this.#refusal ??= { pointer, keyword, reason };
    return empty;
  }
}

const utf8 = new TextEncoder();
