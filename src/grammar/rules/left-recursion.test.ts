import { expect, test } from "bun:test";
import { oneOf, type Random, seededRandom } from "../../../tests/fixtures/random.ts";
import { accepts, symbolsOf } from "../../../tests/oracle/ir-acceptor.ts";
import { irBuilder } from "../ir.ts";
import { Languages } from "../regex/language.ts";
import { choice, type Expression, type Rule, type Rules, repeat, sequence } from "./expression.ts";
import { leftRecursive, lowerRules } from "./lower.ts";

const names = ["s", "a", "b"];
const letters = ["", "x", "y", "xy"];

/** Every text of up to three letters, and what rules derive of them: by growing sets of texts until nothing is new. */
const lengthMax = 4;
function derivable(rules: Rules): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map([...rules.keys()].map((name) => [name, new Set<string>()]));
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, { expression }] of rules) {
      const texts = known.get(name) ?? new Set();
      const before = texts.size;
      for (const text of textsOf(expression, known)) texts.add(text);
      changed ||= texts.size > before;
    }
  }
  return known;
}

function textsOf(expression: Expression, known: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  switch (expression.kind) {
    case "text":
      return new Set([expression.text]);
    case "rule":
      return known.get(expression.name) ?? new Set();
    case "choice":
      return new Set(expression.items.flatMap((item) => [...textsOf(item, known)]));
    case "sequence":
      return expression.items.reduce<ReadonlySet<string>>(
        (before, item) => joined(before, textsOf(item, known)),
        new Set([""]),
      );
    case "repeat": {
      const item = textsOf(expression.item, known);
      const out = new Set<string>();
      let round: ReadonlySet<string> = new Set([""]);
      for (let i = 0; i <= (expression.max ?? lengthMax + expression.min); i++) {
        if (i >= expression.min) for (const text of round) out.add(text);
        round = joined(round, item);
      }
      return out;
    }
    default:
      throw new Error(`${expression.kind} is not made here`);
  }
}

function joined(first: ReadonlySet<string>, second: ReadonlySet<string>): ReadonlySet<string> {
  const all = [...first].flatMap((a) => [...second].map((b) => a + b));
  return new Set(all.filter((text) => text.length <= lengthMax));
}

function randomExpression(random: Random, depth: number): Expression {
  const kind = random(depth === 0 ? 2 : 5);
  const some = (count: number) => Array.from({ length: count }, () => randomExpression(random, depth - 1));
  if (kind === 0) return { kind: "text", text: oneOf(random, letters) };
  if (kind === 1) return { kind: "rule", name: oneOf(random, names), at: "" };
  if (kind === 2) return sequence(some(1 + random(3)));
  if (kind === 3) return choice(some(1 + random(3)));
  const min = random(3);
  return repeat(randomExpression(random, depth - 1), min, random(2) === 0 ? undefined : min + random(2));
}

const texts = ["", ..."xy"];
for (const text of texts) if (text.length < lengthMax && text !== "") texts.push(`${text}x`, `${text}y`);

function expectKept(rules: Rules): void {
  const builder = irBuilder();
  const node = lowerRules({ builder, languages: new Languages() }, rules, "s", "rewritten");
  if (!node.ok) throw new Error(JSON.stringify(node.failure));
  const ir = builder.finish(node.value);
  const expected = derivable(rules).get("s") ?? new Set();
  const found = texts.filter((text) => accepts(ir, symbolsOf(text)));
  const message = () => JSON.stringify([...rules].map(([name, rule]) => [name, rule.expression]));
  if (found.join() !== texts.filter((text) => expected.has(text)).join()) throw new Error(message());
}

test("an optional rule that begins with itself keeps its language", () => {
  const s: Expression = { kind: "rule", name: "s", at: "" };
  const expression = repeat(sequence([s, { kind: "text", text: "x" }]), 0, 1);
  expectKept(new Map([["s", { expression, at: "" }]]));
});

test("rules that begin with themselves keep their language", () => {
  const random = seededRandom();
  let recursive = 0;
  for (let round = 0; round < 400; round++) {
    const rules = new Map(
      names.map((name): [string, Rule] => [name, { expression: randomExpression(random, 2), at: "" }]),
    );
    if (leftRecursive(rules).length > 0) recursive++;
    expectKept(rules);
  }
  expect(recursive).toBeGreaterThan(100);
});
