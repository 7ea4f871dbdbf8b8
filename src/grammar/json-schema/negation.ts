import type { Decimal } from "../decimal.ts";
import { decimalKey } from "./facts.ts";
import { anyNumber, beyond, exactly, type NumberDemand, one, settle } from "./numbers.ts";
import type { SchemaReader } from "./read.ts";
import { everyType, type Finite, type ObjectLayer, type Schema, types } from "./schema.ts";
import {
  type ArrayDemand,
  anyArray,
  anyObject,
  type Broken,
  type Failing,
  type ObjectDemand,
  ofTypes,
  type Shape,
  silentLayer,
} from "./shape.ts";
import { anyString, outside, type StringDemand, type Texts } from "./texts.ts";

/**
 * The cases in which one of a schema's own keywords fails, but for those of lists and applicators, which are other schemas' matters. A
 * layer of members or items fails where some member or item does not fit it, which is one demand, not a case for each.
 */
export function failures(schema: Schema, pointer: string, texts: Texts, reader: SchemaReader): readonly Shape[] {
  return [
    ...ofTypes(everyType & ~schema.types),
    ...numberFailures(schema),
    ...stringFailures(schema, texts),
    ...arrayFailures(schema, pointer, reader),
    ...objectFailures(schema, reader),
  ];
}

/** The scalars that are not in a list. */
export function otherScalars(finite: Finite, texts: Texts): readonly Shape[] {
  const { null: nothing, true: yes, false: no } = types;
  return [
    ...ofTypes((nothing | yes | no) & ~finite.types),
    finite.numbers.length === 0 ? anyNumber : { ...anyNumber, except: finite.numbers },
    finite.strings.size === 0 ? anyString : texts.except(finite.strings),
  ];
}

/** What is in none of several lists of scalars is not in this one. */
export function joinedLists(lists: readonly Finite[]): Finite {
  const numbers = new Map<string, Decimal>();
  const strings = new Set<string>();
  for (const list of lists) {
    for (const number of list.numbers) numbers.set(decimalKey(number), number);
    for (const text of list.strings) strings.add(text);
  }
  const sum = lists.reduce((known, list) => known | list.types, 0);
  return { keyword: "enum", types: sum, numbers: [...numbers.values()], strings, arrays: [], objects: [] };
}

/** The scalars of a list. */
export function listedScalars(finite: Finite): readonly Shape[] {
  const strings: readonly Shape[] = finite.strings.size === 0 ? [] : [{ ...anyString, among: finite.strings }];
  return [...ofTypes(finite.types), ...finite.numbers.map((value) => exactly(value, false)), ...strings];
}

function numberFailures({ low, high, multipleOf, whole }: Schema): readonly NumberDemand[] {
  const failing: Partial<NumberDemand>[] = [];
  if (whole) failing.push({ multipleOfNone: [one] });
  if (low !== undefined) failing.push({ high: beyond(low) });
  if (high !== undefined) failing.push({ low: beyond(high) });
  if (multipleOf !== undefined) failing.push({ multipleOfNone: [multipleOf] });
  return failing.flatMap((demand) => settle({ ...anyNumber, ...demand }) ?? []);
}

function stringFailures(schema: Schema, texts: Texts): readonly StringDemand[] {
  const lengths = schema.length === undefined ? [] : outside(schema.length);
  return [...lengths.map((length) => ({ ...anyString, length })), ...schema.texts.flatMap((text) => texts.notOf(text))];
}

function arrayFailures(schema: Schema, pointer: string, reader: SchemaReader): readonly ArrayDemand[] {
  const failing: ArrayDemand[] = [];
  if (schema.items !== undefined) failing.push(...outside(schema.items).map((size) => ({ ...anyArray, size })));
  if (schema.array !== undefined) failing.push({ ...anyArray, broken: [schema.array] });
  if (schema.contains !== undefined) {
    const { item, count } = schema.contains;
    for (const counts of outside(count)) {
      failing.push({ ...anyArray, contains: [{ item, count: counts, evaluates: false }] });
    }
  }
  if (schema.unique !== undefined)
    reader.refuse(pointer, "uniqueItems", "cannot be negated: two items would have to be equal");
  return failing;
}

function objectFailures(schema: Schema, reader: SchemaReader): readonly ObjectDemand[] {
  const failing: ObjectDemand[] = [];
  if (schema.members !== undefined) failing.push(...outside(schema.members).map((size) => ({ ...anyObject, size })));
  if (schema.names !== undefined) failing.push({ ...anyObject, broken: [{ name: reader.not(schema.names) }] });
  const { object, required } = schema;
  const name = object && tellingName(object, required, reader);
  for (const key of required) if (key !== name?.key) failing.push({ ...anyObject, absent: new Set([key]) });
  if (object !== undefined) {
    const declared = name === undefined ? object.declared : new Map(object.declared).set(name.key, reader.anything);
    const one = broken({ ...object, declared }, reader);
    if (one !== undefined) failing.push({ ...anyObject, broken: [one] });
  }
  if (name === undefined) return failing;
  // Absent, or there and wrong: either way it is not there and right, which is one case. More such names would be as many cases, of which
  // those that are absent are often plainly impossible.
  const wrong = { ...anyObject, layers: [silentLayer(name.key, reader.not(name.part))] };
  if (!name.isListed) return [...failing, wrong];
  // Whatever else fails, it does so where the name is right. As what is right in one schema is wrong in another one, hardly anything is left
  // of what may fail in several of them.
  const right = { key: name.key, part: reader.not(reader.not(name.part)) };
  return [wrong, ...failing.map((one) => ({ ...one, broken: [...one.broken, right] }))];
}

/** A required name with a list of values, or else the only one that something is said of. */
function tellingName({ declared }: ObjectLayer, required: readonly string[], reader: SchemaReader) {
  const names = required.flatMap((key) => {
    const part = declared.get(key);
    return part === undefined ? [] : { key, part, isListed: reader.schema(part).finite.length > 0 };
  });
  return names.find(({ isListed }) => isListed) ?? (names.length === 1 ? names[0] : undefined);
}

/** Some member does not fit a layer; undefined where all do. */
function broken(layer: ObjectLayer, reader: SchemaReader): Broken | Failing | undefined {
  if (layer.patterns.length > 0 || layer.rest !== undefined) return { layer };
  const [only, ...others] = [...layer.declared].filter(([, part]) => reader.verdict(part) !== true);
  if (only === undefined) return undefined;
  return others.length > 0 ? { layer } : { key: only[0], part: reader.not(only[1]) };
}
