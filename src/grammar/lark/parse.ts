import { fail, ok, type Result } from "../../generation/result.ts";
import { grammarCharactersMax, grammarDepthMax, repetitionMax } from "../../limits.ts";
import type { Embedding } from "../embedding.ts";
import type { Refusal } from "../json-schema/schema.ts";
import { readJson } from "../json-text.ts";
import { Cursor } from "../text-cursor.ts";
import { commonTerminals } from "./imported.ts";
import { substringPieces } from "./substring.ts";
import type { LarkGrammar, LarkItem, LarkRule } from "./syntax.ts";

/**
 * The dialect of Lark that llguidance (its docs/syntax.md) and OpenAI's custom tools read. Refused by name: templates, priorities, imports
 * but from `common`, `%declare`, `%override`, `%extend`, and llguidance's attributes and options that are not about which texts fit.
 */
export function parseLark(text: string, tokens: Tokens): Result<LarkGrammar, Refusal> {
  if (text.length > grammarCharactersMax) {
    return fail({ pointer: "", keyword: "", reason: `is longer than ${grammarCharactersMax} characters` });
  }
  const cursor = new Cursor(text);
  const grammar = new Parser(cursor, tokens).grammar(false);
  if (grammar !== undefined && cursor.refusal === undefined) return ok(grammar);
  return fail(cursor.refusal ?? { pointer: "", keyword: "", reason: "cannot be read" });
}

type Tokens = Pick<Embedding, "tokensOf" | "tokenCount">;

class Parser {
  readonly #cursor: Cursor;
  readonly #tokens: Tokens;
  #depth = 0;

  constructor(cursor: Cursor, tokens: Tokens) {
    this.#cursor = cursor;
    this.#tokens = tokens;
  }

  /** Up to the end of the text or, `inner`, to the brace that closes a grammar inside another. */
  grammar(inner: boolean): LarkGrammar | undefined {
    const cursor = this.#cursor;
    const rules = new Map<string, LarkRule>();
    const terminals = new Map<string, LarkRule>();
    const ignored: LarkItem[] = [];
    let initialSkip = false;
    for (;;) {
      this.#space(true);
      if (cursor.atEnd()) return inner ? cursor.fail("'}' was expected") : { rules, terminals, ignored, initialSkip };
      if (inner && cursor.take("}")) return { rules, terminals, ignored, initialSkip };
      const at = cursor.place();
      const directive = cursor.match(/%[a-z_]+/y);
      switch (directive) {
        case undefined: {
          const [name, rule] = this.#definition() ?? [];
          if (name === undefined || rule === undefined) return undefined;
          const kind = isTerminal(name) ? terminals : rules;
          if (kind.has(name)) return cursor.refuse(at, name, "is defined twice");
          kind.set(name, rule);
          break;
        }
        case "%ignore": {
          this.#space(false);
          const item = this.#choice();
          if (item === undefined) return undefined;
          ignored.push(item);
          break;
        }
        case "%import":
          if (!this.#import(terminals, at)) return undefined;
          break;
        case "%llguidance": {
          const options = this.#json();
          if (options === undefined) return undefined;
          const skip = this.#options(options, at);
          if (skip === undefined) return undefined;
          initialSkip ||= skip;
          break;
        }
        default:
          return cursor.refuse(at, directive, "is not supported");
      }
    }
  }

  #definition(): readonly [string, LarkRule] | undefined {
    const cursor = this.#cursor;
    const at = cursor.place();
    // How a tree is built does not matter here.
    cursor.match(/[?!]{1,2}/y);
    const name = cursor.match(/[A-Za-z_][A-Za-z0-9_-]*/y);
    if (name === undefined) return cursor.fail("a rule, a terminal or a directive was expected");
    if (cursor.peek(0) === "{") return cursor.refuse(at, name, "is a template, which is not supported");
    if (cursor.peek(0) === ".") return cursor.refuse(at, name, "has a priority, which is not supported");
    if (cursor.peek(0) === ":" && cursor.peek(1) === ":")
      return cursor.refuse(at, name, "has a parameter, which is not supported");
    let shortest = false;
    let suffix: LarkItem | undefined;
    if (cursor.take("[")) {
      const attributes = this.#attributes(name, at);
      if (attributes === undefined) return undefined;
      ({ shortest, suffix } = attributes);
    }
    this.#space(false);
    if (!cursor.take(":")) return cursor.fail("':' was expected");
    const body = this.#choice();
    if (body === undefined) return undefined;
    this.#space(false);
    if (!cursor.atEnd() && !cursor.isNewline() && cursor.peek(0) !== "}") {
      return cursor.fail("an item or the end of the rule was expected");
    }
    const item: LarkItem = suffix === undefined ? body : { kind: "sequence", items: [body, suffix] };
    return [name, { item, shortest, at }];
  }

  /** `lazy` and `suffix` say which texts fit, `capture` only what is reported; the others cannot be enforced. */
  #attributes(
    name: string,
    at: string,
  ): { readonly shortest: boolean; readonly suffix: LarkItem | undefined } | undefined {
    const cursor = this.#cursor;
    let shortest = false;
    let suffix: LarkItem | undefined;
    do {
      this.#space(true);
      const attribute = cursor.match(/[a-z_]+/y) ?? "";
      this.#space(true);
      const hasValue = cursor.take("=");
      this.#space(true);
      if (attribute === "lazy") shortest = true;
      else if (attribute === "suffix" && hasValue) {
        suffix = this.#atom();
        if (suffix === undefined) return cursor.fail("a terminal was expected");
        shortest = true;
      } else if (attribute === "capture") cursor.match(/"[^"\n]*"/y);
      else return cursor.refuse(at, name, `has the attribute '${attribute}', which is not supported`);
      this.#space(true);
    } while (cursor.take(","));
    return cursor.take("]") ? { shortest, suffix } : cursor.fail("']' was expected");
  }

  #import(terminals: Map<string, LarkRule>, at: string): true | undefined {
    const cursor = this.#cursor;
    this.#space(false);
    const path = cursor.match(/[A-Za-z_.]+/y) ?? "";
    this.#space(false);
    if (!/^common(\.|$)/.test(path)) {
      return cursor.refuse(at, path, "is not imported from 'common', and nothing else can be");
    }
    const listed = path === "common";
    const names = listed ? cursor.match(/\([A-Z_,\s]+\)/y)?.match(/[A-Z_]+/g) : [path.replace(/^common\./, "")];
    this.#space(false);
    const alias = cursor.match(/->[ \t]*[A-Za-z_][A-Za-z0-9_]*/y)?.replace(/^->[ \t]*/, "");
    if (listed && alias !== undefined) return cursor.refuse(at, alias, "is one name for a list of terminals");
    for (const name of names ?? [""]) {
      if (!commonTerminals.has(name)) return cursor.refuse(at, name, "is no terminal of 'common'");
      const own = alias ?? name;
      const item: LarkItem = { kind: "name", name: commonName(name), at };
      const other = terminals.get(own)?.item;
      const isSame = other === undefined || (other.kind === "name" && other.name === item.name);
      if (!isSame) return cursor.refuse(at, own, "is defined twice");
      terminals.set(own, { item, shortest: false, at });
      for (const [used, rule] of commonRules()) terminals.set(used, rule);
    }
    return true;
  }

  #options(text: string, at: string): boolean | undefined {
    const options = readJson(text, { charactersMax: text.length, depthMax: 4, duplicateKeys: "refuse" });
    const entries = options.ok && options.value.root.kind === "object" ? options.value.root.entries : undefined;
    if (entries === undefined) return this.#cursor.refuse(at, "%llguidance", "has to be followed by a JSON object");
    let initialSkip = false;
    for (const [name, value] of entries) {
      if (value.kind !== "boolean") return this.#cursor.refuse(at, name, "is an option that is not true or false");
      if (name === "allow_initial_skip") initialSkip = value.value;
      // How drafts are made does not change which texts fit.
      else if (name !== "no_forcing" && value.value)
        return this.#cursor.refuse(at, name, "is an option that is not supported");
    }
    return initialSkip;
  }

  #choice(): LarkItem | undefined {
    const cursor = this.#cursor;
    const items: LarkItem[] = [];
    this.#space(this.#depth > 0);
    // A rule or a group that begins with '|' may be empty, as its first alternative is.
    this.#continues();
    do {
      const item = this.#intersection();
      if (item === undefined) return undefined;
      this.#space(this.#depth > 0);
      // The name of an alternative is for the tree.
      if (cursor.take("->")) {
        this.#space(false);
        if (cursor.match(/[a-z_][a-z0-9_]*/y) === undefined)
          return cursor.fail("the name of an alternative was expected");
        this.#space(this.#depth > 0);
      }
      items.push(item);
      this.#continues();
    } while (cursor.take("|"));
    const [first] = items;
    return first !== undefined && items.length === 1 ? first : { kind: "choice", items };
  }

  /** An alternative may begin on a new line. */
  #continues(): void {
    if (this.#depth === 0) this.#cursor.match(/(?:[ \t]|(?:\/\/|#)[^\r\n]*|\r\n|\r|\n)*(?=\|)/y);
  }

  #intersection(): LarkItem | undefined {
    const { at } = this.#here();
    const items: LarkItem[] = [];
    do {
      const item = this.#sequence();
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.#cursor.take("&"));
    const [first] = items;
    return first !== undefined && items.length === 1 ? first : { kind: "intersection", items, at };
  }

  #here(): { readonly at: string } {
    return { at: this.#cursor.place() };
  }

  #sequence(): LarkItem | undefined {
    const items: LarkItem[] = [];
    for (;;) {
      this.#space(this.#depth > 0);
      const at = this.#cursor.place();
      const negated = this.#cursor.peek(0) === "~" && this.#cursor.take("~");
      const item = this.#atom();
      if (item === undefined) {
        if (this.#cursor.refusal !== undefined) return undefined;
        if (negated) return this.#cursor.fail("a terminal was expected after '~'");
        break;
      }
      const whole: LarkItem = negated ? { kind: "complement", item, at } : item;
      const repeated = this.#repetitions(whole);
      if (repeated === undefined) return undefined;
      items.push(repeated);
    }
    const [first] = items;
    return first !== undefined && items.length === 1 ? first : { kind: "sequence", items };
  }

  #repetitions(item: LarkItem): LarkItem | undefined {
    let repeated = item;
    for (;;) {
      const bounds = this.#bounds();
      if (bounds === undefined) return this.#cursor.refusal === undefined ? repeated : undefined;
      const [min, max] = bounds;
      if ((max ?? repetitionMax) < min) return this.#cursor.fail("a repetition's maximum is below its minimum");
      repeated = { kind: "repeat", item: repeated, min, max };
    }
  }

  #bounds(): readonly [min: number, max: number | undefined] | undefined {
    const cursor = this.#cursor;
    if (cursor.take("*")) return [0, undefined];
    if (cursor.take("+")) return [1, undefined];
    if (cursor.take("?")) return [0, 1];
    if (cursor.match(/[ \t]*~[ \t]*(?=[0-9])/y) !== undefined) {
      const min = cursor.number(repetitionMax);
      if (min === undefined) return undefined;
      if (!cursor.take("..")) return [min, min];
      const max = cursor.number(repetitionMax);
      return max === undefined ? cursor.fail("a number was expected") : [min, max];
    }
    if (cursor.match(/[ \t]*\{(?=[ \t]*[0-9,])/y) === undefined) return undefined;
    this.#space(false);
    const min = cursor.number(repetitionMax);
    this.#space(false);
    if (cursor.take("}")) return min === undefined ? cursor.fail("a number was expected") : [min, min];
    if (!cursor.take(",")) return cursor.fail("',' or '}' was expected");
    this.#space(false);
    const max = cursor.number(repetitionMax);
    this.#space(false);
    return cursor.take("}") && cursor.refusal === undefined ? [min ?? 0, max] : cursor.fail("'}' was expected");
  }

  /** Undefined without a refusal: none begins here. */
  #atom(): LarkItem | undefined {
    const cursor = this.#cursor;
    const at = cursor.place();
    if (cursor.peek(0) === '"') return this.#string();
    if (cursor.peek(0) === "/" && cursor.peek(1) !== "/") return this.#pattern();
    if (cursor.take("(")) return this.#group(")");
    if (cursor.take("[")) {
      const item = this.#group("]");
      return item && { kind: "repeat", item, min: 0, max: 1 };
    }
    if (cursor.peek(0) === "<") return this.#token();
    if (cursor.peek(0) === "@") return cursor.fail("a grammar beside this one cannot be named");
    const directive = cursor.match(/%[a-z]+/y);
    if (directive === "%json") {
      const schema = this.#json();
      return schema === undefined ? undefined : { kind: "json", schema, at };
    }
    if (directive === "%regex") {
      const json = this.#json();
      if (json === undefined) return undefined;
      const pieces = substringPieces(json);
      return pieces.ok ? { kind: "substring", pieces: pieces.value } : cursor.refuse(at, "%regex", pieces.failure);
    }
    if (directive === "%lark") {
      this.#space(false);
      if (!cursor.take("{")) return cursor.fail("'{' was expected");
      const grammar = this.#nested(() => this.grammar(true), 0);
      return grammar && { kind: "lark", grammar, at };
    }
    if (directive !== undefined) return cursor.refuse(at, directive, "is not supported");
    const name = cursor.match(/[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*/y);
    if (name === undefined) return undefined;
    if (cursor.match(/\{(?![ \t]*[0-9,])/y) !== undefined)
      return cursor.refuse(at, name, "is a template, which is not supported");
    if (cursor.take("::")) return cursor.refuse(at, name, "has a parameter, which is not supported");
    return { kind: "name", name, at };
  }

  #group(end: string): LarkItem | undefined {
    const item = this.#nested(() => this.#choice(), this.#depth + 1);
    if (item === undefined) return undefined;
    return this.#cursor.take(end) ? item : this.#cursor.fail(`'${end}' was expected`);
  }

  /** Reads with another number of open groups. */
  #nested<T>(read: () => T | undefined, depth: number): T | undefined {
    if (depth > grammarDepthMax || ++this.#nesting > grammarDepthMax) {
      return this.#cursor.fail(`groups are nested deeper than ${grammarDepthMax}`);
    }
    const outside = this.#depth;
    this.#depth = depth;
    const result = read();
    if (result !== undefined && this.#depth > 0) this.#space(true);
    this.#depth = outside;
    this.#nesting--;
    return result;
  }
  #nesting = 0;

  /** `"text"`, `"text"i`, or `"a".."z"`. */
  #string(): LarkItem | undefined {
    const cursor = this.#cursor;
    const text = this.#quoted();
    if (text === undefined) return undefined;
    if (cursor.take("..")) {
      const other = this.#quoted();
      if (other === undefined) return cursor.fail("the end of a range was expected");
      const [first, ...more] = [...text].map((character) => character.codePointAt(0) ?? 0);
      const [last, ...others] = [...other].map((character) => character.codePointAt(0) ?? 0);
      if (first === undefined || last === undefined || more.length + others.length > 0 || last < first) {
        return cursor.fail("a range needs two characters in order");
      }
      return { kind: "range", first, last };
    }
    return { kind: "string", text, ignoreCase: cursor.match(/i(?![A-Za-z0-9_])/y) !== undefined };
  }

  /** JSON's escapes, and `\xHH`. */
  #quoted(): string | undefined {
    const cursor = this.#cursor;
    if (!cursor.take('"')) return undefined;
    let text = "";
    while (!cursor.take('"')) {
      if (cursor.atEnd() || cursor.isNewline()) return cursor.fail("a string has no end");
      if (!cursor.take("\\")) {
        const point = cursor.next();
        if (point === undefined) return undefined;
        text += String.fromCodePoint(point);
        continue;
      }
      const letter = cursor.take1();
      const simple = escapes.get(letter);
      if (simple === undefined && letter !== "u" && letter !== "x") return cursor.fail(`'\\${letter}' is no escape`);
      const units = simple ?? this.#unicode(letter === "u" ? 4 : 2);
      if (units === undefined) return undefined;
      text += units;
    }
    return text.isWellFormed() ? text : cursor.fail("a string has half a surrogate pair");
  }

  /** A UTF-16 unit, so that pairs can be written. */
  #unicode(digits: number): string | undefined {
    const found = this.#cursor.match(digits === 4 ? /[0-9a-fA-F]{4}/y : /[0-9a-fA-F]{2}/y);
    if (found === undefined) return this.#cursor.fail(`an escape needs ${digits} hexadecimal digits`);
    return String.fromCharCode(Number.parseInt(found, 16));
  }

  #pattern(): LarkItem | undefined {
    const cursor = this.#cursor;
    const at = cursor.place();
    const written = cursor.match(/\/(?:[^/\\\r\n]|\\[^\r\n])+\//y);
    if (written === undefined) return cursor.fail("a regular expression has no end");
    const flags = cursor.match(/[a-z]*/y) ?? "";
    const unknown = /[^imsu]/.exec(flags);
    if (unknown !== null) return cursor.refuse(at, unknown[0], "is a flag that is not supported");
    return { kind: "pattern", source: written.slice(1, -1).replaceAll("\\/", "/"), flags, at };
  }

  /** `<|name|>`, `<name>`, `<[1-5,9]>`, `<[^1]>` or `<[*]>`. */
  #token(): LarkItem | undefined {
    const cursor = this.#cursor;
    const at = cursor.place();
    const written = cursor.match(/<[^<>\s]+>/y);
    if (written === undefined) return cursor.fail("a special token was expected");
    const list = /^<\[(\^?)([0-9,-]+|\*)\]>$/.exec(written);
    if (list !== null) {
      const [, negation = "", numbers = ""] = list;
      if (numbers === "*") return { kind: "tokens", negated: true, ranges: [], at };
      const ranges = numbers.split(",").map((part): [number, number] => {
        const [first = "", last = first] = part.split("-");
        return [Number(first || Number.NaN), Number(last || Number.NaN)];
      });
      const ordered = ranges.every(([first, last]) => first <= last && last - first <= 0xffff);
      if (!ordered) return cursor.refuse(at, written, "is no list of tokens");
      if (ranges.some(([, last]) => last >= this.#tokens.tokenCount)) {
        return cursor.refuse(at, written, "names a token that this model does not have");
      }
      return { kind: "tokens", negated: negation === "^", ranges, at };
    }
    const tokens = this.#tokens.tokensOf(written);
    const token = tokens[0];
    if (token === undefined || tokens.length !== 1) {
      return cursor.refuse(at, written, `is ${tokens.length} tokens of this model, not one`);
    }
    return { kind: "tokens", negated: false, ranges: [[token, token]], at };
  }

  /** The text of the JSON value that follows. */
  #json(): string | undefined {
    const cursor = this.#cursor;
    this.#space(false);
    const start = cursor.offset;
    let open = 0;
    do {
      const piece = cursor.match(/[^[\]{}"]*(?:"(?:[^"\\\n]|\\.)*"|[[\]{}])/y);
      if (piece === undefined) return cursor.fail("a JSON object was expected");
      open += /[[{]$/.test(piece) ? 1 : /[\]}]$/.test(piece) ? -1 : 0;
    } while (open > 0);
    return cursor.since(start);
  }

  /** Spaces and comments; newlines too inside groups and between definitions. */
  #space(newlines: boolean): void {
    this.#cursor.match(newlines ? /(?:[ \t\r\n]|(?:\/\/|#)[^\r\n]*)+/y : /(?:[ \t]|(?:\/\/|#)[^\r\n]*)+/y);
  }
}

/** `_` does not count: `_WS` is a terminal, `_list` a rule. */
export function isTerminal(name: string): boolean {
  return /^_*[A-Z]/.test(name);
}

/** Imported terminals refer to others of `common`, whatever the grammar calls its own. */
function commonName(name: string): string {
  return `common.${name}`;
}

let commonKnown: ReadonlyMap<string, LarkRule> | undefined;

function commonRules(): ReadonlyMap<string, LarkRule> {
  if (commonKnown !== undefined) return commonKnown;
  const text = [...commonTerminals].map(([name, item]) => `${name}: ${item}`).join("\n");
  const parsed = parseLark(text, { tokensOf: () => [], tokenCount: 0 });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.failure));
  commonKnown = new Map(
    [...parsed.value.terminals].map(([name, rule]) => [commonName(name), { ...rule, item: renamed(rule.item) }]),
  );
  return commonKnown;
}

function renamed(item: LarkItem): LarkItem {
  switch (item.kind) {
    case "name":
      return { ...item, name: commonName(item.name) };
    case "sequence":
    case "choice":
      return { ...item, items: item.items.map(renamed) };
    case "repeat":
      return { ...item, item: renamed(item.item) };
    default:
      return item;
  }
}

const escapes = new Map([
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
