/** The value below which `share` of the numbers lie (nearest rank); NaN of none. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** For people: four significant digits. */
export function rounded(number: number): number {
  return Number(number.toPrecision(4));
}
