/**
 * The skeletons of words: what is left of a spelling when all that varies is taken out. `folded` takes out case and marks; `consonants`
 * also vowels and repeated letters, so that near spellings meet (the skeleton key of Pollock and Zamora, 1984, without its order of vowels).
 */
export function folded(word: string): string {
  return withoutMarks(word).toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

export function consonants(word: string): string {
  const letters = [...folded(word)].filter((letter) => /[\p{L}\p{N}]/u.test(letter));
  const [first = ""] = letters;
  const rest = letters.slice(1).filter((letter) => !/[aeiouyæœøαεηιουω]/u.test(letter));
  return [first, ...rest].filter((letter, i, all) => letter !== all[i - 1]).join("");
}

/** The spellings of a word that folding accepts: as it stands, lower, upper and capitalised, each with its marks and without. */
export function variants(word: string): ReadonlySet<string> {
  const out = new Set<string>();
  for (const form of [word, withoutMarks(word)]) {
    const [first = ""] = form;
    const lower = form.toLowerCase();
    for (const variant of [form, lower, form.toUpperCase(), first.toUpperCase() + lower.slice(first.length)]) {
      out.add(variant);
      out.add(variant.normalize("NFC"));
    }
  }
  return out;
}

/** Letters that are one with their mark stay: only what Unicode decomposes has marks. */
function withoutMarks(word: string): string {
  return word.normalize("NFKD").replaceAll(/\p{M}/gu, "").normalize("NFC");
}
