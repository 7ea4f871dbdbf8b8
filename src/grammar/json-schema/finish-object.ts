import { classKeysMax } from "../../limits.ts";
import { bare, type Case, type Counter, type IrBuilder, type KeyClass, type Property } from "../ir.ts";
import type { Language } from "../regex/language.ts";
import type { Cases } from "./cases.ts";
import { canCount, countersMax, freely, type Places, type Way } from "./places.ts";
import type { SchemaReader } from "./read.ts";
import type { Conjunct, ObjectLayer } from "./schema.ts";
import { type Broken, type ObjectDemand, silentLayer } from "./shape.ts";
import type { StringDemand } from "./texts.ts";

type Tools = {
  readonly builder: IrBuilder;
  readonly reader: SchemaReader;
  readonly cases: Cases;
  readonly places: Places;
  readonly ordered: boolean;
};

/**
 * A case of objects; undefined where nothing fits after all. Key by key, every layer's schema for it, in source order; required names
 * that no layer declares come after those, and then the keys of classes that have only a few. All other keys by the patterns they match.
 */
export function finishObject(given: ObjectDemand, pointer: string, tools: Tools): Case | undefined {
  const { builder, reader, places, ordered } = tools;
  const demand = settled(given);
  const counters: readonly Counter[] = demand.broken.map(() => ({ min: 1, max: undefined }));
  if (counters.length > countersMax) {
    reader.refuse(pointer, "not", "makes the schema too large to enforce");
    return undefined;
  }
  const members = new Members(demand, pointer, tools);
  const others: KeyClass[] = [];
  const listed = new Map<string, readonly Way[]>();
  const { languages } = reader.texts;
  for (const { language, ways } of members.classes()) {
    if (ways.length === 0) continue;
    const texts = members.texts(language);
    for (const key of texts ?? []) listed.set(key, ways);
    if (texts !== undefined) continue;
    const keys = language === languages.all ? undefined : languages.emit(builder, language);
    others.push({ keys, options: places.options(ways, counters, pointer) });
  }
  const properties: Property[] = [];
  for (const key of members.keys()) {
    const options = places.options(members.waysOf(key), counters, pointer);
    const required = demand.required.has(key) || demand.needed.has(key);
    if (options.length === 0 && required) return undefined;
    listed.delete(key);
    // Without further keys, a key that must be absent is just not there.
    if (options.length > 0 || others.length > 0) properties.push({ key, options, required });
  }
  for (const [key, ways] of listed) {
    properties.push({ key, options: places.options(ways, counters, pointer), required: false });
  }
  const { min: membersMin, max: membersMax } = demand.size;
  const isPossible = ({ options }: Property) => options.length > 0;
  if (others.length === 0 && membersMin > properties.filter(isPossible).length) return undefined;
  const options = () => [...properties, ...others].map((one) => one.options);
  if (counters.length > 0 && !canCount(counters, options())) return undefined;
  return { ...bare.object, properties, others, ordered, membersMin, membersMax, counters };
}

type Settled = Omit<ObjectDemand, "broken"> & {
  readonly broken: readonly Broken[];
  /** Keys that are needed for something to fail: unlike those that a schema requires, they open no object that is closed. */
  readonly needed: ReadonlySet<string>;
};

/** What has to fail in the member with one key becomes a layer of that key. */
function settled(demand: ObjectDemand): Settled {
  if (demand.broken.length === 0) return { ...demand, broken: [], needed: noKeys };
  const failing = demand.broken.flatMap((one) => ("key" in one ? one : []));
  const broken = demand.broken.flatMap((one) => ("key" in one ? [] : one));
  const layers = [...demand.layers, ...failing.map(({ key, part }) => silentLayer(key, part))];
  return { ...demand, layers, broken, needed: new Set(failing.map(({ key }) => key)) };
}

const noKeys: ReadonlySet<string> = new Set();

/** Keys that match some patterns, which `core` demands together, and none of the rest. */
type Class = {
  readonly matched: readonly Language[];
  readonly core: Language;
  readonly rest: readonly Language[];
};

/** What the members of a case may be, by key. */
class Members {
  readonly #demand: Settled;
  /** Those that hold, and those that some member must not fit. */
  readonly #layers: readonly ObjectLayer[];
  readonly #pointer: string;
  readonly #tools: Tools;
  readonly #isClosed: boolean;
  /** The only keys that there may be, where a schema of names lists them. */
  readonly #listed: ReadonlySet<string> | undefined;

  constructor(demand: Settled, pointer: string, tools: Tools) {
    this.#demand = demand;
    this.#pointer = pointer;
    this.#tools = tools;
    const { layers, broken } = demand;
    const failing = broken.flatMap((one) => ("layer" in one ? [one.layer] : []));
    this.#layers = failing.length === 0 ? layers : [...layers, ...failing];
    this.#isClosed = layers.some((layer) => layer.closes) && !layers.some((layer) => layer.speaks);
    for (const name of demand.names) this.#listed ??= listOf(this.#strings(name));
  }

  /** Every key that somebody names. */
  keys(): ReadonlySet<string> {
    const { required, absent } = this.#demand;
    const keys = new Set<string>();
    for (const { declared } of this.#layers) for (const key of declared.keys()) keys.add(key);
    for (const key of required) keys.add(key);
    for (const key of absent) keys.add(key);
    for (const key of this.#listed ?? []) keys.add(key);
    return keys;
  }

  waysOf(key: string): readonly Way[] {
    const { layers, names, required, absent } = this.#demand;
    const { reader, places } = this.#tools;
    const fits = (name: Conjunct) => this.#strings(name).some((demand) => reader.texts.holds(key, demand));
    const matches = (language: Language) => reader.texts.derivatives.matches(language, key);
    const isOpened = (layer: ObjectLayer) =>
      layer.evaluates && (layer.declared.has(key) || layer.patterns.some(({ keys }) => matches(keys)));
    if (absent.has(key) || !names.every(fits)) return [];
    if (this.#isClosed && !required.has(key) && !layers.some(isOpened)) return [];
    return places.combine(this.#lists(key, matches, fits), this.#pointer, "properties");
  }

  /** The other keys in classes that no pattern divides, each with what its members may be. */
  classes(): readonly { readonly language: Language; readonly ways: readonly Way[] }[] {
    if (this.#listed !== undefined) return [];
    const { layers, names, broken } = this.#demand;
    const { reader, cases, places } = this.#tools;
    const { languages, derivatives } = reader.texts;
    const nameOf = new Map<Conjunct, Language>();
    for (const one of broken) if ("name" in one) nameOf.set(one.name, this.#language(one.name));
    const dividing = new Set<Language>();
    for (const { patterns } of this.#layers) for (const { keys } of patterns) dividing.add(keys);
    for (const language of nameOf.values()) dividing.add(language);
    if (dividing.size + names.length === 0) {
      // As in most objects: one class of all keys, which no pattern opens.
      if (this.#isClosed) return [];
      const lists = this.#lists(undefined, nowhere, nowhere);
      return [{ language: languages.all, ways: places.combine(lists, this.#pointer, "patternProperties") }];
    }
    const named = languages.intersection(names.map((name) => this.#language(name)));
    let classes: readonly Class[] = [{ matched: [], core: named, rest: [] }];
    for (const pattern of dividing) {
      classes = classes.flatMap(({ matched, core, rest }): readonly Class[] => {
        if (!cases.spend(1 + matched.length, this.#pointer, "patternProperties")) return [];
        const both = languages.intersection([core, pattern]);
        // Most patterns have nothing in common, which two of them show.
        const apart = matched.some((other) => derivatives.isEmpty(languages.intersection([other, pattern])));
        const within = apart || derivatives.isEmpty(both) ? [] : [{ matched: [...matched, pattern], core: both, rest }];
        const beyond = languages.intersection([core, languages.complement(pattern)]);
        if (!apart && matched.length > 0 && derivatives.isEmpty(beyond)) return within;
        return [...within, { matched, core, rest: apart ? rest : [...rest, pattern] }];
      });
    }
    return classes.flatMap(({ matched, core, rest }) => {
      const without = rest.map((pattern) => languages.complement(pattern));
      const language = without.length === 0 ? core : languages.intersection([core, ...without]);
      if (derivatives.isEmpty(language)) return [];
      const matches = (pattern: Language) => matched.includes(pattern);
      const fits = (name: Conjunct) => matches(nameOf.get(name) ?? languages.none);
      const isOpened = (layer: ObjectLayer) => layer.evaluates && layer.patterns.some(({ keys }) => matches(keys));
      if (this.#isClosed && !layers.some(isOpened)) return [];
      return {
        language,
        ways: places.combine(this.#lists(undefined, matches, fits), this.#pointer, "patternProperties"),
      };
    });
  }

  /** The texts of a class of keys where they are few enough to be written out. */
  texts(language: Language): Iterable<string> | undefined {
    const { derivatives, languages } = this.#tools.reader.texts;
    return language === languages.all ? undefined : derivatives.texts(language, classKeysMax);
  }

  /** For one key, or a class of keys, what each layer and each demand of failure allows. */
  #lists(
    key: string | undefined,
    matches: (language: Language) => boolean,
    fits: (name: Conjunct) => boolean,
  ): readonly (readonly Way[])[] {
    const { layers, broken } = this.#demand;
    const { places } = this.#tools;
    const [only] = layers;
    const base =
      only !== undefined && layers.length === 1
        ? conjunctsOf(only, key, matches)
        : layers.flatMap((layer) => conjunctsOf(layer, key, matches));
    const ofLayers: readonly Way[] = base.length === 0 ? [freely] : [{ conjuncts: base, counts: 0 }];
    if (broken.length === 0) return [ofLayers];
    const ofBroken = broken.map((one, i): readonly Way[] => {
      const counts = 1 << i;
      if ("name" in one) return [fits(one.name) ? { conjuncts: [], counts } : freely];
      return places.failing(base, conjunctsOf(one.layer, key, matches), counts);
    });
    return [ofLayers, ...ofBroken];
  }

  /** The keys that a schema of names accepts. */
  #language(name: Conjunct): Language {
    const { texts } = this.#tools.reader;
    return texts.languages.union(this.#strings(name).map((demand) => texts.language(demand)));
  }

  #strings(name: Conjunct): readonly StringDemand[] {
    return this.#tools.cases.expand([name]).flatMap((shape) => (shape.type === "string" ? [shape] : []));
  }
}

/** Every text that meets one of the demands, if each of them lists its own. */
function listOf(demands: readonly StringDemand[]): ReadonlySet<string> | undefined {
  const lists = demands.flatMap(({ among }) => among ?? []);
  return lists.length === demands.length ? new Set(lists.flatMap((list) => [...list])) : undefined;
}

/** What a layer says of the members with a key, or with one of a class of keys that nobody names. */
function conjunctsOf(
  { declared, patterns, rest }: ObjectLayer,
  key: string | undefined,
  matches: (language: Language) => boolean,
): readonly Conjunct[] {
  const own = key === undefined ? undefined : declared.get(key);
  const matched =
    patterns.length === 0 ? none : patterns.filter(({ keys }) => matches(keys)).map(({ member }) => member);
  if (own !== undefined) return [own, ...matched];
  return matched.length > 0 || rest === undefined ? matched : [rest];
}

const none: readonly Conjunct[] = [];
const nowhere = () => false;
