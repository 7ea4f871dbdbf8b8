/** The value of a flag that counts. */
export function wholeNumber(flag: string, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`--${flag} takes a whole number, not '${text}'`);
}
