import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { regexMatches } from "../../../tests/oracle/regex-matcher.ts";
import { irBuilder } from "../ir.ts";
import { Derivatives } from "./derivative.ts";
import { type Language, Languages } from "./language.ts";
import { noFlags, type PatternFlags, patternLanguage } from "./pattern.ts";

function languageOf(source: string, flags: PatternFlags = noFlags) {
  const languages = new Languages();
  const language = patternLanguage(languages, source, flags, "search");
  if (!language.ok) throw new Error(`${source} ${language.failure}`);
  return { languages, language: language.value, derivatives: new Derivatives(languages) };
}

describe("finds a match where ECMAScript does", () => {
  const patterns = [
    "",
    "a",
    "^a",
    "a$",
    "^$",
    "^(yes|no)$",
    "^a$|^b$",
    "a|^b|c$",
    "^a{2,3}b?$",
    "^(ab)*$",
    "^(a|ab)(c|bcd)*$",
    "^(a?){3}a{3}$",
    "a+?b*?",
    ".",
    "^.{2,4}$",
    "^[^a]*$",
    "^[a-c\\-]+$",
    "[\\s\\S]",
    "^\\d+\\.\\d{2}$",
    "^\\w+\\W\\w+$",
    "\\u{1f600}",
    "^\\p{L}+$",
    "^\\P{Lu}*$",
    "\\p{Script=Greek}",
    "^(?!a)",
    "^(?!.*b).*$",
    "(?=a)..",
    "^(?=.*a)(?=.*b).{3,}$",
    "^((?!ab).)*$",
    "^((?!ab)(?!c).)*$|^a",
    "\\ba",
    "a\\b",
    "\\Ba\\B",
    "^\\b|b\\b",
    "(?<=a)b",
    "(?<!a)b",
    "(?<=^|-)a",
    "(a|^)b",
    "^(a(,|$))*$",
    "(?:^|,)a(?:$|,)",
    "(?i:aB)c",
    "^(?i:[^a])$",
    "(?<name>a)b",
    "[]",
    "[^]",
    "^a\\/b$",
    "\\cJ|\\0|\\x41|\\u0042",
    // None under `u`.
    "^a\\_b$",
    "^[\\w-.]+$",
    "a{",
  ];
  const text = fc.string({ unit: fc.constantFrom(...("aabbcAB,-_.1é 😀α\n{/".match(/./gsu) ?? [])), maxLength: 8 });
  test.each(patterns)("%p", (source) => {
    const { language, derivatives } = languageOf(source);
    const oracle = expressionOf(source);
    fc.assert(
      fc.property(text, (text) =>
        expect([text, derivatives.matches(language, text)]).toEqual([text, oracle.test(text)]),
      ),
      { numRuns: 400 },
    );
  });

  test("with flags", () => {
    const sources = ["^ab", "b$", "a.b", "[^b]a", "\\ba", "ſ|k", "^\\w$"];
    const flags = fc.record({ ignoreCase: fc.boolean(), multiline: fc.boolean(), dotAll: fc.boolean() });
    const letters = fc.string({ unit: fc.constantFrom(..."abABkKſ\n\u212a "), maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...sources), flags, letters, (source, flags, text) => {
        const { language, derivatives } = languageOf(source, flags);
        const given = `u${flags.ignoreCase ? "i" : ""}${flags.multiline ? "m" : ""}${flags.dotAll ? "s" : ""}`;
        expect(derivatives.matches(language, text)).toBe(new RegExp(source, given).test(text));
      }),
      { numRuns: 1500 },
    );
  });

  test("on random expressions, with the texts that the language itself makes, and as the form that is emitted", () => {
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom("a", "b", ".", "[^a]", "[ab]", "^", "$", "\\b", "(?!a)", "(?=b)", "(?<=a)", ""),
        fc.tuple(tie("expression"), tie("expression")).map(([one, other]) => `${one}${other}`),
        fc.tuple(tie("expression"), tie("expression")).map(([one, other]) => `(?:${one}|${other})`),
        fc.tuple(tie("expression"), fc.constantFrom("?", "{2}", "{1,2}")).map(([one, times]) => `(?:${one})${times}`),
        fc.constantFrom("a*", "[ab]+", "(?:ab)*", "b?"),
      ),
    }));
    let matched = 0;
    fc.assert(
      fc.property(expression, fc.array(fc.nat(3), { maxLength: 6 }), text, (source, steps, text) => {
        const { languages, language, derivatives } = languageOf(source);
        const oracle = new RegExp(source, "u");
        const builder = irBuilder();
        const id = languages.emit(builder, language);
        const ir = builder.finish(builder.node({ kind: "regex", regex: id }));
        for (const tried of [text, walk(derivatives, language, steps)]) {
          const expected = oracle.test(tried);
          matched += Number(expected);
          expect(derivatives.matches(language, tried)).toBe(expected);
          expect(regexMatches(ir.regexes, id, tried)).toBe(expected);
        }
      }),
      { numRuns: 1500 },
    );
    expect(matched).toBeGreaterThan(500);
  });
});

test.each([
  ["(a)\\1", "refers back to a group ('\\1'), which is no regular language"],
  ["(?<=ab)c", "looks back further than one character ('(?<=ab)')"],
  ["(?:a(?=b))*", "asserts something inside a repetition ('(?:a(?=b))*')"],
  ["^((?!ab).)*c$", "asserts something inside a repetition ('((?!ab).)*')"],
  ["(?:^a){0,99}", "repeats an assertion more than 64 times ('(?:^a){0,99}')"],
  ["(", "is no regular expression of ECMAScript: Unterminated group"],
  ["\\p{Nope}\\_", "is no regular expression of ECMAScript: Invalid property name"],
  ["a{2147483649}", "repeats something more than 2147483648 times ('a{2147483649}')"],
  ["a{1,18446744073709551616}", "repeats something more than 2147483648 times ('a{1,18446744073709551616}')"],
  ["[[:alpha:]]+", "has '[:alpha:]' in a class, which ECMAScript does not know"],
  ["[a-z&&[^aeiou]]", "has '&&[' in a class, which ECMAScript does not know"],
  ...["\\Aa", "a\\Z", "\\h", "\\Qa\\E", "\\x{41}", "\\pL\\_", "\\u{41}\\_", "\\1\\_", "\\01\\_"].map(
    (source) => [source, expect.stringMatching(/^is no regular expression of ECMAScript: /)] as const,
  ),
  ["(".repeat(60_000), "has more than 20000 characters"],
  [`${"(".repeat(9000)}${")".repeat(9000)}`, "nests groups deeper than 100"],
])("%p is refused", (source, failure) => {
  expect(patternLanguage(new Languages(), source, noFlags, "search")).toEqual({ ok: false, failure });
});

test.each(["\\s", "\\w", "\\d", ".", "\\W", "\\p{Lu}", "[^\\s\\S]", "[^a-z\\p{L}]"])(
  "%p has the runtime's characters",
  (source) => {
    const { language, derivatives } = languageOf(`^${source}$`);
    const oracle = new RegExp(`^${source}$`, "u");
    for (let point = 0; point <= 0x1_ffff; point++) {
      const text = String.fromCodePoint(point);
      if (text.isWellFormed() && derivatives.matches(language, text) !== oracle.test(text)) expect(point).toBe(-1);
    }
  },
);

test.each(["C", "Any", "Assigned", "Cn", "Script=Zzzz", "Noncharacter_Code_Point"])(
  "\\p{%s} has the runtime's characters, in every plane and next to the surrogates",
  (name) => {
    const { language, derivatives } = languageOf(`^\\p{${name}}$`);
    const oracle = new RegExp(`^\\p{${name}}$`, "u");
    const edges = [0, 0xd7ff, 0xe000, 0xf8ff, 0x10000, ...Array.from({ length: 0x110 }, (_, i) => i << 12)];
    for (const edge of edges.flatMap((point) => [point - 2, point - 1, point, point + 1])) {
      const text = String.fromCodePoint(Math.min(Math.max(edge, 0), 0x10ffff));
      if (text.isWellFormed()) {
        expect([edge, derivatives.matches(language, text)]).toEqual([edge, oracle.test(text)]);
      }
    }
  },
);

test("what hangs a backtracking matcher is quick", () => {
  const { language, derivatives } = languageOf("^(a+)+(b|a*)*$");
  expect(derivatives.matches(language, `${"a".repeat(500)}c`)).toBe(false);
});

test("languages know whether they are empty, and their texts where those are few", () => {
  const of = (source: string) => {
    const { language, languages, derivatives } = languageOf(source);
    const found = derivatives.texts(language, 10);
    const not = languages.complement(language);
    return { texts: found && [...found].sort(), empty: derivatives.isEmpty(language), rest: derivatives.isEmpty(not) };
  };
  expect(of("^(yes|no)$")).toEqual({ texts: ["no", "yes"], empty: false, rest: false });
  expect(of("^a?b{1,2}$")).toEqual({ texts: ["ab", "abb", "b", "bb"], empty: false, rest: false });
  expect(of("^(a|ab)(c|bc)$").texts).toEqual(["abbc", "abc", "ac"]);
  expect(of("^(ab?){1,2}$").texts).toEqual(["a", "aa", "aab", "ab", "aba", "abab"]);
  expect(of("^(?!b)[ab]c{0,2}$").texts).toEqual(["a", "ac", "acc"]);
  expect(of("^(?=.{2}$)a*b*$").texts).toEqual(["aa", "ab", "bb"]);
  expect(of("^(a{1000}){1000}$").texts).toBeUndefined();
  expect(of("^(?=a)b")).toEqual({ texts: [], empty: true, rest: false });
  expect(of("^(?=.{3}$)(ab)*$")).toEqual({ texts: [], empty: true, rest: false });
  expect(of("^\\d{2}$")).toEqual({ texts: undefined, empty: false, rest: false });
  expect(of("^(?!a)|^a")).toEqual({ texts: undefined, empty: false, rest: true });
  // Surrogates are no code points, so nothing is left between the two.
  expect(of("^([\\0-\\ud7ff][^]*|[^\\0-\\ud7ff][^]*)?$")).toEqual({ texts: undefined, empty: false, rest: true });
});

test("what two languages have in common, found by guessing or by looking", () => {
  const sources = [
    "ab",
    "ba",
    "^a",
    "b$",
    "^[ab]$",
    "^a{3}$",
    "^(ab)+$",
    "^(ba)+$",
    "^[^a]*$",
    "^.{4}$",
    "^(?!b)",
    "^$",
  ];
  const texts = [
    "",
    ...["a", "b", "c"].flatMap((a) => [a, `${a}b`, `${a}ba`, `b${a}ab`, `${a}aa`, `ab${a}b`, `b${a}`]),
  ];
  const languages = new Languages();
  const all = sources.map((source) => {
    const language = patternLanguage(languages, source, noFlags, "search");
    if (!language.ok) throw new Error(source);
    return language.value;
  });
  for (const one of [...all, ...all.map((language) => languages.complement(language))]) {
    for (const other of all) {
      const derivatives = new Derivatives(languages);
      const both = languages.intersection([one, other]);
      const common = texts.some((text) => derivatives.matches(one, text) && derivatives.matches(other, text));
      const isEmpty = derivatives.isEmpty(both);
      expect(isEmpty && common).toBe(false);
      // Whatever is in none of the texts is explored to its end: every state leads to one that was seen.
      if (!isEmpty && !common) expect([...(derivatives.texts(both, 100) ?? ["many"])]).not.toEqual([]);
    }
  }
});

function expressionOf(source: string): RegExp {
  try {
    return new RegExp(source, "u");
  } catch {
    return new RegExp(source);
  }
}

/** A text that the language may well contain: each step goes on in a way that is possible. */
function walk(derivatives: Derivatives, language: Language, steps: readonly number[]): string {
  let text = "";
  let rest = language;
  for (const step of steps) {
    const ways = [..."abc\n"].flatMap((letter) => {
      const next = derivatives.derive(rest, letter.codePointAt(0) ?? 0);
      return derivatives.isEmpty(next) ? [] : [[letter, next] as const];
    });
    const way = ways[step % Math.max(1, ways.length)];
    if (way === undefined) break;
    text += way[0];
    rest = way[1];
  }
  return text;
}
