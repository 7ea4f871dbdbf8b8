import { fail, ok, type Result } from "../../generation/result.ts";
import { schemaCharactersMax, schemaDepthMax } from "../../limits.ts";
import { writeDecimal } from "../decimal.ts";
import { type Bound, bare, type Case, type IrBuilder, type Options, only, type Property, type ValueId } from "../ir.ts";
import { readJson } from "../json-text.ts";
import { Cases } from "./cases.ts";
import { draftOf } from "./draft.ts";
import { SchemaReader } from "./read.ts";
import type { Conjunct, Limit, Refusal } from "./schema.ts";
import type { Shape } from "./shape.ts";

/**
 * JSON Schema → values of the IR, by the case algebra: a node is a set of conjuncts, and each distinct set becomes one value, so
 * that recursion is a cycle of values and nothing is unrolled.
 *
 * A keyword is enforced, an annotation, or refused by name; see keywords.ts. Whether some value can be completed at all is
 * decided by the engine, which reports the `origin` of the value at fault: an index into `places`, from `originFirst` on.
 */
export function lowerSchema(
  builder: IrBuilder,
  text: string,
  options: SchemaOptions,
): Result<{ readonly value: ValueId; readonly places: readonly string[] }, Refusal> {
  const bounds = { charactersMax: schemaCharactersMax, depthMax: schemaDepthMax, duplicateKeys: "refuse" } as const;
  const json = readJson(text, bounds);
  if (!json.ok) return fail({ pointer: "", keyword: "", reason: `is no JSON: ${json.failure.message}` });
  const { root } = json.value;
  const draft = draftOf(root);
  if (draft === undefined) return fail({ pointer: "", keyword: "$schema", reason: "names a draft older than 4" });
  const reader = new SchemaReader(root, draft, options);
  const lowering = new Lowering(builder, reader, options);
  const conjuncts = [reader.conjunct(root, "")];
  if (options.objectsOnly) conjuncts.push(reader.conjunct(objectType, ""));
  const value = lowering.run(conjuncts);
  return reader.refusal === undefined ? ok({ value, places: lowering.places }) : fail(reader.refusal);
}

export type SchemaOptions = {
  /** Objects with `properties` and no word on further ones take no further ones. */
  readonly closed: boolean;
  /** Members come in the order of the schema. */
  readonly ordered: boolean;
  /** Known formats constrain; otherwise `format` is an annotation. */
  readonly assertFormats: boolean;
  /** Only objects are accepted, whatever else the schema accepts. */
  readonly objectsOnly: boolean;
  /** The `origin` of the first place. */
  readonly originFirst: number;
};

const objectType = {
  kind: "object",
  entries: new Map([["type", { kind: "string", value: "object", start: 0, end: 0 } as const]]),
  start: 0,
  end: 0,
} as const;

/** A set of conjuncts, or undefined where one of them accepts nothing. */
type Node = readonly Conjunct[] | undefined;

class Lowering {
  /** JSON pointers, by origin. */
  readonly places: string[] = [];
  readonly #builder: IrBuilder;
  readonly #reader: SchemaReader;
  readonly #options: SchemaOptions;
  readonly #cases: Cases;
  readonly #values = new Map<string, ValueId>();
  readonly #pending: { readonly id: ValueId; readonly conjuncts: readonly Conjunct[]; readonly pointer: string }[] = [];

  constructor(builder: IrBuilder, reader: SchemaReader, options: SchemaOptions) {
    this.#builder = builder;
    this.#reader = reader;
    this.#options = options;
    this.#cases = new Cases(reader, { monotonic: !options.closed });
  }

  run(conjuncts: readonly Conjunct[]): ValueId {
    const root = this.#value(this.#node(conjuncts) ?? conjuncts, "");
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      const { id, conjuncts: node, pointer } = next;
      const cases = this.#cases.expand(node).flatMap((shape) => this.#finish(shape, pointer) ?? []);
      if (this.#reader.refusal !== undefined) return root;
      if (id === root && cases.length === 0) this.#reader.refuse("", "", "accepts no value at all");
      const origin = this.#options.originFirst + this.places.push(pointer) - 1;
      this.#builder.setValue(id, { cases, origin });
    }
    return root;
  }

  /** Without repetitions and without what accepts everything. */
  #node(conjuncts: readonly (Conjunct | undefined)[]): Node {
    const node: Conjunct[] = [];
    for (const conjunct of conjuncts) {
      if (conjunct === undefined || node.includes(conjunct)) continue;
      const schema = this.#reader.schema(conjunct);
      if (schema.types === 0) return undefined;
      if (!schema.silent || schema.applicators.length > 0) node.push(conjunct);
    }
    return node;
  }

  /** The value of a node; `around` is the place reported for one without conjuncts. */
  #value(conjuncts: readonly Conjunct[], around: string): ValueId {
    const ids = conjuncts.map((conjunct) => conjunct.id).sort((a, b) => a - b);
    const key = ids.join();
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const id = this.#builder.reserveValue();
    this.#values.set(key, id);
    this.#pending.push({ id, conjuncts, pointer: conjuncts[0]?.pointer ?? around });
    return id;
  }

  #valueOf(node: Node, around: string): ValueId | undefined {
    return node === undefined ? undefined : this.#value(node, around);
  }

  /** undefined where nothing fits after all. */
  #finish(shape: Shape, pointer: string): Case | undefined {
    switch (shape.type) {
      case "null":
      case "true":
      case "false":
        return { type: shape.type };
      case "number":
        return {
          ...bare.number,
          integer: shape.whole,
          plain: shape.whole && shape.plain,
          low: bound(shape.low),
          high: bound(shape.high),
        };
      case "string": {
        const { length, among } = shape;
        return { ...bare.string, lengthMin: length.min, lengthMax: length.max, among: among && [...among] };
      }
      case "array":
        return this.#finishArray(shape, pointer);
      case "object":
        return this.#finishObject(shape, pointer);
      default:
        return shape satisfies never;
    }
  }

  /** Item by item, every layer's schema for it. */
  #finishArray({ layers, size }: Shape & { type: "array" }, pointer: string): Case | undefined {
    const prefix: Options[] = [];
    const prefixMax = Math.min(
      Math.max(0, ...layers.map((layer) => layer.prefix.length)),
      size.max ?? Number.POSITIVE_INFINITY,
    );
    let itemsMax = size.max;
    for (let i = 0; i < prefixMax; i++) {
      if (!this.#cases.spend(layers.length, pointer, "prefixItems")) return undefined;
      const value = this.#valueOf(
        this.#node(layers.map((layer) => (i < layer.prefix.length ? layer.prefix[i] : layer.rest))),
        pointer,
      );
      // Where an item fits nothing, the array has to end before it.
      if (value === undefined) itemsMax = i;
      if (value === undefined) break;
      prefix.push(only(value));
    }
    const ends = itemsMax !== undefined && itemsMax <= prefix.length;
    const rest = ends ? undefined : this.#valueOf(this.#node(layers.map((layer) => layer.rest)), pointer);
    if (rest === undefined) itemsMax = prefix.length;
    if (size.min > (itemsMax ?? size.min)) return undefined;
    return { ...bare.array, prefix, rest: only(rest), itemsMin: size.min, itemsMax };
  }

  /** Key by key, every layer's schema for it; required names that no layer declares come last. */
  #finishObject({ layers, required }: Shape & { type: "object" }, pointer: string): Case | undefined {
    const closed =
      this.#options.closed && layers.some((layer) => layer.declares) && !layers.some((layer) => layer.speaks);
    const mandatory = new Set(required);
    const keys = new Set([...layers.flatMap((layer) => [...layer.declared.keys()]), ...mandatory]);
    const rest = closed ? undefined : this.#valueOf(this.#node(layers.map((layer) => layer.rest)), pointer);
    const properties: Property[] = [];
    for (const key of keys) {
      if (!this.#cases.spend(layers.length, pointer, "properties")) return undefined;
      const node = this.#node(layers.map((layer) => layer.declared.get(key) ?? layer.rest));
      const value = this.#valueOf(node, pointer);
      const isRequired = mandatory.has(key);
      if (value === undefined && isRequired) return undefined;
      // Without further keys, a key that must be absent is just not there.
      if (value !== undefined || rest !== undefined)
        properties.push({ key, options: only(value), required: isRequired });
    }
    const others = rest === undefined ? [] : [{ keys: undefined, options: only(rest) }];
    return { ...bare.object, properties, others, ordered: this.#options.ordered };
  }
}

function bound(limit: Limit | undefined): Bound | undefined {
  return limit && { decimal: writeDecimal(limit.value), exclusive: limit.exclusive };
}
