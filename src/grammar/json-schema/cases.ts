import { applicatorDepthMax, loweringStepsMax } from "../../limits.ts";
import type { SchemaReader } from "./read.ts";
import type { Conjunct, Schema } from "./schema.ts";
import {
  everything,
  isPoint,
  type NumberDemand,
  narrow,
  numberWithin,
  type Shape,
  type StringDemand,
  select,
  stringWithin,
} from "./shape.ts";

/**
 * Conjuncts → the cases of the values that meet them all: `allOf` and `$ref` add conjuncts, `anyOf` distributes. A conjunct
 * that leads back to itself without consuming a value has no finite proof, so that way contributes nothing: `S = anyOf[S, T]`
 * is T, and `S = $ref S` is unsatisfiable.
 *
 * The work is counted; beyond the budget the applicator that multiplied is refused.
 */
export class Cases {
  readonly #reader: SchemaReader;
  /** Whether a case with fewer demands always accepts more; not so where the policy closes objects. */
  readonly #monotonic: boolean;
  #steps = 0;

  constructor(reader: SchemaReader, options: { readonly monotonic: boolean }) {
    this.#reader = reader;
    this.#monotonic = options.monotonic;
  }

  expand(conjuncts: readonly Conjunct[]): readonly Shape[] {
    let shapes = everything;
    for (const conjunct of conjuncts) shapes = this.#conjoin(shapes, conjunct);
    return this.spend(comparisons(shapes), conjuncts[0]?.pointer ?? "", "enum") ? this.#absorb(shapes) : [];
  }

  /** Counts work; false once the budget is spent, with the refusal made. */
  spend(steps: number, pointer: string, keyword: string): boolean {
    this.#steps += steps;
    if (this.#steps <= loweringStepsMax) return true;
    this.#reader.refuse(pointer, keyword, "makes the schema too large to enforce");
    return false;
  }

  /** The shapes under one more conjunct; `above` are those that are being expanded around it, the last one by its keyword `by`. */
  #conjoin(shapes: readonly Shape[], conjunct: Conjunct, above: readonly Conjunct[] = [], by = ""): readonly Shape[] {
    if (shapes.length === 0 || above.includes(conjunct)) return [];
    const { pointer } = conjunct;
    if (above.length === applicatorDepthMax) {
      this.#reader.refuse(above.at(-1)?.pointer ?? pointer, by, "is nested too deeply");
      return [];
    }
    const schema = this.#reader.schema(conjunct);
    if (this.#reader.refusal !== undefined) return [];
    const met = shapes.filter((shape) => shape.met.includes(conjunct.id));
    let fresh = this.#apply(
      shapes.filter((shape) => !shape.met.includes(conjunct.id)),
      conjunct,
      schema,
    );
    const inside = [...above, conjunct];
    for (const { kind, keyword, parts } of schema.applicators) {
      if (!this.spend(fresh.length * parts.length, pointer, keyword)) return [];
      const before: readonly Shape[] = fresh;
      if (kind === "any") {
        const branches = parts.flatMap((part) => this.#conjoin(before, part, inside, keyword));
        if (!this.spend(comparisons(branches), pointer, keyword)) return [];
        fresh = this.#absorb(branches);
      }
      if (kind === "all") for (const part of parts) fresh = this.#conjoin(fresh, part, inside, keyword);
    }
    return met.length === 0 ? fresh : this.#absorb([...met, ...fresh]);
  }

  /** A schema's own keywords. */
  #apply(shapes: readonly Shape[], conjunct: Conjunct, schema: Schema): readonly Shape[] {
    let left: Shape[] = [];
    for (const shape of shapes) {
      const demand = narrow(shape, schema);
      if (demand === undefined) continue;
      const met = [...shape.met, conjunct.id];
      left.push({ ...demand, met, atoms: schema.silent ? shape.atoms : [...shape.atoms, conjunct.id] });
    }
    for (const finite of schema.finite) {
      const count = finite.numbers.length + finite.strings.size + finite.arrays.length + finite.objects.length;
      if (!this.spend(left.length + count, conjunct.pointer, finite.keyword)) return [];
      left = left.flatMap((shape): readonly Shape[] => {
        if (shape.type === "array" || shape.type === "object") {
          const literals = shape.type === "array" ? finite.arrays : finite.objects;
          return literals.flatMap((literal) => this.#conjoin([shape], literal));
        }
        return select(shape, finite).map((demand) => ({ ...demand, met: shape.met, atoms: shape.atoms }));
      });
    }
    return left;
  }

  /** Drops the cases that others contain, and gathers lists of strings into one. */
  #absorb(shapes: readonly Shape[]): readonly Shape[] {
    if (shapes.length < 2) return shapes;
    return [
      ...gathered(shapes.filter((shape) => shape.type === "null")),
      ...gathered(shapes.filter((shape) => shape.type === "true")),
      ...gathered(shapes.filter((shape) => shape.type === "false")),
      ...absorbNumbers(shapes.filter((shape) => shape.type === "number")),
      ...absorbStrings(shapes.filter((shape) => shape.type === "string")),
      ...this.#absorbContainers(shapes.filter((shape) => shape.type === "array")),
      ...this.#absorbContainers(shapes.filter((shape) => shape.type === "object")),
    ];
  }

  /** A case demands what its atoms demand, so the one with a subset of another's atoms contains it. */
  #absorbContainers(shapes: readonly Shape[]): readonly Shape[] {
    const kept: Shape[] = [];
    for (const shape of shapes) {
      if (kept.some((wide) => this.#contains(wide, shape))) continue;
      const others = kept.filter((narrow) => !this.#contains(shape, narrow));
      kept.splice(0, kept.length, ...others, shape);
    }
    return kept;
  }

  #contains(wide: Shape, narrow: Shape): boolean {
    if (!this.#monotonic && wide.atoms.length !== narrow.atoms.length) return false;
    return wide.atoms.every((atom) => narrow.atoms.includes(atom));
  }
}

/** Steps of comparing arrays and objects in pairs; one comparison takes a small part of a step. */
function comparisons(shapes: readonly Shape[]): number {
  const containers = shapes.filter(({ type }) => type === "array" || type === "object").length;
  return Math.ceil((containers * containers) / 16);
}

function absorbNumbers(shapes: readonly (Shape & NumberDemand)[]): readonly Shape[] {
  const points = new Map<string, Shape & NumberDemand>();
  const intervals: (Shape & NumberDemand)[] = [];
  for (const shape of shapes) {
    if (isPoint(shape)) points.set(`${shape.low?.value.digits}e${shape.low?.value.exponent}`, shape);
    else if (!intervals.some((wide) => numberWithin(shape, wide))) {
      const others = intervals.filter((narrow) => !numberWithin(narrow, shape));
      intervals.splice(0, intervals.length, ...others, shape);
    }
  }
  return [
    ...intervals,
    ...[...points.values()].filter((point) => !intervals.some((wide) => numberWithin(point, wide))),
  ];
}

function absorbStrings(shapes: readonly (Shape & StringDemand)[]): readonly Shape[] {
  const lists = shapes.filter((shape) => shape.among !== undefined);
  const kept: (Shape & StringDemand)[] = [];
  for (const shape of shapes) {
    if (shape.among !== undefined || kept.some((wide) => stringWithin(shape, wide))) continue;
    const others = kept.filter((narrow) => !stringWithin(narrow, shape));
    kept.splice(0, kept.length, ...others, shape);
  }
  const [first] = gathered(lists);
  if (first === undefined) return kept;
  const among = new Set(lists.flatMap((list) => [...(list.among ?? [])]));
  for (const text of among) {
    const alone = { ...first, among: new Set([text]) };
    if (kept.some((wide) => stringWithin(alone, wide))) among.delete(text);
  }
  return among.size === 0 ? kept : [...kept, { ...first, among }];
}

/** One shape for several of the same demand: it has met what all of them have met. */
function gathered<S extends Shape>(shapes: readonly S[]): readonly S[] {
  const [first, ...others] = shapes;
  if (first === undefined) return [];
  return [{ ...first, met: first.met.filter((id) => others.every((shape) => shape.met.includes(id))) }];
}
