import { fail, ok, type Result } from "../../generation/result.ts";
import { regularWeightMax } from "../../limits.ts";
import type { IrBuilder, NodeId, RegexId } from "../ir.ts";
import type { Refusal } from "../json-schema/schema.ts";
import { type Expression, type Rules, references } from "./expression.ts";
import { withoutLeftRecursion } from "./left-recursion.ts";
import { leftReferences, nullableRules } from "./nullable.ts";
import { components } from "./order.ts";

/**
 * Rules → the node of one of them. What is regular and small becomes one automaton; the rest stays a stack of rules. A rule that begins
 * with itself is rewritten, or refused by its name.
 */
export function lowerRules(
  builder: IrBuilder,
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
  const rewritten = first === undefined ? ok(given) : withoutLeftRecursion(builder, given, recursive);
  return rewritten.ok ? ok(new Lowering(builder, reachable(rewritten.value, start)).node(start)) : rewritten;
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
  readonly #rules: Rules;
  /** Infinite for what is not regular. */
  readonly #weights = new Map<string, number>();
  readonly #nodes = new Map<string, NodeId>();
  readonly #regexes = new Map<string, RegexId>();
  readonly #regexNodes = new Map<RegexId, NodeId>();

  constructor(builder: IrBuilder, rules: Rules) {
    this.#builder = builder;
    this.#rules = rules;
    const used = new Map<string, string[]>();
    for (const [name, { expression }] of rules)
      used.set(
        name,
        [...references(expression)].map((reference) => reference.name),
      );
    // A rule comes after those it is made of, so nothing here is as deep as a chain of rules is long.
    for (const part of components(rules.keys(), (name) => used.get(name) ?? [])) this.#addPart(part, used);
  }

  node(name: string): NodeId {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const regex = this.#regexes.get(name);
    if (regex === undefined) throw new Error(`rule ${name} was not lowered`);
    const node = this.#regexNode(regex);
    this.#nodes.set(name, node);
    return node;
  }

  #addPart(part: readonly string[], used: ReadonlyMap<string, readonly string[]>): void {
    const [only = ""] = part;
    if (part.length === 1 && !used.get(only)?.includes(only)) {
      const expression = this.#expression(only);
      const weight = this.#weight(expression);
      this.#weights.set(only, weight);
      if (weight <= regularWeightMax && expression.kind !== "text") this.#regexes.set(only, this.#regex(expression));
      else this.#nodes.set(only, this.#nodeOf(expression));
      return;
    }
    for (const name of part) {
      this.#weights.set(name, Number.POSITIVE_INFINITY);
      this.#nodes.set(name, this.#builder.reserveNode());
    }
    for (const name of part) {
      this.#builder.setNode(this.node(name), { kind: "sequence", items: [this.#nodeOf(this.#expression(name))] });
    }
  }

  #expression(name: string): Expression {
    const rule = this.#rules.get(name);
    if (rule === undefined) throw new Error(`no rule ${name}`);
    return rule.expression;
  }

  #weight(expression: Expression): number {
    switch (expression.kind) {
      case "text":
        return expression.text.length;
      case "class":
        return 1;
      case "regex":
        return expression.weight;
      case "node":
        return Number.POSITIVE_INFINITY;
      case "rule":
        return this.#weights.get(expression.name) ?? Number.POSITIVE_INFINITY;
      case "sequence":
      case "choice":
        return expression.items.reduce((sum, item) => sum + this.#weight(item), 1);
      case "repeat":
        return this.#weight(expression.item) * Math.max(expression.max ?? expression.min, 1);
      default:
        return expression satisfies never;
    }
  }

  #isRegular(expression: Expression): boolean {
    return this.#weight(expression) <= regularWeightMax;
  }

  #regex(expression: Expression): RegexId {
    const builder = this.#builder;
    switch (expression.kind) {
      case "text":
        return builder.regex({
          kind: "concat",
          items: [...expression.text].map((character) => this.#character(character)),
        });
      case "class":
        return builder.regex(expression);
      case "regex":
        return expression.regex;
      case "rule":
        return this.#regexes.get(expression.name) ?? this.#regex(this.#expression(expression.name));
      case "sequence":
        return builder.regex({ kind: "concat", items: expression.items.map((item) => this.#regex(item)) });
      case "choice":
        return builder.regex({ kind: "union", items: expression.items.map((item) => this.#regex(item)) });
      case "repeat": {
        const { min, max } = expression;
        return builder.regex({ kind: "repeat", item: this.#regex(expression.item), min, max });
      }
      case "node":
        throw new Error("a node is no regex");
      default:
        return expression satisfies never;
    }
  }

  #character(character: string): RegexId {
    const point = character.codePointAt(0) ?? 0;
    return this.#builder.regex({ kind: "class", ranges: [[point, point]] });
  }

  #nodeOf(expression: Expression): NodeId {
    const builder = this.#builder;
    if (expression.kind === "text") return builder.node({ kind: "bytes", bytes: utf8.encode(expression.text) });
    if (expression.kind === "rule" && this.#nodes.has(expression.name)) return this.node(expression.name);
    if (this.#isRegular(expression)) return this.#regexNode(this.#regex(expression));
    switch (expression.kind) {
      case "node":
        return expression.node;
      case "rule":
        return this.node(expression.name);
      case "class":
      case "regex":
        return this.#regexNode(this.#regex(expression));
      case "sequence":
        return builder.node({ kind: "sequence", items: this.#runs(expression.items).map((run) => this.#nodeOf(run)) });
      case "choice": {
        const regular = expression.items.filter((item) => this.#isRegular(item));
        const others = expression.items.filter((item) => !this.#isRegular(item));
        const groups = this.#groups(regular).map((items): Expression => ({ kind: "choice", items }));
        return builder.node({ kind: "choice", items: [...groups, ...others].map((item) => this.#nodeOf(item)) });
      }
      case "repeat": {
        const { min, max } = expression;
        return builder.node({ kind: "repeat", item: this.#nodeOf(expression.item), min, max });
      }
      default:
        return expression satisfies never;
    }
  }

  /** The items of a sequence, those that make one small automaton together joined. */
  #runs(items: readonly Expression[]): Expression[] {
    const out: Expression[] = [];
    let run: Expression[] = [];
    const flush = () => {
      for (const group of this.#groups(run)) {
        const [only] = group;
        out.push(only !== undefined && group.length === 1 ? only : { kind: "sequence", items: group });
      }
      run = [];
    };
    for (const item of items) {
      if (this.#isRegular(item)) {
        run.push(item);
        continue;
      }
      flush();
      out.push(item);
    }
    flush();
    return out;
  }

  /** Cuts a list where it would grow too heavy. */
  #groups(items: readonly Expression[]): Expression[][] {
    const groups: Expression[][] = [];
    let weight = Number.POSITIVE_INFINITY;
    for (const item of items) {
      weight += this.#weight(item);
      if (weight <= regularWeightMax) {
        groups.at(-1)?.push(item);
        continue;
      }
      groups.push([item]);
      weight = this.#weight(item) + 1;
    }
    return groups;
  }

  #regexNode(regex: RegexId): NodeId {
    const known = this.#regexNodes.get(regex);
    if (known !== undefined) return known;
    const node = this.#builder.node({ kind: "regex", regex });
    this.#regexNodes.set(regex, node);
    return node;
  }
}

const utf8 = new TextEncoder();
