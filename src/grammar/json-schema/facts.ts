import type { Decimal } from "../decimal.ts";
import type { Language } from "../regex/language.ts";
import type { SchemaReader } from "./read.ts";
import { type Conjunct, everyType, type Finite, type Schema, types } from "./schema.ts";
import type { Texts } from "./texts.ts";

/**
 * What is plain about the values of conjuncts without making their cases: types, lists of scalars, and patterns. Enough to see that a
 * discriminator (`const`, `enum`, `type` or `pattern` under a required key) tells two objects apart.
 */
export class Facts {
  readonly #reader: SchemaReader;
  readonly #known = new Map<Conjunct, Fact>();

  constructor(reader: SchemaReader) {
    this.#reader = reader;
  }

  /** Whether it is plain that no value fits all of them. */
  exclude(conjuncts: readonly Conjunct[]): boolean {
    const positive = conjuncts.filter(({ negated }) => !negated);
    if (conjuncts.some((one) => one.negated && positive.some((other) => areOpposite(one, other)))) return true;
    const facts = conjuncts.map((conjunct) => this.#of(conjunct, 0));
    const sum = facts.reduce((left, fact) => left & fact.types, everyType);
    if (sum === 0) return true;
    const list = shortest(facts);
    const languages = facts.flatMap((fact) => fact.languages);
    if (list !== undefined) {
      const isListed = (key: string) => facts.every(({ only, not }) => only?.has(key) !== false && !not.has(key));
      return list
        .entries()
        .every(([key, type]) => (type & sum) === 0 || !isListed(key) || this.#mismatches(key, type, languages));
    }
    if (sum !== types.string || languages.length < 2) return false;
    return this.#reader.texts.derivatives.isEmpty(this.#reader.texts.languages.intersection(languages));
  }

  /** Without the negated lists that have nothing in common with what others list that hold beside them. */
  withoutIdle(conjuncts: readonly Conjunct[], beside: readonly Conjunct[]): readonly Conjunct[] {
    const list = shortest(beside.map((conjunct) => this.#of(conjunct, 0)));
    if (list === undefined) return conjuncts;
    return conjuncts.filter((conjunct) => {
      const { not } = this.#of(conjunct, 0);
      return not.size === 0 || list.keys().some((key) => not.has(key));
    });
  }

  /** Whether it is plain that only a few scalars fit all of them. */
  isFinite(conjuncts: readonly Conjunct[]): boolean {
    return conjuncts.some((conjunct) => this.#of(conjunct, 0).only !== undefined);
  }

  #mismatches(key: string, type: number, languages: readonly Language[]): boolean {
    const { derivatives } = this.#reader.texts;
    return type === types.string && !languages.every((language) => derivatives.matches(language, key.slice(1)));
  }

  #of(conjunct: Conjunct, depth: number): Fact {
    const known = this.#known.get(conjunct);
    if (known !== undefined) return known;
    if (depth === depthMax) return nothingKnown;
    const schema = this.#reader.schema(conjunct);
    const fact = conjunct.negated ? negative(schema, this.#reader.texts) : this.#positive(schema, depth);
    if (depth === 0) this.#known.set(conjunct, fact);
    return fact;
  }

  #positive(schema: Schema, depth: number): Fact {
    let fact: Fact = { ...nothingKnown, types: schema.types, languages: schema.texts.map(({ language }) => language) };
    for (const finite of schema.finite)
      fact = both(fact, { ...nothingKnown, types: typesOf(finite), only: scalars(finite) });
    for (const applicator of schema.applicators) {
      if (applicator.kind !== "all" && applicator.kind !== "any" && applicator.kind !== "one") continue;
      const parts = applicator.parts.map((part) => this.#of(part, depth + 1));
      const joined = applicator.kind === "all" ? parts.reduce(both, nothingKnown) : parts.reduce(either, impossible);
      fact = both(fact, joined);
    }
    return fact;
  }
}

/** The shortest list of scalars that some of the facts name. */
function shortest(facts: readonly Fact[]): ReadonlyMap<string, number> | undefined {
  let list: ReadonlyMap<string, number> | undefined;
  for (const { only } of facts)
    if (only !== undefined && only.size < (list?.size ?? Number.POSITIVE_INFINITY)) list = only;
  return list;
}

/** Whether one is the other's negation. */
function areOpposite(one: Conjunct, other: Conjunct): boolean {
  return (
    one.negated !== other.negated && one.json === other.json && one.kind === other.kind && one.scope === other.scope
  );
}

type Fact = {
  readonly types: number;
  /** Nothing but these scalars, each with its type; undefined where more is possible. */
  readonly only: ReadonlyMap<string, number> | undefined;
  readonly not: ReadonlySet<string>;
  /** All strings are of each. */
  readonly languages: readonly Language[];
};

const depthMax = 4;
const noKeys: ReadonlySet<string> = new Set();
const nothingKnown: Fact = { types: everyType, only: undefined, not: noKeys, languages: [] };
const impossible: Fact = { types: 0, only: new Map(), not: noKeys, languages: [] };

function both(a: Fact, b: Fact): Fact {
  if (a === nothingKnown) return b;
  if (b === nothingKnown) return a;
  const sum = a.types & b.types;
  let only = a.only ?? b.only;
  if (a.only !== undefined && b.only !== undefined) {
    const { only: others } = b;
    only = new Map([...a.only].filter(([key]) => others.has(key)));
  }
  if (only !== undefined) only = new Map([...only].filter(([, type]) => (type & sum) !== 0));
  const languages = a.languages.length === 0 ? b.languages : [...a.languages, ...b.languages];
  return { types: sum, only, not: a.not.size === 0 ? b.not : a.not.union(b.not), languages };
}

function either(a: Fact, b: Fact): Fact {
  if (a === impossible) return b;
  const only = a.only !== undefined && b.only !== undefined ? new Map([...a.only, ...b.only]) : undefined;
  const not = a.not.size === 0 ? a.not : a.not.intersection(b.not);
  return { types: a.types | b.types, only, not, languages: [] };
}

/** What a schema leaves for its negation: nothing of its types where it demands nothing else, and none of a plain list's scalars. */
function negative(schema: Schema, { languages: make }: Texts): Fact {
  const [list, ...others] = schema.finite;
  const demands = [schema.low, schema.high, schema.multipleOf, schema.length, schema.items, schema.array];
  const more = [schema.contains, schema.unevaluatedItems, schema.members, schema.object, schema.names];
  const plain =
    schema.unique === undefined &&
    schema.unevaluatedMembers === undefined &&
    schema.applicators.length + schema.required.length + others.length === 0 &&
    [...demands, ...more].every((demand) => demand === undefined);
  if (!plain) return nothingKnown;
  const [text, ...texts] = schema.texts;
  if (text !== undefined) {
    // A schema of types and one pattern: its strings are those that do not match.
    const lone = texts.length === 0 && list === undefined && text.lengthMax === undefined && !schema.whole;
    if (!lone) return nothingKnown;
    const left = (everyType & ~schema.types) | types.string;
    const failing = (schema.types & types.string) === 0 ? [] : [make.complement(text.language)];
    return { ...nothingKnown, types: left, languages: failing };
  }
  if (list === undefined) return schema.whole ? nothingKnown : { ...nothingKnown, types: everyType & ~schema.types };
  if (schema.whole) return nothingKnown;
  const keys = [...(scalars(list, true) ?? [])].filter(([, type]) => (type & schema.types) !== 0);
  return { ...nothingKnown, not: new Set(keys.map(([key]) => key)) };
}

/** Each scalar of a list with its type; undefined where there are arrays or objects, unless those do not matter. */
function scalars(finite: Finite, partly = false): ReadonlyMap<string, number> | undefined {
  if (!partly && finite.arrays.length + finite.objects.length > 0) return undefined;
  const found = new Map<string, number>();
  for (const type of [types.null, types.true, types.false]) if ((finite.types & type) !== 0) found.set(`${type}`, type);
  for (const number of finite.numbers) found.set(`#${decimalKey(number)}`, types.number);
  for (const text of finite.strings) found.set(`"${text}`, types.string);
  return found;
}

export function decimalKey({ digits, exponent }: Decimal): string {
  return `${digits}e${exponent}`;
}

export function typesOf({ types: constants, numbers, strings, arrays, objects }: Finite): number {
  return (
    constants |
    (numbers.length > 0 ? types.number : 0) |
    (strings.size > 0 ? types.string : 0) |
    (arrays.length > 0 ? types.array : 0) |
    (objects.length > 0 ? types.object : 0)
  );
}
