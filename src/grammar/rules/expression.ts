import type { NodeId } from "../ir.ts";
import { type CodePoints, everyPoint } from "../regex/code-points.ts";
import type { Language } from "../regex/language.ts";

/** What a rule of a text grammar stands for, whatever syntax it was written in. */
export type Expression =
  /** Well-formed Unicode, maybe empty. */
  | { readonly kind: "text"; readonly text: string }
  /** One code point. */
  | { readonly kind: "class"; readonly points: CodePoints }
  | { readonly kind: "regular"; readonly language: Language }
  /** Something that is never empty, such as a token or a JSON value. */
  | { readonly kind: "node"; readonly node: NodeId }
  /** `at`: where it is referred to. */
  | { readonly kind: "rule"; readonly name: string; readonly at: string }
  | { readonly kind: "sequence"; readonly items: readonly Expression[] }
  /** Without items nothing fits. */
  | { readonly kind: "choice"; readonly items: readonly Expression[] }
  /** Made by `repeat`, so `max` is not 0. */
  | {
      readonly kind: "repeat";
      readonly item: Expression;
      readonly min: number;
      readonly max: number | undefined;
    };

/** `at`: where the rule is defined. Names are unique. */
export type Rule = { readonly expression: Expression; readonly at: string };
export type Rules = ReadonlyMap<string, Rule>;

export const empty: Expression = { kind: "text", text: "" };
export const nothing: Expression = { kind: "choice", items: [] };
export const anyCharacter: Expression = { kind: "class", points: everyPoint };

export function sequence(items: readonly Expression[]): Expression {
  const flat = items.flatMap((item) => (item.kind === "sequence" ? item.items : isEmptyText(item) ? [] : [item]));
  const [first] = flat;
  return first === undefined ? empty : flat.length === 1 ? first : { kind: "sequence", items: flat };
}

export function choice(items: readonly Expression[]): Expression {
  const flat = items.flatMap((item) => (item.kind === "choice" ? item.items : [item]));
  const [first] = flat;
  return first !== undefined && flat.length === 1 ? first : { kind: "choice", items: flat };
}

export function repeat(item: Expression, min: number, max: number | undefined): Expression {
  if (max === 0) return empty;
  return min === 1 && max === 1 ? item : { kind: "repeat", item, min, max };
}

export function optional(item: Expression): Expression {
  return repeat(item, 0, 1);
}

function isEmptyText(item: Expression): boolean {
  return item.kind === "text" && item.text === "";
}

/** The names that an expression refers to, each as often as it stands there. */
export function* references(expression: Expression): Generator<Expression & { kind: "rule" }, void> {
  switch (expression.kind) {
    case "rule":
      return yield expression;
    case "sequence":
    case "choice":
      for (const item of expression.items) yield* references(item);
      return;
    case "repeat":
      return yield* references(expression.item);
    default:
  }
}
