import { oneOf, type Random } from "../fixtures/random.ts";
import { type Json, type JsonObject, type Schema, schemaJudge } from "./schema-judge.ts";

/**
 * A world small enough to write all of it down: `limits` is a schema that accepts exactly `values` as far as this vocabulary can write
 * them. It says so by types and bounds, not by listing them, so that what it is joined with stays what the engine has to work on.
 */
export type Universe = {
  readonly limits: JsonObject;
  readonly values: readonly Json[];
  /** The two characters of all strings and names, the second one up to four bytes long. */
  readonly letters: readonly [string, string];
  /** Tokens as binary strings, a character a byte. */
  readonly tokens: readonly string[];
};

export type Domain = "number" | "string" | "array" | "object" | "scalar";

/** What all texts of a universe are made of. */
type Alphabet = {
  readonly letters: readonly [string, string];
  /** Whether `\` and all that may follow it can be written. Then there are no numbers: with every digit they have many spellings. */
  readonly escapes: boolean;
};

/** `domain`: a type of value that has to be in it at the top. */
export function randomUniverse(random: Random, domain: Domain): Universe {
  const letters: readonly [string, string] = ["a", oneOf(random, ["b", "b", "é", "😀"])];
  const alphabet: Alphabet = { letters, escapes: domain !== "number" && random(4) === 0 };
  const leaf = randomLeaf(random, alphabet);
  const kinds = new Set<Domain>([domain, ...oneOf(random, [[], [], ["scalar"], ["array"], ["object"]])]);
  const parts: Part[] = [];
  if (kinds.has("scalar") || kinds.has("number") || kinds.has("string")) parts.push(leafOf(random, alphabet, domain));
  const inner = parts.length === 0 && random(4) === 0 ? joined([leaf, innerContainer(random, letters)]) : leaf;
  if (kinds.has("array")) parts.push(arraysOf(inner, inner.values.length > 8 ? 2 : 3));
  if (kinds.has("object")) parts.push(objectsOf(random, inner, letters));
  const { limits, values } = joined(parts);
  return { limits, values, letters, tokens: randomTokens(random, values, alphabet) };
}

/**
 * What there is to know of a schema in a universe: every text that the tokens can finish, with the fewest tokens that do. A text of cost
 * 0 is a whole document.
 */
export function continuations(universe: Universe, schema: Schema): ReadonlyMap<string, number> {
  const accepts = schemaJudge(schema);
  const tokens = new Set(universe.tokens);
  const lengthMax = Math.max(...universe.tokens.map((token) => token.length));
  const costs = new Map<string, number>();
  for (const value of universe.values) {
    if (!accepts(value)) continue;
    for (const text of spellings(value)) addPrefixes(costs, binary(text), tokens, lengthMax);
  }
  return costs;
}

/** The spellings of the policy `compact` and `canonical`: only the order of names is free, and what control characters are written as. */
export function spellings(value: Json): readonly string[] {
  if (typeof value === "string") return products([...value].map(characterSpellings)).map((all) => `"${all.join("")}"`);
  if (typeof value !== "object" || value === null) return [JSON.stringify(value)];
  if (isList(value)) return products(value.map(spellings)).map((items) => `[${items.join(",")}]`);
  const members = Object.entries(value).map(([name, member]) =>
    spellings(member).map((text) => `${JSON.stringify(name)}:${text}`),
  );
  return permutations(members).flatMap((order) => products(order).map((texts) => `{${texts.join(",")}}`));
}

/** Control characters may always be written by their code; nothing in these universes has an upper-case digit. */
function characterSpellings(character: string): readonly string[] {
  const usual = JSON.stringify(character).slice(1, -1);
  const code = `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return character < " " && usual !== code ? [usual, code] : [usual];
}

function addPrefixes(costs: Map<string, number>, text: string, tokens: ReadonlySet<string>, lengthMax: number): void {
  const rest = new Array<number>(text.length + 1).fill(Number.POSITIVE_INFINITY);
  rest[text.length] = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    for (let length = 1; length <= Math.min(lengthMax, text.length - at); length++) {
      const cost = 1 + (rest[at + length] ?? 0);
      if (cost < (rest[at] ?? 0) && tokens.has(text.slice(at, at + length))) rest[at] = cost;
    }
  }
  for (const [at, cost] of rest.entries()) {
    if (!Number.isFinite(cost)) continue;
    const prefix = text.slice(0, at);
    if (cost < (costs.get(prefix) ?? Number.POSITIVE_INFINITY)) costs.set(prefix, cost);
  }
}

type Part = { readonly types: readonly string[]; readonly limits: JsonObject; readonly values: readonly Json[] };

/** Some scalars, few enough for all lists of three. */
function randomLeaf(random: Random, alphabet: Alphabet): Part {
  const parts: Part[] = [];
  if (random(3) === 0) parts.push({ types: ["null"], limits: {}, values: [null] });
  if (random(4) === 0) parts.push({ types: ["boolean"], limits: {}, values: [true, false] });
  if (random(3) > 0 && !alphabet.escapes) parts.push(numbers(random, 2));
  if (random(3) > 0 || parts.length === 0) parts.push(strings(random, alphabet, 1));
  return joined(parts);
}

function leafOf(random: Random, alphabet: Alphabet, domain: Domain): Part {
  const parts: Part[] = [];
  if (domain === "scalar" || random(3) === 0) parts.push({ types: ["null"], limits: {}, values: [null] });
  if (domain === "scalar" || random(3) === 0) parts.push({ types: ["boolean"], limits: {}, values: [true, false] });
  if ((domain !== "string" || random(3) === 0) && !alphabet.escapes) parts.push(numbers(random, 12));
  if (domain !== "number" || random(3) === 0) parts.push(strings(random, alphabet, 3));
  return joined(parts);
}

function numbers(random: Random, integerMax: number): Part {
  const halves = random(2) === 0;
  // A fixed 11.5 may be written 1.15e1, too; with one digit before the point there is no exponent without a 0.
  const max = halves ? Math.min(integerMax, 5) : integerMax;
  const minimum = random(2) === 0 ? 1 : -2;
  const step = halves ? 0.5 : 1;
  const limits = halves ? { minimum, maximum: max, multipleOf: 0.5 } : { minimum, maximum: max };
  const values: number[] = [];
  for (let value = minimum; value <= max; value += step) if (!/[^-1235.]/.test(String(value))) values.push(value);
  return { types: [halves ? "number" : "integer"], limits, values };
}

/** Over the two letters by a pattern, or over every character there is. */
function strings(random: Random, { letters, escapes }: Alphabet, maxLength: number): Part {
  // The bytes of longer characters could be put together to others.
  if (random(escapes ? 2 : 3) > 0 || binary(letters[1]).length > 2) {
    const pattern = `^[${letters.join("")}]*$`;
    return { types: ["string"], limits: { pattern, maxLength }, values: texts(letters, maxLength) };
  }
  const plain = [...plainCharacters.replace('"', ""), ...letters];
  const escaped = [...escapable, ...escapeBytes.replaceAll(/["\\]/g, "")];
  const characters = new Set(escapes ? [...plain, ...escaped] : plain);
  const length = Math.min(maxLength, 2);
  return { types: ["string"], limits: { maxLength: length }, values: texts([...characters], length) };
}

function innerContainer(random: Random, letters: readonly [string, string]): Part {
  const one: Part = { types: ["integer"], limits: { type: "integer", minimum: 1, maximum: 2 }, values: [1, 2] };
  return random(2) === 0 ? arraysOf(one, 1) : objectsOf(random, one, letters, 1);
}

function arraysOf(item: Part, maxItems: number): Part {
  const values = Array.from({ length: maxItems + 1 }, (_, count) =>
    products(Array.from({ length: count }, () => item.values)),
  ).flat();
  return { types: ["array"], limits: { items: item.limits, maxItems }, values };
}

function objectsOf(random: Random, member: Part, letters: readonly [string, string], maxProperties = 3): Part {
  // Of the last class there are many names, but those beside the letters cannot be written.
  const [named, names]: readonly [JsonObject, readonly string[]] = oneOf(random, [
    [{ enum: namesOf(letters) }, namesOf(letters)],
    [{ pattern: `^[${letters.join("")}]?$` }, texts(letters, 1)],
    [{ pattern: `^[${letters.join("")}\u4e00-\u9fff]?$` }, texts(letters, 1)],
  ]);
  const count = Math.min(member.values.length > 30 ? 1 : member.values.length > 8 ? 2 : 3, maxProperties);
  const values: Json[] = [];
  for (const chosen of subsets(names)) {
    if (chosen.length > count) continue;
    for (const list of products(chosen.map(() => member.values))) {
      values.push(Object.fromEntries(chosen.map((name, i) => [name, list[i] ?? null])));
    }
  }
  // Where there are no more names than that, nobody has to count.
  const bound = count >= names.length && random(2) === 0 ? {} : { maxProperties: count };
  return { types: ["object"], limits: { propertyNames: named, additionalProperties: member.limits, ...bound }, values };
}

/** The names that schemas speak of. */
export function namesOf([a, b]: readonly [string, string]): readonly string[] {
  return [a, b, a + b];
}

/** Parts of different types; their limits say nothing of one another's. */
function joined(parts: readonly Part[]): Part {
  const types = parts.flatMap((part) => part.types);
  const limits = Object.assign({}, ...parts.map((part) => part.limits), { type: types });
  return { types, limits, values: parts.flatMap((part) => part.values) };
}

/**
 * All bytes, or all but one that no token writes, and pieces of documents, as vocabularies have them. Every byte of a token is a token,
 * too: the engine finishes what it starts byte by byte. Those of JSON's structure are never missing, and escapes only all together.
 */
function randomTokens(random: Random, values: readonly Json[], { letters, escapes }: Alphabet): readonly string[] {
  const kept = escapes ? structure + escapeBytes : structure;
  const bytes = [...new Set(kept + plainCharacters + binary(letters.join("")))];
  const tokens = new Set(bytes);
  for (let tries = 0; tries < 40; tries++) {
    const text = binary(oneOf(random, spellings(oneOf(random, values))));
    const start = random(text.length);
    tokens.add(text.slice(start, start + 2 + random(4)));
  }
  const missing = random(3) === 0 ? oneOf(random, bytes.slice(new Set(kept).size)) : undefined;
  return [...tokens].filter((token) => missing === undefined || !token.includes(missing));
}

function texts(letters: readonly string[], lengthMax: number): readonly string[] {
  const all = [""];
  for (const text of all) if ([...text].length < lengthMax) all.push(...letters.map((letter) => text + letter));
  return all;
}

function products<T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return lists.reduce<readonly (readonly T[])[]>(
    (done, list) => done.flatMap((start) => list.map((item) => [...start, item])),
    [[]],
  );
}

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

export function subsets<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: 2 ** items.length }, (_, set) => items.filter((_, i) => ((set >> i) & 1) === 1));
}

function binary(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Of structure, numbers and words; no digit 0, so that a number has one spelling. */
const structure = '{}[],:"';
const plainCharacters = `${structure}-1235.nultrefsa`;
/** What escapes are written with, and what has to be written with them. */
const escapeBytes = '\\"bfnrtu0123456789abcdef';
const escapable = ['"', "\\", ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code))];
