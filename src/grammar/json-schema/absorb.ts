import { decimalKey } from "./facts.ts";
import { isPoint, type NumberDemand, numberWithin } from "./numbers.ts";
import type { ArrayDemand, Meeting, ObjectDemand, Shape } from "./shape.ts";
import { anyString, type StringDemand, type Texts } from "./texts.ts";

/**
 * Drops the cases that others contain, and gathers lists of strings into one. `strict`: a wider array or object may accept less, by the
 * policy that closes objects or by what counts as evaluated, so that only equal ones are dropped.
 */
export function absorbed(shapes: readonly Shape[], meeting: Meeting, texts: Texts, strict: boolean): readonly Shape[] {
  const contains = (wide: Shape, narrow: Shape) =>
    meeting.within(narrow, wide) && (!strict || meeting.within(wide, narrow));
  const constants = new Map<Shape["type"], Shape>();
  const found: Found = { numbers: [], strings: [], arrays: [], objects: [] };
  for (const shape of shapes) {
    if (shape.type === "object") found.objects.push(shape);
    else if (shape.type === "array") found.arrays.push(shape);
    else if (shape.type === "string") found.strings.push(shape);
    else if (shape.type === "number") found.numbers.push(shape);
    else constants.set(shape.type, shape);
  }
  return [
    ...(["null", "true", "false"] as const).flatMap((type) => constants.get(type) ?? []),
    ...numbers(found.numbers),
    ...strings(found.strings, texts),
    ...containers(found.arrays, contains),
    ...containers(found.objects, contains),
  ];
}

type Found = {
  readonly numbers: NumberDemand[];
  readonly strings: StringDemand[];
  readonly arrays: ArrayDemand[];
  readonly objects: ObjectDemand[];
};

/** The widest of cases with layers. A wider one has no layers that the narrower one has not, so few are compared: those with a last one in common. */
function containers<S extends ArrayDemand | ObjectDemand>(
  shapes: readonly S[],
  contains: (wide: S, narrow: S) => boolean,
): readonly S[] {
  if (shapes.length < 2) return shapes;
  const byLast = new Map<unknown, number[]>();
  for (const [i, { layers, broken }] of shapes.entries()) {
    const last = layers.at(-1) ?? broken.at(-1);
    const alike = byLast.get(last);
    if (alike === undefined) byLast.set(last, [i]);
    else alike.push(i);
  }
  const isWithinOne = (shape: S, i: number, wide: readonly number[] | undefined) => {
    for (const j of wide ?? []) {
      const other = shapes[j];
      if (i === j || other === undefined || !contains(other, shape)) continue;
      if (j < i || !contains(shape, other)) return true;
    }
    return false;
  };
  return shapes.filter((shape, i) => {
    if (isWithinOne(shape, i, byLast.get(undefined))) return false;
    for (const layer of shape.layers) if (isWithinOne(shape, i, byLast.get(layer))) return false;
    for (const layer of shape.broken) if (isWithinOne(shape, i, byLast.get(layer))) return false;
    return true;
  });
}

function widest<S>(shapes: readonly S[], contains: (wide: S, narrow: S) => boolean): readonly S[] {
  if (shapes.length < 2) return shapes;
  const kept: S[] = [];
  for (const shape of shapes) {
    if (kept.some((wide) => contains(wide, shape))) continue;
    const others = kept.filter((narrow) => !contains(shape, narrow));
    kept.splice(0, kept.length, ...others, shape);
  }
  return kept;
}

function numbers(shapes: readonly NumberDemand[]): readonly NumberDemand[] {
  if (shapes.length < 2) return shapes;
  const points = new Map<string, NumberDemand>();
  const others: NumberDemand[] = [];
  for (const shape of shapes) {
    if (isPoint(shape) && shape.low !== undefined) points.set(`${decimalKey(shape.low.value)}${shape.plain}`, shape);
    else others.push(shape);
  }
  const intervals = widest(others, (wide, narrow) => numberWithin(narrow, wide));
  return [
    ...intervals,
    ...[...points.values()].filter((point) => !intervals.some((wide) => numberWithin(point, wide))),
  ];
}

function strings(shapes: readonly StringDemand[], texts: Texts): readonly StringDemand[] {
  if (shapes.length < 2) return shapes;
  const kept = widest(
    shapes.filter((shape) => shape.among === undefined),
    (wide, narrow) => texts.within(narrow, wide),
  );
  const among = new Set(shapes.flatMap((shape) => [...(shape.among ?? [])]));
  for (const text of among) if (kept.some((wide) => texts.holds(text, wide))) among.delete(text);
  return among.size === 0 ? kept : [...kept, { ...anyString, among }];
}
