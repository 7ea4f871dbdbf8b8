import { changed, type Path, placesOf, valueAt } from "../tests/fixtures/fuzz/mutate.ts";
import { oneOf, type Random } from "../tests/fixtures/random.ts";

/** A document a small step away from another one, as close to a schema's limits as the document was. */
export function mutatedInstance(document: unknown, random: Random): unknown {
  const at = oneOf(random, placesOf(document));
  const old = valueAt(document, at);
  return oneOf(random, stepsOf(old))(document, at, random) ?? null;
}

type Step = (document: unknown, at: Path, random: Random) => unknown;

function stepsOf(value: unknown): readonly Step[] {
  if (typeof value === "number") return [...ofAny, ...ofNumbers, ...ofNumbers];
  if (typeof value === "string") return [...ofAny, ...ofTexts, ...ofTexts];
  if (Array.isArray(value)) return [...ofAny, ...ofArrays, ...ofArrays];
  return typeof value === "object" && value !== null ? [...ofAny, ...ofObjects, ...ofObjects] : ofAny;
}

const others = [null, true, 0, -1, 1.5, "", "x", [], {}];

const ofAny: readonly Step[] = [
  (document, at) => changed(document, at, () => undefined),
  (document, at, random) => changed(document, at, () => oneOf(random, others)),
  (document, at, random) => changed(document, at, () => valueAt(document, oneOf(random, placesOf(document)))),
];

const ofNumbers = [
  (value: number) => value + 1,
  (value: number) => value - 1,
  (value: number) => value + 0.5,
  (value: number) => -value,
  (value: number) => value * 1000,
  (value: number) => value / 10,
].map(step("number"));

const ofTexts = [
  (text: string) => [...text].slice(0, -1).join(""),
  (text: string) => `${text}a`,
  (text: string) => `${text}1`,
  (text: string) => ` ${text}`,
  (text: string) => text.toUpperCase(),
  (text: string) => text.replace(/\d/, "99"),
  (text: string) => text.repeat(2),
].map(step("string"));

const ofArrays: readonly Step[] = [
  (document, at, random) =>
    edited(document, at, (items) => [...items, ...(items.length > 0 ? [oneOf(random, items)] : [])]),
  (document, at, random) => edited(document, at, (items) => [...items, oneOf(random, others)]),
  (document, at) => edited(document, at, () => []),
  (document, at) => edited(document, at, (items) => items.toReversed()),
];

const ofObjects: readonly Step[] = [
  (document, at, random) => renamed(document, at, random, (name) => `${name}x`),
  (document, at, random) => renamed(document, at, random, (name) => name.toUpperCase()),
  (document, at, random) => changed(document, at, (old) => ({ ...Object(old), additional: oneOf(random, others) })),
  (document, at, random) => changed(document, at, (old) => ({ ...Object(old), "": oneOf(random, others) })),
];

function step<T>(type: "number" | "string"): (change: (value: never) => T) => Step {
  return (change) => (document, at) =>
    // The kind of value that is there was asked before.
    changed(document, at, (old) => (typeof old === type ? Reflect.apply(change, undefined, [old]) : old));
}

function edited(document: unknown, at: Path, change: (items: readonly unknown[]) => readonly unknown[]): unknown {
  return changed(document, at, (old) => (Array.isArray(old) ? change(old) : old));
}

function renamed(document: unknown, at: Path, random: Random, change: (name: string) => string): unknown {
  return changed(document, at, (old) => {
    const entries = Object.entries(Object(old));
    if (entries.length === 0) return old;
    const chosen = random(entries.length);
    return Object.fromEntries(entries.map(([name, item], i) => [i === chosen ? change(name) : name, item]));
  });
}
