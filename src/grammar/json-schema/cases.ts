import { applicatorDepthMax } from "../../limits.ts";
import { absorbed } from "./absorb.ts";
import { Facts, onlyScalars } from "./facts.ts";
import { failures, joinedLists, listedScalars, otherScalars } from "./negation.ts";
import { type Applied, opposite } from "./opposite.ts";
import { own } from "./own.ts";
import type { SchemaReader } from "./read.ts";
import type { Applicator, Conjunct, Finite, Schema } from "./schema.ts";
import { anyArray, anyObject, everything, Meeting, ofTypes, type Shape, unannotated, withObjects } from "./shape.ts";
import type { StringDemand, Texts } from "./texts.ts";
import { unevaluatedItems, unevaluatedMembers } from "./unevaluated.ts";

/**
 * Conjuncts → the cases of the values that meet them all. `allOf` and `$ref` add conjuncts, `anyOf` distributes, a negated schema is the
 * disjunction of what can fail in it; `oneOf`, `if` and dependencies are made of these. A conjunct that leads back to itself without
 * consuming a value has no finite proof, so that way contributes nothing: `S = anyOf[S, T]` is T, and `S = $ref S` is unsatisfiable.
 *
 * The work is counted; beyond the budget the applicator that multiplied is refused.
 */
export class Cases {
  readonly meeting: Meeting;
  readonly facts: Facts;
  readonly #reader: SchemaReader;
  readonly #stepsMax: number;
  readonly #texts: Texts;
  /** By conjunct. */
  readonly #known: Readonly<Record<Track, (readonly Shape[] | undefined)[]>> = {
    values: [],
    annotations: [],
    exact: [],
  };
  /** By the ids of several conjuncts. */
  readonly #products = new Map<string, readonly Shape[]>();
  /** Conjuncts that are being expanded, outermost first. */
  readonly #above: Conjunct[] = [];
  /** The outermost of them that something inside led back to; what lies above it depends on the way it was reached. */
  #cycle = Number.POSITIVE_INFINITY;
  #steps = 0;
  /** Derivatives that `#steps` has counted. */
  #derivatives = 0;

  constructor(reader: SchemaReader, stepsMax: number) {
    this.#reader = reader;
    this.#stepsMax = stepsMax;
    this.#texts = reader.texts;
    this.facts = new Facts(reader);
    this.meeting = new Meeting(this.#texts, this.facts);
  }

  expand(conjuncts: readonly Conjunct[]): readonly Shape[] {
    const [first, ...others] = conjuncts;
    if (first === undefined) return everything;
    if (others.length === 0) return this.of(first, "values");
    const key = conjuncts.map(({ id }) => id).join();
    const known = this.#products.get(key) ?? this.#expand(first, others);
    this.#products.set(key, known);
    return known;
  }

  /** Whether it is plain that no value fits both. */
  areDisjoint(conjuncts: readonly Conjunct[], other: Conjunct): boolean {
    const [some, more] = [this.expand(conjuncts), this.of(other, "values")];
    if (!this.spend(Math.ceil((some.length * more.length) / 8), other.pointer, "oneOf")) return false;
    return !some.some((shape) => more.some((one) => this.meeting.meet(shape, one) !== undefined));
  }

  #expand(first: Conjunct, others: readonly Conjunct[]): readonly Shape[] {
    let shapes = this.of(first, "values");
    const barred: Finite[] = [];
    for (const conjunct of others) {
      const { pointer } = conjunct;
      const list = conjunct.negated ? onlyScalars(this.#reader.schema(conjunct)) : undefined;
      if (list === undefined) {
        shapes = this.#product(shapes, this.of(conjunct, "values"), { pointer, keyword: "allOf", track: "values" });
        continue;
      }
      if (!this.spend(1 + list.numbers.length + list.strings.size, pointer, list.keyword)) return [];
      barred.push(list);
    }
    if (barred.length === 0) return shapes;
    const rest = [...otherScalars(joinedLists(barred), this.#texts), anyArray, anyObject];
    return this.#product(shapes, rest, { pointer: first.pointer, keyword: "allOf", track: "values" });
  }

  /** Counts work; false once the budget is spent, with the refusal made. */
  spend(steps: number, pointer: string, keyword: string): boolean {
    this.#steps += steps + (this.#texts.derivatives.steps - this.#derivatives);
    this.#derivatives = this.#texts.derivatives.steps;
    if (this.#steps <= this.#stepsMax) return true;
    this.#reader.refuse(pointer, keyword, "makes the schema too large to enforce", { exhausted: true });
    return false;
  }

  of(conjunct: Conjunct, track: Track): readonly Shape[] {
    return this.#known[track][conjunct.id] ?? this.#of(conjunct, track, everything);
  }

  #of(conjunct: Conjunct, track: Track, within: readonly Shape[]): readonly Shape[] {
    const place = this.#above.findIndex((one) => one.json === conjunct.json && one.scope === conjunct.scope);
    if (place !== -1) {
      this.#cycle = Math.min(this.#cycle, place);
      // Once more the same: nothing new. Its negation: no value at all.
      return conjunct.negated && this.#above[place]?.negated === true ? everything : [];
    }
    const depth = this.#above.length;
    if (depth === applicatorDepthMax) {
      const around = this.#above.at(-1);
      const by = around && this.#reader.schema(around).applicators[0]?.keyword;
      this.#reader.refuse((around ?? conjunct).pointer, by ?? "", "is nested too deeply");
      return [];
    }
    this.#above.push(conjunct);
    const schema = this.#reader.schema(conjunct);
    const shapes =
      this.#reader.refusal !== undefined
        ? []
        : conjunct.negated
          ? this.#negative(conjunct, schema).map(unannotated)
          : this.#positive(conjunct, schema, track, within);
    this.#above.pop();
    if (this.#cycle >= depth) {
      this.#cycle = Number.POSITIVE_INFINITY;
      if (within === everything) this.#known[track][conjunct.id] = shapes;
    }
    return shapes;
  }

  #positive(conjunct: Conjunct, schema: Schema, track: Track, within: readonly Shape[]): readonly Shape[] {
    const { pointer } = conjunct;
    const tracked = schema.unevaluatedItems === undefined && schema.unevaluatedMembers === undefined;
    const inner: Track = tracked || track === "exact" ? track : "annotations";
    const shapes = this.#evaluated(conjunct, schema, inner, within);
    if (tracked) return shapes;
    return shapes.flatMap((shape) => {
      if (!this.spend(1, pointer, "unevaluatedProperties")) return [];
      const layer = this.#unevaluated(shape, schema);
      if (shape.type === "array" && layer?.type === "array") {
        return { ...shape, layers: [...shape.layers, layer.layer] };
      }
      if (shape.type === "object" && layer?.type === "object") {
        return { ...shape, layers: [...shape.layers, layer.layer] };
      }
      return shape;
    });
  }

  /** A schema without its `unevaluatedItems` and `unevaluatedProperties`. */
  #evaluated(conjunct: Conjunct, schema: Schema, track: Track, within = everything): readonly Shape[] {
    const { pointer } = conjunct;
    let shapes = this.#product(within, this.#own(schema, pointer), { pointer, keyword: "allOf", track });
    for (const applicator of choicesLast(schema.applicators, (one) => this.#choosesOne(one, choiceDepthMax))) {
      const by = { pointer, keyword: applicator.keyword, track };
      if (applicator.kind === "one") shapes = this.#one(applicator.parts, by, shapes);
      else if (applicator.kind === "all") shapes = this.#allWithin(applicator.parts, by, shapes);
      else shapes = this.#product(shapes, this.#applied(applicator, by), by);
    }
    return shapes;
  }

  /** Within cases: all parts. One that chooses among its own parts does so within what all others demand. */
  #allWithin(parts: readonly Conjunct[], by: By, within: readonly Shape[]): readonly Shape[] {
    const [only] = parts;
    // Most are references beside which nothing is demanded.
    if (within === everything && parts.length === 1 && only !== undefined) return this.of(only, by.track);
    const chooses = parts.map((part) => this.#partChooses(part, choiceDepthMax));
    const others = parts.filter((_, i) => !chooses[i]);
    let shapes = this.#product(within, this.#all(others, by), by);
    for (const part of parts.filter((_, i) => chooses[i])) {
      // What it chooses within is gone through for each of its parts, so there should not be much of it.
      const isPlain = new Set(shapes.map(({ type }) => type)).size === shapes.length;
      shapes =
        isPlain && shapes !== everything
          ? this.#of(part, by.track, shapes)
          : this.#product(shapes, this.of(part, by.track), by);
    }
    return shapes;
  }

  #choosesOne(applicator: Applicator, depth: number): boolean {
    if (applicator.kind === "one") return true;
    return applicator.kind === "all" && applicator.parts.some((part) => this.#partChooses(part, depth));
  }

  /** Whether a part is made of choices of one, so that it matters what is demanded beside it. */
  #partChooses(part: Conjunct, depth: number): boolean {
    if (part.negated || depth === 0) return false;
    const { applicators, unevaluatedItems, unevaluatedMembers } = this.#reader.schema(part);
    // What was evaluated is the part's own matter.
    if (unevaluatedItems !== undefined || unevaluatedMembers !== undefined) return false;
    return applicators.some((applicator) => this.#choosesOne(applicator, depth - 1));
  }

  /** The layer that a schema's unevaluated members or items are in a case. */
  #unevaluated(shape: Shape, schema: Schema) {
    const { unevaluatedItems: item, unevaluatedMembers: member } = schema;
    const { anything } = this.#reader;
    if (shape.type === "array" && item !== undefined) {
      return { type: "array", layer: unevaluatedItems(shape, item, anything) } as const;
    }
    if (shape.type === "object" && member !== undefined) {
      return { type: "object", layer: unevaluatedMembers(shape, member, anything) } as const;
    }
    return undefined;
  }

  /** A schema's own keywords. */
  #own(schema: Schema, pointer: string): readonly Shape[] {
    let shapes: readonly Shape[] = schema.silent
      ? everything
      : ofTypes(schema.types).flatMap((shape) => own(shape, schema));
    for (const text of schema.texts) {
      const others = shapes.filter((shape) => shape.type !== "string");
      const strings = shapes.flatMap((shape) =>
        shape.type === "string" ? (this.#texts.meet(shape, this.#texts.of(text)) ?? []) : [],
      );
      shapes = [...others, ...strings];
    }
    for (const finite of schema.finite) {
      const by = { pointer, keyword: finite.keyword, track: "values" } as const;
      shapes = this.#product(shapes, this.#listed(finite, by), by);
    }
    if (schema.plain) shapes = shapes.map((shape) => (shape.type === "number" ? { ...shape, plain: true } : shape));
    return shapes;
  }

  #listed(finite: Finite, by: By): readonly Shape[] {
    const count = finite.numbers.length + finite.strings.size + finite.arrays.length + finite.objects.length;
    if (!this.spend(count, by.pointer, by.keyword)) return [];
    const containers = [...finite.arrays, ...finite.objects].flatMap((literal) => this.of(literal, "values"));
    return [...listedScalars(finite), ...this.#absorb(containers, by)];
  }

  /** The cases in which something fails. */
  #negative(conjunct: Conjunct, schema: Schema): readonly Shape[] {
    const { pointer } = conjunct;
    const reader = this.#reader;
    const failing = [...failures(schema, pointer, this.#texts, reader)];
    for (const finite of schema.finite) {
      const by = { pointer, keyword: finite.keyword, track: "values" } as const;
      let others: readonly Shape[] = [...otherScalars(finite, this.#texts), anyArray, anyObject];
      for (const literal of [...finite.arrays, ...finite.objects]) {
        others = this.#product(others, this.of(reader.not(literal), "values"), by);
      }
      failing.push(...others);
    }
    for (const applicator of schema.applicators) {
      failing.push(
        ...this.#applied(opposite(applicator, reader), { pointer, keyword: applicator.keyword, track: "values" }),
      );
    }
    if (schema.unevaluatedItems !== undefined || schema.unevaluatedMembers !== undefined) {
      for (const shape of this.#evaluated(conjunct, schema, "exact")) {
        const layer = this.#unevaluated(shape, schema);
        if (shape.type === "array" && layer?.type === "array") {
          failing.push({ ...shape, broken: [...shape.broken, layer.layer] });
        }
        if (shape.type === "object" && layer?.type === "object") {
          failing.push({ ...shape, broken: [...shape.broken, { layer: layer.layer }] });
        }
      }
    }
    return this.#absorb(failing, { pointer, keyword: "not", track: "values" });
  }

  #applied(applicator: Applied, by: By): readonly Shape[] {
    switch (applicator.kind) {
      case "all":
        return this.#all(applicator.parts, by);
      case "any":
        return this.#any(applicator.parts, by);
      case "one":
        return this.#one(applicator.parts, by, everything);
      case "two": {
        const pairs = applicator.parts.flatMap((one, i) =>
          applicator.parts.slice(i + 1).flatMap((other) => this.#all([one, other], by)),
        );
        return this.#absorb(pairs, by);
      }
      case "ways":
        return this.#absorb(
          applicator.ways.flatMap((way) => this.#all(way, by)),
          by,
        );
      case "not":
        return this.of(applicator.part, "values").map(unannotated);
      case "if": {
        const { condition } = applicator;
        if (by.track === "values" && applicator.held === undefined && applicator.failed === undefined)
          return everything;
        const held = [condition, ...(applicator.held === undefined ? [] : [applicator.held])];
        const failed = [this.#reader.not(condition), ...(applicator.failed === undefined ? [] : [applicator.failed])];
        return this.#absorb([...this.#all(held, by), ...this.#all(failed, by)], by);
      }
      case "dependent": {
        const { key, required, part } = applicator;
        const has = { ...anyObject, required: new Set([key, ...required]) };
        const present = part === undefined ? [has] : this.#product([has], this.of(part, by.track), by);
        const objects = present.flatMap((shape) => (shape.type === "object" ? [shape] : []));
        return withObjects([{ ...anyObject, absent: new Set([key]) }, ...objects]);
      }
      case "broken dependency": {
        const { key, required, part } = applicator;
        const has = { ...anyObject, required: new Set([key]) };
        const without = required.filter((name) => name !== key).map((name) => ({ ...has, absent: new Set([name]) }));
        return part === undefined ? without : [...without, ...this.#product([has], this.of(part, "values"), by)];
      }
      default:
        return applicator satisfies never;
    }
  }

  /**
   * All parts. Where there are many cases already, a few parts are brought together before they meet them: most of what conditions on one
   * member have in common is nothing, and so all cases are gone through once for several of them.
   */
  #all(parts: readonly Conjunct[], by: By): readonly Shape[] {
    let shapes = everything;
    for (let at = 0; at < parts.length && shapes.length > 0; ) {
      const group = parts.slice(at, at + (shapes.length < manyCases ? 1 : groupSize));
      let met = everything;
      let count = 0;
      // Those that multiply among themselves would do so less beside the others.
      while (count < group.length && met.length <= everything.length + 2 * count) {
        const part = group[count++];
        if (part !== undefined) met = this.#product(met, this.of(part, by.track), by);
      }
      at += count;
      shapes = this.#product(shapes, met, by);
    }
    return shapes;
  }

  /** At least one part. Where annotations count, every set of parts that hold together is a case of its own. */
  #any(parts: readonly Conjunct[], by: By): readonly Shape[] {
    if (by.track === "values") {
      return this.#absorb(
        parts.flatMap((part) => this.of(part, by.track)),
        by,
      );
    }
    let some: readonly Shape[] = [];
    let none: readonly Shape[] = everything;
    for (const part of parts) {
      const held = this.of(part, by.track);
      const failed = by.track === "exact" ? this.of(this.#reader.not(part), "values") : everything;
      const more = [
        ...this.#product(some, failed, by),
        ...this.#product(some, held, by),
        ...this.#product(none, held, by),
      ];
      none = this.#product(none, failed, by);
      some = this.#absorb(more, by);
      if (this.#reader.refusal !== undefined) return [];
    }
    return some;
  }

  /**
   * Within cases: one part and no other. The others are left out where it is plain that they fail; what is demanded beside the choice, a
   * required discriminator above all, helps to see it.
   */
  #one(parts: readonly Conjunct[], by: By, within: readonly Shape[]): readonly Shape[] {
    const open = parts.map((part) => this.of(this.#reader.not(this.#reader.not(part)), "values"));
    const found = parts.flatMap((part, i) =>
      this.#product(within, this.of(part, by.track), by).flatMap((shape): readonly Shape[] => {
        let shapes: readonly Shape[] = [shape];
        for (const [j, other] of parts.entries()) {
          if (i === j || shapes.length === 0) continue;
          if (!this.spend(shapes.length * (open[j]?.length ?? 0), by.pointer, by.keyword)) return [];
          const apart: Shape[] = [];
          const together: Shape[] = [];
          for (const one of shapes) {
            const overlaps = open[j]?.some((open) => this.meeting.meet(one, open) !== undefined);
            (overlaps === true ? together : apart).push(one);
          }
          if (together.length === 0) continue;
          const failing = this.#product(together, this.of(this.#reader.not(other), "values"), by);
          shapes = this.#absorb([...apart, ...failing], by);
        }
        return shapes;
      }),
    );
    return this.#absorb(found, by);
  }

  #product(a: readonly Shape[], b: readonly Shape[], by: By): readonly Shape[] {
    if (a === everything || b === everything) return a === everything ? b : a;
    const [left, right] = [byType(a), byType(b)];
    const met: Shape[] = [];
    for (const [type, all] of left) {
      const [shapes, others] = this.#joined(all, right.get(type) ?? []);
      if (!this.spend(shapes.length * others.length, by.pointer, by.keyword)) return [];
      for (const shape of shapes) {
        for (const other of others) {
          const both = this.meeting.meet(shape, other);
          if (both !== undefined) met.push(both);
        }
      }
    }
    return a.length > 1 && b.length > 1 ? this.#absorb(met, by) : met;
  }

  /** Cases to be brought together, with as few of strings as say the same: several of both would multiply. */
  #joined(a: readonly Shape[], b: readonly Shape[]): readonly [readonly Shape[], readonly Shape[]] {
    if (a.length < 2 || b.length < 2 || a[0]?.type !== "string") return [a, b];
    return [this.#texts.joined(stringsOf(a)), this.#texts.joined(stringsOf(b))];
  }

  #absorb(shapes: readonly Shape[], { pointer, keyword, track }: By): readonly Shape[] {
    if (shapes.length < 2) return shapes;
    const containers = shapes.filter(({ type }) => type === "array" || type === "object").length;
    // One comparison takes a small part of a step.
    if (!this.spend(Math.ceil((containers * containers) / 8), pointer, keyword)) return [];
    return absorbed(shapes, this.meeting, this.#texts, this.#reader.closes || track !== "values");
  }
}

/** What cases have to tell apart: values only; also what was evaluated, as far as more of it accepts more; or exactly. */
export type Track = "values" | "annotations" | "exact";

type By = { readonly pointer: string; readonly keyword: string; readonly track: Track };

/** Cases that are gone through once for a group of parts, and the parts of one. */
const manyCases = 16;
const groupSize = 10;

/** References and `allOf`s down to a choice, at most: others are expanded for themselves. */
const choiceDepthMax = 4;

function choicesLast(applicators: readonly Applicator[], isChoice: (one: Applicator) => boolean) {
  return applicators.length < 2
    ? applicators
    : [...applicators.filter((one) => !isChoice(one)), ...applicators.filter(isChoice)];
}

function stringsOf(shapes: readonly Shape[]): readonly StringDemand[] {
  return shapes.filter((shape) => shape.type === "string");
}

/** In a loop: `Map.groupBy` takes several times as long for the few cases that there mostly are. */
function byType(shapes: readonly Shape[]): ReadonlyMap<Shape["type"], readonly Shape[]> {
  const found = new Map<Shape["type"], Shape[]>();
  for (const shape of shapes) {
    const alike = found.get(shape.type);
    if (alike === undefined) found.set(shape.type, [shape]);
    else alike.push(shape);
  }
  return found;
}
