/** A JSON number's value as numerator and denominator, a power of ten. */
function rational(text: string): readonly [numerator: bigint, denominator: bigint] {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const power = BigInt(exponent) - BigInt(fraction.length);
  const digits = BigInt(`${whole.replace("-", "")}${fraction}`) * (whole.startsWith("-") ? -1n : 1n);
  return power >= 0n ? [digits * 10n ** power, 1n] : [digits, 10n ** -power];
}

export function compareNumbers(a: string, b: string): number {
  const [an, ad] = rational(a);
  const [bn, bd] = rational(b);
  const difference = an * bd - bn * ad;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function isWholeNumber(text: string): boolean {
  const [numerator, denominator] = rational(text);
  return numerator % denominator === 0n;
}

/** Whether `a` is `b` times a whole number. */
export function isMultiple(a: string, b: string): boolean {
  const [an, ad] = rational(a);
  const [bn, bd] = rational(b);
  return (an * bd) % (bn * ad) === 0n;
}
