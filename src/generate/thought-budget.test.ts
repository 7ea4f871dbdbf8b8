import { expect, test } from "bun:test";
import { thoughtBudget } from "./thought-budget.ts";

/** Tokens are bytes, and 256 is the closing tag as a whole. */
const bytes = {
  encode: (text: string) => Uint32Array.from(Buffer.from(text)),
  decode: (tokens: readonly number[]) => Uint8Array.from(tokens),
};
const single = {
  encode: (text: string) => (text === "</t>" ? Uint32Array.of(256) : bytes.encode(text)),
  decode: (tokens: readonly number[]) =>
    tokens[0] === 256 ? Uint8Array.from(Buffer.from("</t>")) : bytes.decode(tokens),
};
const prompt = [...Buffer.from("ask")];
const tags = { open: "<t>", close: "</t>" };

type Options = { readonly tokensMax: number; readonly begun?: boolean; readonly allowed?: readonly number[] };

/** What comes of a wish, byte by byte, where nothing is forced and the grammar allows every token, or these. */
function said(tokenizer: typeof bytes, { tokensMax, begun = false, allowed }: Options, wish: string): string {
  const budget = { tokensMax, promptTokens: prompt.length, thoughts: { ...tags, begun } };
  const processor = thoughtBudget(tokenizer, budget);
  const tokens = [...prompt];
  for (const wished of Buffer.from(wish)) {
    const mask = new Uint32Array(9).fill(allowed === undefined ? 0xffff_ffff : 0);
    for (const token of allowed ?? []) mask[token >>> 5] = (mask[token >>> 5] ?? 0) | (1 << (token & 31));
    processor(new Float32Array(0), mask, Uint32Array.from(tokens));
    const left = tokensOf(mask);
    tokens.push(left.length === 1 ? (left[0] ?? 0) : wished);
  }
  return Buffer.concat(tokens.slice(prompt.length).map((token) => tokenizer.decode([token]))).toString();
}

function tokensOf(mask: Uint32Array): number[] {
  const bits = Array.from({ length: 32 }, (_, bit) => bit);
  return [...mask].flatMap((word, at) => bits.filter((bit) => ((word >>> bit) & 1) === 1).map((bit) => at * 32 + bit));
}

const cases: readonly (readonly [what: string, options: Options, wish: string, said: string])[] = [
  ["without a thought nothing is forced", { tokensMax: 0 }, "abcdef", "abcdef"],
  ["a thought within its budget", { tokensMax: 9 }, "<t>ab</t>cd", "<t>ab</t>cd"],
  ["one beyond it", { tokensMax: 2 }, "<t>abcdefgh", "<t>ab</t>gh"],
  ["one that the prompt began", { tokensMax: 2, begun: true }, "abcdefgh", "ab</t>gh"],
  ["at once", { tokensMax: 0, begun: true }, "abcdefgh", "</t>efgh"],
  // The first takes six: its own tokens, and those of its closing tag.
  ["thoughts share it", { tokensMax: 6 }, "<t>ab</t><t>cdefghi", "<t>ab</t><t></t>ghi"],
  ["a code point is finished first", { tokensMax: 2 }, "<t>aü…bcde", "<t>aü</t>cde"],
  ["what the grammar forbids waits", { tokensMax: 1, begun: true, allowed: [97, 98] }, "abab", "abab"],
];
test.each(cases)("%s", (_, options, wish, expected) => {
  expect(said(bytes, options, wish)).toBe(expected);
});

test("a tag that is one token is one step", () => {
  expect(said(single, { tokensMax: 2 }, "<t>abcdef")).toBe("<t>ab</t>def");
});
