/** Sets of code points as ascending, disjoint ranges that do not touch; both ends inclusive, no surrogates. */
export type Ranges = readonly Range[];
export type Range = readonly [first: number, last: number];

export const codePointMax = 0x10ffff;
export const everyCodePoint: Ranges = [
  [0, 0xd7ff],
  [0xe000, codePointMax],
];

/** The set of these ranges, which may overlap, touch, and come in any order. */
export function rangesOf(ranges: readonly Range[]): Ranges {
  const out: [number, number][] = [];
  for (const [first, last] of ranges.flatMap(withoutSurrogates).sort(([a], [b]) => a - b)) {
    const before = out.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else out.push([first, last]);
  }
  return out;
}

export function complementOf(ranges: Ranges): Ranges {
  let next = 0;
  const out: Range[] = [];
  for (const [first, last] of ranges) {
    if (next < first) out.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= codePointMax) out.push([next, codePointMax]);
  return rangesOf(out);
}

function withoutSurrogates([first, last]: Range): readonly Range[] {
  const parts: Range[] = [
    [first, Math.min(last, 0xd7ff)],
    [Math.max(first, 0xe000), last],
  ];
  return parts.filter(([from, to]) => from <= to);
}
