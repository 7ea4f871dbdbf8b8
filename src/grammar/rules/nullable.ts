import { type Expression, type Rules, references } from "./expression.ts";

/** The rules that can be empty: a least fixed point, each rule looked at again when one that it refers to turns out to be. */
export function nullableRules(rules: Rules): ReadonlySet<string> {
  const nullable = new Set<string>();
  const users = new Map<string, string[]>();
  for (const [name, { expression }] of rules) {
    for (const { name: used } of references(expression)) {
      const known = users.get(used);
      if (known === undefined) users.set(used, [name]);
      else known.push(name);
    }
  }
  const waiting = [...rules.keys()];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const rule = rules.get(name);
    if (rule === undefined || nullable.has(name) || !isNullable(rule.expression, nullable)) continue;
    nullable.add(name);
    waiting.push(...(users.get(name) ?? []));
  }
  return nullable;
}

export function isNullable(expression: Expression, rules: ReadonlySet<string>): boolean {
  switch (expression.kind) {
    case "text":
      return expression.text === "";
    case "class":
    case "node":
      return false;
    case "regular":
      return expression.language.nullable;
    case "rule":
      return rules.has(expression.name);
    case "sequence":
      return expression.items.every((item) => isNullable(item, rules));
    case "choice":
      return expression.items.some((item) => isNullable(item, rules));
    case "repeat":
      return expression.min === 0 || isNullable(expression.item, rules);
    default:
      return expression satisfies never;
  }
}

/** The rules that an expression can begin with. */
export function* leftReferences(expression: Expression, nullable: ReadonlySet<string>): Generator<string, void> {
  switch (expression.kind) {
    case "rule":
      return yield expression.name;
    case "sequence":
      for (const item of expression.items) {
        yield* leftReferences(item, nullable);
        if (!isNullable(item, nullable)) return;
      }
      return;
    case "choice":
      for (const item of expression.items) yield* leftReferences(item, nullable);
      return;
    case "repeat":
      return yield* leftReferences(expression.item, nullable);
    default:
  }
}
