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

/** Of two runs over the same, the lesser of each time, as machines preempt; the second alone where there was no first. */
export function leastOfEach(first: readonly number[] | undefined, second: readonly number[]): readonly number[] {
  return first?.map((time, index) => Math.min(time, second[index] ?? time)) ?? second;
}

/** What a report says of times in microseconds. */
export function distribution(microseconds: readonly number[]) {
  const average = microseconds.reduce((sum, value) => sum + value, 0) / microseconds.length;
  const at = (share: number) => rounded(quantile(microseconds, share));
  return { avg: rounded(average), p50: at(0.5), p90: at(0.9), p99: at(0.99), p99_9: at(0.999), max: at(1) };
}
