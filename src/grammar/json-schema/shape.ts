import type { Facts, Scalars } from "./facts.ts";
import { anyNumber, meetNumbers, type NumberDemand, numberWithin } from "./numbers.ts";
import {
  type ArrayLayer,
  type Conjunct,
  type Contains,
  everyType,
  type ObjectLayer,
  type Range,
  types,
} from "./schema.ts";
import { anySize, anyString, maxOf, meetRanges, type StringDemand, type Texts } from "./texts.ts";

/**
 * A case: everything that is demanded of a value of one JSON type. Members and items are kept as layers, one for each schema, and
 * come together when the case is finished.
 */
export type Shape =
  | { readonly type: "null" | "true" | "false" }
  | NumberDemand
  | StringDemand
  | ArrayDemand
  | ObjectDemand;

export type ArrayDemand = {
  readonly type: "array";
  readonly size: Range;
  readonly layers: readonly ArrayLayer[];
  readonly contains: readonly Contains[];
  /** Layers that some item must not fit: what is left of a negated schema. */
  readonly broken: readonly ArrayLayer[];
  /** The pointer of a schema that wants all items to differ. */
  readonly unique: string | undefined;
};

export type ObjectDemand = {
  readonly type: "object";
  readonly size: Range;
  readonly layers: readonly ObjectLayer[];
  /** Schemas of the keys. */
  readonly names: readonly Conjunct[];
  readonly required: ReadonlySet<string>;
  readonly absent: ReadonlySet<string>;
  readonly broken: readonly (Broken | Failing)[];
};

/** What some member must not fit: a layer with its value, or a schema with its key. */
export type Broken = { readonly layer: ObjectLayer } | { readonly name: Conjunct };
/** The same where it can only be the member with one key: it has to be there, and to fit `part`. */
export type Failing = { readonly key: string; readonly part: Conjunct };

const none: ReadonlySet<string> = new Set();

export const anyArray: ArrayDemand = {
  type: "array",
  size: anySize,
  layers: [],
  contains: [],
  broken: [],
  unique: undefined,
};

export const anyObject: ObjectDemand = {
  type: "object",
  size: anySize,
  layers: [],
  names: [],
  required: none,
  absent: none,
  broken: [],
};

/** A layer of one key that says nothing of others. */
export function silentLayer(key: string, part: Conjunct): ObjectLayer {
  const declared = new Map([[key, part]]);
  return { declared, patterns: [], rest: undefined, closes: false, speaks: false, evaluates: false };
}

/** Every JSON value: one case for each type, nothing demanded. */
export const everything: readonly Shape[] = [
  { type: "null" },
  { type: "true" },
  { type: "false" },
  anyNumber,
  anyString,
  anyArray,
  anyObject,
];

export function ofTypes(sum: number): readonly Shape[] {
  return bySum[sum] ?? [];
}

const bySum: readonly (readonly Shape[])[] = Array.from({ length: everyType + 1 }, (_, sum) =>
  sum === everyType ? everything : everything.filter(({ type }) => (types[type] & sum) !== 0),
);

/** Every value that is no object, and the objects of these demands: what a keyword for objects accepts. */
export function withObjects(objects: readonly ObjectDemand[]): readonly Shape[] {
  return [...ofTypes(everyType & ~types.object), ...objects];
}

/** A member that is there for sure, and the scalars of which it is one. */
type Listed = { readonly key: string; readonly list: Scalars };

/** Conjunction of cases. `facts` tells values that exclude each other. */
export class Meeting {
  readonly #texts: Texts;
  readonly #facts: Facts;
  readonly #lists = new Map<ObjectDemand, readonly Listed[]>();

  constructor(texts: Texts, facts: Facts) {
    this.#texts = texts;
    this.#facts = facts;
  }

  /** undefined where it is plain that no value is of both cases. */
  meet(a: Shape, b: Shape): Shape | undefined {
    switch (a.type) {
      case "null":
      case "true":
      case "false":
        return a.type === b.type ? a : undefined;
      case "number":
        return b.type === "number" ? meetNumbers(a, b) : undefined;
      case "string":
        return b.type === "string" ? this.#texts.meet(a, b) : undefined;
      case "array":
        return b.type === "array" ? this.#arrays(a, b) : undefined;
      case "object":
        return b.type === "object" ? this.#objects(a, b) : undefined;
      default:
        return a satisfies never;
    }
  }

  #arrays(a: ArrayDemand, b: ArrayDemand): ArrayDemand | undefined {
    if (a === anyArray || a === b) return b;
    if (b === anyArray) return a;
    const size = meetRanges(a.size, b.size);
    if (size === undefined) return undefined;
    const layers = merged(a.layers, b.layers);
    if (layers.length > Math.max(a.layers.length, b.layers.length)) {
      const sure = Math.min(size.min, Math.max(...layers.map(({ prefix }) => prefix.length)));
      for (let i = 0; i < sure; i++) {
        if (this.#facts.exclude(layers.flatMap(({ prefix }) => prefix[i] ?? []))) return undefined;
      }
    }
    return {
      type: "array",
      size,
      layers,
      contains: merged(a.contains, b.contains),
      broken: merged(a.broken, b.broken),
      unique: a.unique ?? b.unique,
    };
  }

  #objects(a: ObjectDemand, b: ObjectDemand): ObjectDemand | undefined {
    if (a === anyObject || a === b) return b;
    if (b === anyObject) return a;
    if (this.#areApart(a, b) || this.#areApart(b, a)) return undefined;
    if (this.#isIdleBeside(b, a)) return a;
    const size = meetRanges(a.size, b.size);
    const required = union(a.required, b.required);
    const absent = union(a.absent, b.absent);
    const broken = merged(a.broken, b.broken);
    const failing = broken.filter(isFailing);
    const sure = failing.length === 0 ? required : union(required, new Set(failing.map(({ key }) => key)));
    if (size === undefined || maxOf(size) < sure.size) return undefined;
    const fewer = sure.size < absent.size ? [sure, absent] : [absent, sure];
    for (const key of fewer[0] ?? none) if (fewer[1]?.has(key)) return undefined;
    const layers = merged(a.layers, b.layers);
    if (layers.some((layer) => lacks(layer, sure))) return undefined;
    let idle: readonly Failing[] = [];
    const told = layers.length + broken.length + required.size;
    if (told > toldBy(a) && told > toldBy(b)) {
      const found = this.#idle(sure, required, layers, failing);
      if (found === undefined) return undefined;
      idle = found;
    }
    if (broken.some((one) => "layer" in one && holds(one.layer, layers))) return undefined;
    const left = idle.length === 0 ? broken : broken.filter((one) => !("key" in one && idle.includes(one)));
    const names = merged(a.names, b.names);
    const met: ObjectDemand = { type: "object", size, layers, names, required, absent, broken: left };
    return left.length === a.broken.length && this.within(a, met) ? a : met;
  }

  /** Whether it is plain that what one demand lists for a member is nothing for the other: soon seen, and most choices are told apart so. */
  #areApart(one: ObjectDemand, other: ObjectDemand): boolean {
    for (const { key, list } of this.#listsOf(one)) {
      for (const layer of other.layers) {
        const part = saidBy(layer, key);
        if (part !== undefined && this.#facts.isApart(part, list)) return true;
      }
    }
    return false;
  }

  /** Whether a demand only says that members fail which another one takes from lists that cannot. */
  #isIdleBeside({ size, layers, names, required, absent, broken }: ObjectDemand, other: ObjectDemand): boolean {
    if (size !== anySize || layers.length + names.length + required.size + absent.size > 0) return false;
    const lists = this.#listsOf(other);
    if (lists.length === 0) return false;
    for (const one of broken) {
      const list = isFailing(one) ? lists.find(({ key }) => key === one.key)?.list : undefined;
      if (list === undefined || !isFailing(one) || !this.#facts.isIdle(one.part, list)) return false;
    }
    return true;
  }

  /** What may stand in the members that are there for sure, where it is one of a few scalars. */
  #listsOf(shape: ObjectDemand): readonly Listed[] {
    const known = this.#lists.get(shape);
    if (known !== undefined) return known;
    const parts = new Map<string, Conjunct[]>();
    for (const key of shape.required) parts.set(key, said(key, shape.layers));
    for (const one of shape.broken) {
      if (!isFailing(one)) continue;
      const known = parts.get(one.key);
      if (known === undefined) parts.set(one.key, [...said(one.key, shape.layers), one.part]);
      else known.push(one.part);
    }
    const lists: Listed[] = [];
    for (const [key, all] of parts) {
      const list = this.#facts.listOf(all);
      if (list !== undefined) lists.push({ key, list });
    }
    this.#lists.set(shape, lists);
    return lists;
  }

  /** What need not be said to fail any more beside what is known of its member; undefined where some member that is sure fits nothing. */
  #idle(
    sure: ReadonlySet<string>,
    required: ReadonlySet<string>,
    layers: readonly ObjectLayer[],
    failing: readonly Failing[],
  ): readonly Failing[] | undefined {
    const idle: Failing[] = [];
    for (const key of sure) {
      const of = said(key, layers);
      const own = failing.filter((one) => one.key === key);
      const parts = own.map(({ part }) => part);
      if (of.length + parts.length > 1 && this.#facts.exclude([...of, ...parts])) return undefined;
      const busy = this.#facts.withoutIdle(parts, of);
      // One of them says that the member is there.
      const kept = busy.length > 0 || required.has(key) ? busy : parts.slice(0, 1);
      if (kept.length < parts.length) idle.push(...own.filter(({ part }) => !kept.includes(part)));
    }
    return idle;
  }

  /** Whether every value of `narrow` is one of `wide`, as far as that is plain. */
  within(narrow: Shape, wide: Shape): boolean {
    if (narrow === wide) return true;
    if (narrow.type === "number") return wide.type === "number" && numberWithin(narrow, wide);
    if (narrow.type === "string") return wide.type === "string" && this.#texts.within(narrow, wide);
    if (narrow.type === "array") {
      if (wide.type !== "array") return false;
      return (
        sizeWithin(narrow.size, wide.size) &&
        isSubset(wide.layers, narrow.layers) &&
        isSubset(wide.contains, narrow.contains) &&
        isSubset(wide.broken, narrow.broken) &&
        (wide.unique === undefined || narrow.unique !== undefined)
      );
    }
    if (narrow.type === "object") {
      if (wide.type !== "object") return false;
      return (
        sizeWithin(narrow.size, wide.size) &&
        isSubset(wide.layers, narrow.layers) &&
        isSubset(wide.names, narrow.names) &&
        isSubset(wide.broken, narrow.broken) &&
        areAmong(wide.required, narrow.required) &&
        areAmong(wide.absent, narrow.absent)
      );
    }
    return narrow.type === wide.type;
  }
}

/** The case without annotations: what a negated schema, or one inside `not`, says of it. */
export function unannotated(shape: Shape): Shape {
  if (shape.type === "array") {
    if (!shape.layers.some((layer) => layer.evaluates) && !shape.contains.some((one) => one.evaluates)) return shape;
    return { ...shape, layers: shape.layers.map(silenced), contains: shape.contains.map(silenced) };
  }
  if (shape.type === "object") {
    return shape.layers.some((layer) => layer.evaluates) ? { ...shape, layers: shape.layers.map(silenced) } : shape;
  }
  return shape;
}

function silenced<T extends { readonly evaluates: boolean }>(speaking: T): T {
  return speaking.evaluates ? { ...speaking, evaluates: false } : speaking;
}

/** Whether the layer takes no other keys than those it declares, and some of these are not among them. */
export function lacks({ declared, patterns, rest }: ObjectLayer, keys: ReadonlySet<string>): boolean {
  if (rest === undefined || patterns.length > 0 || !isNothing(rest)) return false;
  for (const key of keys) if (!declared.has(key)) return true;
  return false;
}

/** Whether it is plain that what a layer says of keys by name is said by others too, so that no member can fail it. */
function holds({ declared, patterns, rest }: ObjectLayer, layers: readonly ObjectLayer[]): boolean {
  if (rest !== undefined || patterns.length > 0) return false;
  for (const [key, part] of declared) if (!layers.some((layer) => layer.declared.get(key) === part)) return false;
  return true;
}

/** The schema `false`. */
export function isNothing({ json, kind, negated }: Conjunct): boolean {
  return kind === "schema" && !negated && json.kind === "boolean" && !json.value;
}

function isFailing(one: Broken | Failing): one is Failing {
  return "key" in one;
}

/** What layers say of the member with a key. */
function said(key: string, layers: readonly ObjectLayer[]): Conjunct[] {
  const found: Conjunct[] = [];
  for (const layer of layers) {
    const part = saidBy(layer, key);
    if (part !== undefined) found.push(part);
  }
  return found;
}

function saidBy({ declared, patterns, rest }: ObjectLayer, key: string): Conjunct | undefined {
  return declared.get(key) ?? (patterns.length === 0 ? rest : undefined);
}

/** Both lists, without repetitions; the first one itself where it holds the other. */
function merged<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const known = b.length > longList ? new Set(a) : undefined;
  const more = b.filter((item) => (known === undefined ? !a.includes(item) : !known.has(item)));
  return more.length === 0 ? a : [...a, ...more];
}

function union(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  if (a.size === 0 || b.size === 0) return a.size === 0 ? b : a;
  return areAmong(b, a) ? a : a.union(b);
}

/** How much a demand says of its members. */
function toldBy({ layers, broken, required }: ObjectDemand): number {
  return layers.length + broken.length + required.size;
}

/** Of lists without repetitions. */
function isSubset<T>(a: readonly T[], b: readonly T[]): boolean {
  if (a === b || a.length > b.length) return a === b;
  // What was added last mostly tells them apart.
  return a.findLastIndex((item) => !b.includes(item)) === -1;
}

function areAmong(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size <= b.size && a.isSubsetOf(b);
}

/** Items of a list that are looked up in a set. */
const longList = 32;

function sizeWithin(narrow: Range, wide: Range): boolean {
  return narrow.min >= wide.min && maxOf(narrow) <= maxOf(wide);
}
