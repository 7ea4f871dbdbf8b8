import { fail, ok, type Result } from "../../generation/result.ts";
import { regularWeightMax } from "../../limits.ts";
import type { Embedding } from "../embedding.ts";
import type { IrBuilder, NodeId } from "../ir.ts";
import type { Refusal } from "../json-schema/schema.ts";
import { type Language, type Languages, partsOf } from "../regex/language.ts";
import { type Expression, type Rules, references } from "./expression.ts";
import { withoutLeftRecursion } from "./left-recursion.ts";
import { leftReferences, nullableRules } from "./nullable.ts";
import { components } from "./order.ts";

/**
 * Rules → the node of one of them. What is regular and small becomes one automaton; the rest stays a stack of rules. A rule that begins
 * with itself is rewritten, or refused by its name.
 */
export function lowerRules(
  { builder, languages }: Pick<Embedding, "builder" | "languages">,
  given: Rules,
  start: string,
  leftRecursion: "refused" | "rewritten",
): Result<NodeId, Refusal> {
  for (const { expression } of given.values()) {
    for (const { name, at } of references(expression)) {
      if (!given.has(name)) return fail({ pointer: at, keyword: name, reason: "is a rule that is not defined" });
    }
  }
  if (!given.has(start))
    return fail({ pointer: "", keyword: start, reason: "is not defined, and the grammar begins with it" });
  const recursive = leftRecursive(given);
  const [first] = recursive[0] ?? [];
  if (first !== undefined && leftRecursion === "refused") {
    return fail({ pointer: given.get(first)?.at ?? "", keyword: first, reason: "begins with itself (left recursion)" });
  }
  const rewritten = first === undefined ? ok(given) : withoutLeftRecursion(languages, given, recursive);
  return rewritten.ok ? ok(new Lowering(builder, languages, reachable(rewritten.value, start)).node(start)) : rewritten;
}

function reachable(rules: Rules, start: string): Rules {
  const names = new Set([start]);
  // The set grows while it is walked.
  for (const name of names) {
    const rule = rules.get(name);
    if (rule !== undefined) for (const reference of references(rule.expression)) names.add(reference.name);
  }
  return new Map([...rules].filter(([name]) => names.has(name)));
}

/** The sets of rules that begin with each other. */
export function leftRecursive(rules: Rules): string[][] {
  const nullable = nullableRules(rules);
  const edges = new Map<string, string[]>();
  for (const [name, { expression }] of rules) edges.set(name, [...new Set(leftReferences(expression, nullable))]);
  const edgesOf = (name: string) => edges.get(name) ?? [];
  return components(rules.keys(), edgesOf).filter(
    ([name = "", ...others]) => others.length > 0 || edgesOf(name).includes(name),
  );
}

class Lowering {
  readonly #builder: IrBuilder;
  readonly #languages: Languages;
  readonly #rules: Rules;
  readonly #weights = new Map<Language, number>();
  readonly #known = new Map<Expression, Language>();
  /** What rules are, those that are regular and small. */
  readonly #regular = new Map<string, Language>();
  readonly #nodes = new Map<string, NodeId>();
  readonly #regexNodes = new Map<Language, NodeId>();

  constructor(builder: IrBuilder, languages: Languages, rules: Rules) {
    this.#builder = builder;
    this.#languages = languages;
    this.#rules = rules;
    const used = new Map<string, string[]>();
    for (const [name, { expression }] of rules) {
      used.set(
        name,
        [...references(expression)].map((reference) => reference.name),
      );
    }
    // A rule comes after those it is made of, so nothing here is as deep as a chain of rules is long.
    for (const part of components(rules.keys(), (name) => used.get(name) ?? [])) this.#addPart(part, used);
  }

  node(name: string): NodeId {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const language = this.#regular.get(name);
    if (language === undefined) throw new Error(`rule ${name} was not lowered`);
    return this.#regexNode(language);
  }

  #addPart(part: readonly string[], used: ReadonlyMap<string, readonly string[]>): void {
    const [only = ""] = part;
    if (part.length === 1 && !used.get(only)?.includes(only)) {
      const language = this.#languageOf(this.#expression(only));
      if (language !== undefined) this.#regular.set(only, language);
      else this.#nodes.set(only, this.#nodeOf(this.#expression(only)));
      return;
    }
    for (const name of part) this.#nodes.set(name, this.#builder.reserveNode());
    for (const name of part) {
      this.#builder.setNode(this.node(name), { kind: "sequence", items: [this.#nodeOf(this.#expression(name))] });
    }
  }

  #expression(name: string): Expression {
    const rule = this.#rules.get(name);
    if (rule === undefined) throw new Error(`no rule ${name}`);
    return rule.expression;
  }

  /** The language of what is regular and small. */
  #languageOf(expression: Expression): Language | undefined {
    const known = this.#known.get(expression);
    if (known !== undefined) return known;
    const language = this.#makeLanguage(expression);
    // What is not regular is found out again at no more than the same price, as soon as one part says so.
    if (language !== undefined) this.#known.set(expression, language);
    return language;
  }

  #makeLanguage(expression: Expression): Language | undefined {
    const languages = this.#languages;
    switch (expression.kind) {
      case "text":
        return expression.text.length <= regularWeightMax ? languages.literal(expression.text) : undefined;
      case "class":
        return languages.class(expression.points);
      case "regular":
        return this.#small(expression.language);
      case "node":
        return undefined;
      case "rule":
        return this.#regular.get(expression.name);
      case "sequence":
      case "choice": {
        if (expression.items.length > regularWeightMax) return undefined;
        const parts: Language[] = [];
        for (const item of expression.items) {
          const part = this.#languageOf(item);
          if (part === undefined) return undefined;
          parts.push(part);
        }
        return this.#small(expression.kind === "choice" ? languages.union(parts) : languages.concat(parts));
      }
      case "repeat": {
        const item = this.#languageOf(expression.item);
        return item && this.#small(languages.repeat(item, expression.min, expression.max));
      }
      default:
        return expression satisfies never;
    }
  }

  #small(language: Language): Language | undefined {
    return this.#weight(language) <= regularWeightMax ? language : undefined;
  }

  /** About as many positions as its automaton has. Parts are weighed before the whole is made, so this is never deep. */
  #weight(language: Language): number {
    const known = this.#weights.get(language);
    if (known !== undefined) return known;
    const inner = partsOf(language).reduce((sum, part) => sum + this.#weight(part), 1);
    const rounds = language.kind === "repeat" ? Math.max(language.max ?? language.min, 1) : 1;
    const weight = inner * rounds;
    this.#weights.set(language, weight);
    return weight;
  }

  #nodeOf(expression: Expression): NodeId {
    const builder = this.#builder;
    if (expression.kind === "text") return builder.node({ kind: "bytes", bytes: utf8.encode(expression.text) });
    if (expression.kind === "rule") return this.node(expression.name);
    const language = this.#languageOf(expression);
    if (language !== undefined) return this.#regexNode(language);
    switch (expression.kind) {
      case "node":
        return expression.node;
      case "regular":
        return this.#regexNode(expression.language);
      case "sequence":
        return builder.node({ kind: "sequence", items: this.#runs(expression.items) });
      case "choice":
        return builder.node({ kind: "choice", items: this.#alternatives(expression.items) });
      case "repeat": {
        const { min, max } = expression;
        return builder.node({ kind: "repeat", item: this.#nodeOf(expression.item), min, max });
      }
      case "class":
        throw new Error("a class is always regular");
      default:
        return expression satisfies never;
    }
  }

  /** The items of a sequence; neighbours that are one small automaton together are one. */
  #runs(items: readonly Expression[]): NodeId[] {
    const out: NodeId[] = [];
    let run: Expression[] = [];
    let joined: Language | undefined;
    const flush = () => {
      const [only] = run;
      if (only !== undefined && run.length === 1) out.push(this.#nodeOf(only));
      else if (joined !== undefined) out.push(this.#regexNode(joined));
      run = [];
      joined = undefined;
    };
    for (const item of items) {
      const language = this.#languageOf(item);
      const both = language && joined && this.#small(this.#languages.concat([joined, language]));
      if (both === undefined) flush();
      joined = both ?? language;
      if (language === undefined) out.push(this.#nodeOf(item));
      else run.push(item);
    }
    flush();
    return out;
  }

  /** Those that are texts are one list, other regular ones one automaton. */
  #alternatives(items: readonly Expression[]): NodeId[] {
    const texts: Uint8Array[] = [];
    const out: NodeId[] = [];
    let joined: Language | undefined;
    for (const item of items) {
      if (item.kind === "text") {
        texts.push(utf8.encode(item.text));
        continue;
      }
      const language = this.#languageOf(item);
      if (language === undefined) {
        out.push(this.#nodeOf(item));
        continue;
      }
      const both = joined && this.#small(this.#languages.union([joined, language]));
      if (both === undefined && joined !== undefined) out.push(this.#regexNode(joined));
      joined = both ?? language;
    }
    if (joined !== undefined) out.push(this.#regexNode(joined));
    if (texts.length > 0) out.push(this.#builder.node({ kind: "texts", texts }));
    return out;
  }

  #regexNode(language: Language): NodeId {
    const known = this.#regexNodes.get(language);
    if (known !== undefined) return known;
    const node = this.#builder.node({ kind: "regex", regex: this.#languages.emit(this.#builder, language) });
    this.#regexNodes.set(language, node);
    return node;
  }
}

const utf8 = new TextEncoder();
