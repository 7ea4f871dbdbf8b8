import { fail, ok, type Result } from "../../generation/result.ts";
import { leftRecursionPartsMax } from "../../limits.ts";
import type { Refusal } from "../json-schema/schema.ts";
import type { Languages } from "../regex/language.ts";
import { choice, type Expression, empty, nothing, type Rule, type Rules, repeat, sequence } from "./expression.ts";
import { isNullable, leftReferences, nullableRules } from "./nullable.ts";

/**
 * The same languages without a rule that begins with itself.
 *
 * The rules of one set that begin with each other are a left-linear system: a rule is one of its own beginnings, which begin with none of
 * the set, or another rule of the set and then a tail. So a rule is a beginning followed by a path of tails (Arden's rule, A = B ∪ A·T
 * is A = B·T*), and paths are right recursion: `path(from, to)` is a tail that leads from one rule to the next, and then a path on.
 * What can be empty is first cut into its non-empty part and the empty text, so that no tail and no beginning hides another.
 */
export function withoutLeftRecursion(
  languages: Languages,
  rules: Rules,
  sets: readonly (readonly string[])[],
): Result<Rules, Refusal> {
  const rewriting = new Rewriting(languages, rules);
  for (const set of sets) {
    const [first = ""] = set;
    if (set.length > leftRecursionPartsMax) {
      const reason = `is one of ${set.length} rules that begin with each other; at most ${leftRecursionPartsMax} may`;
      return fail({ pointer: rules.get(first)?.at ?? "", keyword: first, reason });
    }
    rewriting.rewrite(set);
  }
  return ok(rewriting.finish());
}

/** `target` begins the expression, and `tail` follows it. */
type Step = { readonly target: string; readonly tail: Expression };

class Rewriting {
  readonly #languages: Languages;
  readonly #given: Rules;
  readonly #nullable: ReadonlySet<string>;
  readonly #out: Map<string, Rule>;
  /** Rules whose non-empty part is asked for, in the order in which they have to be written. */
  readonly #nonEmpty = new Set<string>();
  /** The rules of all sets. */
  readonly #rewritten = new Set<string>();

  constructor(languages: Languages, given: Rules) {
    this.#languages = languages;
    this.#given = given;
    this.#nullable = nullableRules(given);
    this.#out = new Map(given);
  }

  rewrite(set: readonly string[]): void {
    for (const name of set) this.#rewritten.add(name);
    const steps = new Map<string, Step[]>();
    const beginnings = new Map<string, Expression>();
    for (const name of set) {
      const split = this.#split(this.#cut(this.#expression(name)), new Set(set));
      steps.set(name, split.steps);
      beginnings.set(name, split.beginning);
    }
    // from → to: a rule `to` may be a rule `from` and a tail.
    const follows = Map.groupBy(
      [...steps].flatMap(([to, list]) => list.map(({ target, tail }) => ({ from: target, to, tail }))),
      ({ from }) => from,
    );
    const sameAs = (from: string) =>
      closure(from, (name) =>
        (follows.get(name) ?? []).filter(({ tail }) => isNullable(tail, this.#nullable)).map(({ to }) => to),
      );
    const path = (from: string, to: string) => `${from}${arrow}${to}`;
    const refer = (name: string): Expression => ({ kind: "rule", name, at: "" });
    for (const to of set) {
      for (const from of set) {
        const same = sameAs(from);
        const on = same.flatMap((name) =>
          (follows.get(name) ?? []).flatMap((edge) => {
            const tail = this.#cut(edge.tail);
            return isNothing(tail) ? [] : [sequence([tail, refer(path(edge.to, to))])];
          }),
        );
        const expression = choice(same.includes(to) ? [empty, ...on] : on);
        this.#out.set(path(from, to), { expression, at: "" });
      }
      const parts = set.map((from) => sequence([beginnings.get(from) ?? nothing, refer(path(from, to))]));
      this.#out.set(to + plus, { expression: choice(parts), at: "" });
      const whole = refer(to + plus);
      const expression = this.#nullable.has(to) ? choice([empty, whole]) : whole;
      this.#out.set(to, { expression, at: this.#given.get(to)?.at ?? "" });
    }
  }

  finish(): Rules {
    // The set grows while it is walked.
    for (const name of this.#nonEmpty) {
      if (this.#rewritten.has(name)) continue;
      this.#out.set(name + plus, { expression: this.#cut(this.#expression(name)), at: "" });
    }
    return this.#out;
  }

  #expression(name: string): Expression {
    return this.#given.get(name)?.expression ?? nothing;
  }

  /** What an expression matches but for the empty text. */
  #cut(expression: Expression): Expression {
    switch (expression.kind) {
      case "text":
        return expression.text === "" ? nothing : expression;
      case "class":
      case "node":
        return expression;
      case "regular":
        return { kind: "regular", language: this.#languages.nonEmpty(expression.language) };
      case "rule": {
        if (!this.#nullable.has(expression.name)) return expression;
        this.#nonEmpty.add(expression.name);
        return { ...expression, name: expression.name + plus };
      }
      case "choice":
        return choice(expression.items.map((item) => this.#cut(item)));
      case "sequence": {
        // The first item that is not empty, and all after it as they are.
        const ways: Expression[] = [];
        for (const [index, item] of expression.items.entries()) {
          const some = this.#cut(item);
          if (!isNothing(some)) ways.push(sequence([some, ...expression.items.slice(index + 1)]));
          if (!isNullable(item, this.#nullable)) break;
        }
        return choice(ways);
      }
      case "repeat": {
        const { item, min, max } = expression;
        return isNullable(item, this.#nullable) ? repeat(this.#cut(item), 1, max) : repeat(item, Math.max(min, 1), max);
      }
      default:
        return expression satisfies never;
    }
  }

  /** An expression that is never empty, cut into what begins with a rule of the set and what does not. */
  #split(expression: Expression, set: ReadonlySet<string>): { readonly steps: Step[]; readonly beginning: Expression } {
    const begins = [...leftReferences(expression, this.#nullable)].some((name) => set.has(plain(name)));
    if (!begins) return { steps: [], beginning: expression };
    switch (expression.kind) {
      case "rule":
        return { steps: [{ target: plain(expression.name), tail: empty }], beginning: nothing };
      case "choice": {
        const parts = expression.items.map((item) => this.#split(item, set));
        const beginning = choice(parts.map((part) => part.beginning).filter((item) => !isNothing(item)));
        return { steps: parts.flatMap((part) => part.steps), beginning };
      }
      case "sequence": {
        const [first = nothing, ...rest] = expression.items;
        const begun = followed(this.#split(this.#cut(first), set), rest);
        if (!isNullable(first, this.#nullable)) return begun;
        const skipped = this.#split(sequence(rest), set);
        return {
          steps: [...begun.steps, ...skipped.steps],
          beginning: choice([begun.beginning, skipped.beginning].filter((item) => !isNothing(item))),
        };
      }
      case "repeat": {
        const { item, min, max } = expression;
        const rest = repeat(item, Math.max(min - 1, 0), max === undefined ? undefined : max - 1);
        return followed(this.#split(this.#cut(item), set), [rest]);
      }
      default:
        return { steps: [], beginning: expression };
    }
  }
}

function followed(
  { steps, beginning }: { readonly steps: readonly Step[]; readonly beginning: Expression },
  rest: readonly Expression[],
): { readonly steps: Step[]; readonly beginning: Expression } {
  return {
    steps: steps.map(({ target, tail }) => ({ target, tail: sequence([tail, ...rest]) })),
    beginning: isNothing(beginning) ? nothing : sequence([beginning, ...rest]),
  };
}

function isNothing(expression: Expression): boolean {
  return expression.kind === "choice" && expression.items.length === 0;
}

function closure(start: string, next: (name: string) => readonly string[]): string[] {
  const seen = new Set([start]);
  for (const name of seen) for (const other of next(name)) seen.add(other);
  return [...seen];
}

/** Endings of names that no grammar can spell. */
const plus = " without the empty text";
const arrow = " up to ";

function plain(name: string): string {
  return name.endsWith(plus) ? name.slice(0, -plus.length) : name;
}
