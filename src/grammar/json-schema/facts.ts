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
    let sum = everyType;
    const facts: Fact[] = [];
    for (const conjunct of conjuncts) {
      const fact = this.#of(conjunct, 0);
      facts.push(fact);
      sum &= fact.types;
    }
    if (sum === 0 || haveOpposites(conjuncts)) return true;
    const list = shortest(facts);
    if (list !== undefined) {
      for (const [key, type] of list) if ((type & sum) !== 0 && this.#isListed(key, type, facts)) return false;
      return true;
    }
    if (sum !== types.string) return false;
    const languages = facts.flatMap((fact) => fact.languages);
    if (languages.length < 2) return false;
    return this.#reader.texts.derivatives.isEmpty(this.#reader.texts.languages.intersection(languages));
  }

  /** Without the negated lists that have nothing in common with what others list that hold beside them. */
  withoutIdle(conjuncts: readonly Conjunct[], beside: readonly Conjunct[]): readonly Conjunct[] {
    if (conjuncts.length === 0) return conjuncts;
    const list = this.listOf(beside);
    return list === undefined ? conjuncts : conjuncts.filter((conjunct) => !this.isIdle(conjunct, list));
  }

  /** Whether a conjunct only bars a list of scalars, none of which is in this one. */
  isIdle(conjunct: Conjunct, list: Scalars): boolean {
    const { not } = this.#of(conjunct, 0);
    if (not.size === 0) return false;
    for (const key of list.keys()) if (not.has(key)) return false;
    return true;
  }

  /** Whether it is plain that a conjunct holds for no scalar of a list. */
  isApart(conjunct: Conjunct, list: Scalars): boolean {
    const { types: left, only, not } = this.#of(conjunct, 0);
    for (const [key, type] of list) if ((type & left) !== 0 && only?.has(key) !== false && !not.has(key)) return false;
    return true;
  }

  /** The shortest list of scalars, one of which a value has to be for one of the conjuncts; undefined where none has a list. */
  listOf(conjuncts: readonly Conjunct[]): Scalars | undefined {
    return conjuncts.length === 0 ? undefined : shortest(conjuncts.map((conjunct) => this.#of(conjunct, 0)));
  }

  /** Whether it is plain that only a few scalars fit all of them. */
  isFinite(conjuncts: readonly Conjunct[]): boolean {
    return conjuncts.some((conjunct) => this.#of(conjunct, 0).only !== undefined);
  }

  /** Whether no fact speaks against a scalar. */
  #isListed(key: string, type: number, facts: readonly Fact[]): boolean {
    const { derivatives } = this.#reader.texts;
    for (const { only, not, languages } of facts) {
      if (only?.has(key) === false || not.has(key)) return false;
      if (type !== types.string) continue;
      for (const language of languages) if (!derivatives.matches(language, key.slice(1))) return false;
    }
    return true;
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
    const { types: left, texts } = schema;
    const languages = texts.length === 0 ? nothingKnown.languages : texts.map(({ language }) => language);
    let fact =
      left === everyType && texts.length === 0
        ? nothingKnown
        : { types: left, only: undefined, not: noKeys, languages };
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
function shortest(facts: readonly Fact[]): Scalars | undefined {
  let list: Scalars | undefined;
  for (const { only } of facts)
    if (only !== undefined && only.size < (list?.size ?? Number.POSITIVE_INFINITY)) list = only;
  return list;
}

/** Whether some of them are each other's negation. */
function haveOpposites(conjuncts: readonly Conjunct[]): boolean {
  for (const one of conjuncts) {
    if (one.negated) continue;
    for (const other of conjuncts) if (areOpposite(one, other)) return true;
  }
  return false;
}

/** Whether one is the other's negation. */
function areOpposite(one: Conjunct, other: Conjunct): boolean {
  return (
    one.negated !== other.negated && one.json === other.json && one.kind === other.kind && one.scope === other.scope
  );
}

/** Scalars by a key of their own, each with its type. */
export type Scalars = ReadonlyMap<string, number>;

type Fact = {
  readonly types: number;
  /** Nothing but these scalars, each with its type; undefined where more is possible. */
  readonly only: Scalars | undefined;
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
  if (schema.applicators.length + others.length > 0 || !isPlain(schema)) return nothingKnown;
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

/** The scalars that a schema accepts, where it accepts nothing but a few: its negation bars just these. */
export function onlyScalars(schema: Schema): Finite | undefined {
  const [list, ...others] = schema.finite;
  if (list === undefined || schema.whole) return undefined;
  if (others.length + schema.texts.length + schema.applicators.length > 0 || !isPlain(schema)) return undefined;
  const has = (type: number) => (schema.types & type) !== 0;
  if (list.arrays.length > 0 && has(types.array)) return undefined;
  if (list.objects.length > 0 && has(types.object)) return undefined;
  const numbers = has(types.number) ? list.numbers : [];
  const strings = has(types.string) ? list.strings : noKeys;
  return { ...list, types: list.types & schema.types, numbers, strings, arrays: [], objects: [] };
}

/** Whether the keywords of a schema's own demand nothing but types, lists and texts. */
export function isPlain(schema: Schema): boolean {
  if (schema.required.length > 0) return false;
  const { low, high, multipleOf, length, items, array, contains } = schema;
  if ((low ?? high ?? multipleOf ?? length ?? items ?? array ?? contains) !== undefined) return false;
  const { unique, unevaluatedItems, members, object, names, unevaluatedMembers } = schema;
  return (unique ?? unevaluatedItems ?? members ?? object ?? names ?? unevaluatedMembers) === undefined;
}

/** Each scalar of a list with its type; undefined where there are arrays or objects, unless those do not matter. */
function scalars(finite: Finite, partly = false): Scalars | undefined {
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
