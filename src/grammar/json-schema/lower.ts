import { fail, ok, type Result } from "../../generation/result.ts";
import {
  compileHerePatternCharactersMax,
  loweringStepsMax,
  schemaCharactersMax,
  schemaDepthMax,
} from "../../limits.ts";
import { writeDecimal } from "../decimal.ts";
import type { Bound, Case, IrBuilder, ValueId } from "../ir.ts";
import { readJson } from "../json-text.ts";
import { Cases } from "./cases.ts";
import type { Documents } from "./documents.ts";
import { finishArray } from "./finish-array.ts";
import { finishObject } from "./finish-object.ts";
import { Places } from "./places.ts";
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
  const isQuick = options.stepsMax !== undefined;
  const bound = isQuick ? { patternCharactersMax: compileHerePatternCharactersMax } : {};
  const reader = new SchemaReader(json.value, { ...options, ...bound });
  const lowering = new Lowering(builder, reader, options);
  const conjuncts = [reader.conjunct(json.value.root, "")];
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
  /** Steps of lowering, `loweringStepsMax` by default. Where it is given, it has to be quick, and long patterns count as well. */
  readonly stepsMax?: number;
  /** Further schemas that references may lead to. */
  readonly documents?: Documents;
};

const objectType = {
  kind: "object",
  entries: new Map([["type", { kind: "string", value: "object", start: 0, end: 0 } as const]]),
  start: 0,
  end: 0,
} as const;

class Lowering {
  /** JSON pointers, by origin. */
  readonly places: string[] = [];
  readonly #builder: IrBuilder;
  readonly #reader: SchemaReader;
  readonly #options: SchemaOptions;
  readonly #cases: Cases;
  readonly #places: Places;
  /** By the id of a conjunct, or those of several. */
  readonly #values = new Map<number | string, ValueId>();
  readonly #pending: { readonly id: ValueId; readonly conjuncts: readonly Conjunct[]; readonly pointer: string }[] = [];

  constructor(builder: IrBuilder, reader: SchemaReader, options: SchemaOptions) {
    this.#builder = builder;
    this.#reader = reader;
    this.#options = options;
    this.#cases = new Cases(reader, options.stepsMax ?? loweringStepsMax);
    this.#places = new Places(reader, this.#cases, (conjuncts, around) => this.#value(conjuncts, around));
  }

  run(conjuncts: readonly Conjunct[]): ValueId {
    const root = this.#value(this.#places.simplified(conjuncts) ?? conjuncts, "");
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      const { id, conjuncts: node, pointer } = next;
      const shapes = this.#united(this.#cases.expand(node));
      const cases = shapes.flatMap((shape) => this.#finish(shape, pointer) ?? []);
      if (this.#reader.refusal !== undefined) return root;
      if (id === root && cases.length === 0) this.#reader.refuse("", "", "accepts no value at all");
      const origin = this.#options.originFirst + this.places.push(pointer) - 1;
      this.#builder.setValue(id, { cases, origin });
    }
    return root;
  }

  #united(shapes: readonly Shape[]): readonly Shape[] {
    const strings = shapes.filter((shape) => shape.type === "string");
    return strings.length < 2
      ? shapes
      : [...shapes.filter(({ type }) => type !== "string"), ...this.#reader.texts.united(strings)];
  }

  /** The value of a node; `around` is the place reported for one without conjuncts. */
  #value(conjuncts: readonly Conjunct[], around: string): ValueId {
    const [first] = conjuncts;
    const key = first !== undefined && conjuncts.length === 1 ? first.id : keyOf(conjuncts);
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const id = this.#builder.reserveValue();
    this.#values.set(key, id);
    this.#pending.push({ id, conjuncts, pointer: conjuncts[0]?.pointer ?? around });
    return id;
  }

  /** undefined where nothing fits after all. */
  #finish(shape: Shape, pointer: string): Case | undefined {
    switch (shape.type) {
      case "null":
      case "true":
      case "false":
        return { type: shape.type };
      case "number": {
        const { whole, plain, low, high, multipleOf, multipleOfNone, except } = shape;
        return {
          type: "number",
          integer: whole,
          plain: whole && plain,
          low: bound(low),
          high: bound(high),
          multipleOf: multipleOf && writeDecimal(multipleOf),
          multipleOfNone: multipleOfNone.map(writeDecimal),
          except: except.map(writeDecimal),
        };
      }
      case "string": {
        const { length, among, languages } = shape;
        const make = this.#reader.texts.languages;
        const regex = languages.length === 0 ? undefined : make.emit(this.#builder, make.intersection(languages));
        return { type: "string", lengthMin: length.min, lengthMax: length.max, among: among && [...among], regex };
      }
      case "array": {
        const tools = { reader: this.#reader, cases: this.#cases, places: this.#places };
        return finishArray(shape, pointer, tools);
      }
      case "object": {
        const { ordered } = this.#options;
        const tools = {
          builder: this.#builder,
          reader: this.#reader,
          cases: this.#cases,
          places: this.#places,
          ordered,
        };
        return finishObject(shape, pointer, tools);
      }
      default:
        return shape satisfies never;
    }
  }
}

function keyOf(conjuncts: readonly Conjunct[]): string {
  const ids = conjuncts.map(({ id }) => id).sort((a, b) => a - b);
  return ids.join();
}

function bound(limit: Limit | undefined): Bound | undefined {
  return limit && { decimal: writeDecimal(limit.value), exclusive: limit.exclusive };
}
