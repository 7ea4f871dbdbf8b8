import { decimalKey } from "./facts.ts";
import { isPoint, type NumberDemand, numberWithin } from "./numbers.ts";
import type { ArrayDemand, Meeting, ObjectDemand, Shape } from "./shape.ts";
import { anyString, type StringDemand, type Texts } from "./texts.ts";

/**
 * Drops the cases that others contain, and gathers lists of strings into one. `strict`: a wider array or object may accept less, by the
 * policy that closes objects or by what counts as evaluated, so that only equal ones are dropped.
 */
export function absorbed(shapes: readonly Shape[], meeting: Meeting, texts: Texts, strict: boolean): readonly Shape[] {
  const of = Map.groupBy(shapes, ({ type }) => type);
  const contains = (wide: Shape, narrow: Shape) =>
    meeting.within(narrow, wide) && (!strict || meeting.within(wide, narrow));
  return [
    ...(["null", "true", "false"] as const).flatMap((type) => of.get(type)?.slice(0, 1) ?? []),
    ...numbers(shapes.filter((shape) => shape.type === "number")),
    ...strings(
      shapes.filter((shape) => shape.type === "string"),
      texts,
    ),
    ...containers(
      shapes.filter((shape) => shape.type === "array"),
      contains,
    ),
    ...containers(
      shapes.filter((shape) => shape.type === "object"),
      contains,
    ),
  ];
}

/** The widest of cases with layers. A wider one has no layers that the narrower one has not, so few are compared: those with a last one in common. */
function containers<S extends ArrayDemand | ObjectDemand>(
  shapes: readonly S[],
  contains: (wide: S, narrow: S) => boolean,
): readonly S[] {
  if (shapes.length < 2) return shapes;
  const byLast = Map.groupBy(shapes.entries(), ([, shape]) => shape.layers.at(-1) ?? shape.broken.at(-1));
  return shapes.filter((shape, i) => {
    const isWithin = ([j, wide]: readonly [number, S]) =>
      i !== j && contains(wide, shape) && (j < i || !contains(shape, wide));
    return ![undefined, ...shape.layers, ...shape.broken].some((last) => byLast.get(last)?.some(isWithin));
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
