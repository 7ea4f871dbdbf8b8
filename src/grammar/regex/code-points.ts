/** A set of code points: ascending ranges with both ends inclusive that neither overlap nor touch. Surrogates are no code points. */
export type CodePoints = readonly (readonly [first: number, last: number])[];

export const everyPoint: CodePoints = [
  [0, 0xd7ff],
  [0xe000, 0x10ffff],
];

/** The set of the ranges in any order, without surrogates. */
export function codePoints(ranges: CodePoints): CodePoints {
  const sorted = [...ranges].sort(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const [first, last] of sorted) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged.some(([first, last]) => first <= 0xdfff && last >= 0xd800) ? intersect(merged, everyPoint) : merged;
}

export function unite(...sets: readonly CodePoints[]): CodePoints {
  return codePoints(sets.flat());
}

export function intersect(a: CodePoints, b: CodePoints): CodePoints {
  const both: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; ; ) {
    const one = a[i];
    const other = b[j];
    if (one === undefined || other === undefined) return both;
    const first = Math.max(one[0], other[0]);
    const last = Math.min(one[1], other[1]);
    if (first <= last) both.push([first, last]);
    if (one[1] < other[1]) i++;
    else j++;
  }
}

export function invert(set: CodePoints): CodePoints {
  const gaps: (readonly [number, number])[] = [];
  let next = 0;
  for (const [first, last] of set) {
    if (first > next) gaps.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= 0x10ffff) gaps.push([next, 0x10ffff]);
  return intersect(gaps, everyPoint);
}

export function contains(set: CodePoints, point: number): boolean {
  let low = 0;
  let high = set.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const range = set[middle];
    if (range === undefined || range[1] < point) low = middle + 1;
    else if (range[0] > point) high = middle;
    else return true;
  }
  return false;
}

export function sizeOf(set: CodePoints): number {
  return set.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}
