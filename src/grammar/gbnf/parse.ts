import { fail, ok, type Result } from "../../generation/result.ts";
import { grammarCharactersMax, grammarDepthMax, repetitionMax } from "../../limits.ts";
import type { Embedding } from "../embedding.ts";
import type { Refusal } from "../json-schema/schema.ts";
import { codePoints, invert } from "../regex/code-points.ts";
import {
  anyCharacter,
  choice,
  type Expression,
  empty,
  type Rule,
  type Rules,
  repeat,
  sequence,
} from "../rules/expression.ts";
import { Cursor } from "../text-cursor.ts";

/**
 * llama.cpp's GBNF, all of it (llama-grammar.cpp is its only definition). Ours beyond it: names may contain `_`, and a repetition may be
 * as large as 2³¹. Refused, where llama.cpp takes it without sense: a class without members, and a range that ends before it begins.
 */
export function parseGbnf(embedding: Embedding, text: string): Result<Rules, Refusal> {
  if (text.length > grammarCharactersMax) {
    return fail({ pointer: "", keyword: "", reason: `is longer than ${grammarCharactersMax} characters` });
  }
  const cursor = new Cursor(text);
  const rules = new Parser(embedding, cursor).rules();
  return rules === undefined || cursor.refusal !== undefined
    ? fail(cursor.refusal ?? { pointer: "", keyword: "", reason: "cannot be read" })
    : ok(rules);
}

class Parser {
  readonly #embedding: Embedding;
  readonly #cursor: Cursor;
  #depth = 0;

  constructor(embedding: Embedding, cursor: Cursor) {
    this.#embedding = embedding;
    this.#cursor = cursor;
  }

  rules(): Rules | undefined {
    const rules = new Map<string, Rule>();
    this.#space(true);
    while (!this.#cursor.atEnd()) {
      const at = this.#cursor.place();
      const name = this.#name();
      if (name === undefined) return this.#cursor.fail("a rule's name was expected");
      this.#space(false);
      if (!this.#cursor.take("::=")) return this.#cursor.fail("'::=' was expected");
      this.#space(true);
      const expression = this.#alternates();
      if (expression === undefined) return undefined;
      if (!this.#cursor.atEnd() && !this.#cursor.isNewline()) {
        return this.#cursor.fail("an item or the end of the rule was expected");
      }
      // As in llama.cpp, the last definition counts.
      rules.set(name, { expression, at });
      this.#space(true);
    }
    return rules;
  }

  #alternates(): Expression | undefined {
    const items: Expression[] = [];
    do {
      if (items.length > 0) this.#space(true);
      const item = this.#sequence();
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.#cursor.take("|"));
    return choice(items);
  }

  #sequence(): Expression | undefined {
    const items: Expression[] = [];
    for (;;) {
      const item = this.#item();
      if (item === undefined) return this.#cursor.refusal === undefined ? sequence(items) : undefined;
      this.#space(this.#depth > 0);
      const repeated = this.#repetitions(item);
      if (repeated === undefined) return undefined;
      items.push(repeated);
    }
  }

  /** Undefined without a refusal: no item begins here. */
  #item(): Expression | undefined {
    const cursor = this.#cursor;
    const at = cursor.place();
    if (cursor.take('"')) return this.#literal();
    if (cursor.take("[")) return this.#class();
    if (cursor.take(".")) return anyCharacter;
    if (cursor.take("(")) return this.#group();
    const negated = cursor.take("!");
    if (cursor.take("<")) return this.#token(at, negated);
    if (negated) return cursor.fail("a token was expected after '!'");
    const name = this.#name();
    return name === undefined ? undefined : { kind: "rule", name, at };
  }

  #group(): Expression | undefined {
    if (this.#depth === grammarDepthMax) return this.#cursor.fail(`groups are nested deeper than ${grammarDepthMax}`);
    this.#depth++;
    this.#space(true);
    const inner = this.#alternates();
    if (inner === undefined) return undefined;
    this.#depth--;
    return this.#cursor.take(")") ? inner : this.#cursor.fail("')' was expected");
  }

  #literal(): Expression | undefined {
    let text = "";
    while (!this.#cursor.take('"')) {
      const point = this.#character("a literal");
      if (point === undefined) return undefined;
      text += String.fromCodePoint(point);
    }
    return text === "" ? empty : { kind: "text", text };
  }

  #class(): Expression | undefined {
    const cursor = this.#cursor;
    const negated = cursor.take("^");
    const ranges: (readonly [first: number, last: number])[] = [];
    while (!cursor.take("]")) {
      const first = this.#character("a class");
      if (first === undefined) return undefined;
      let last = first;
      if (cursor.peek(0) === "-" && cursor.peek(1) !== "]") {
        cursor.take("-");
        const end = this.#character("a class");
        if (end === undefined) return undefined;
        if (end < first) return cursor.fail("a range ends before it begins");
        last = end;
      }
      ranges.push([first, last]);
    }
    if (ranges.length === 0) return cursor.fail("a class has no members");
    const members = codePoints(ranges);
    return { kind: "class", points: negated ? invert(members) : members };
  }

  #character(inside: string): number | undefined {
    const cursor = this.#cursor;
    if (cursor.atEnd()) return cursor.fail(`${inside} has no end`);
    if (!cursor.take("\\")) return cursor.next();
    const letter = cursor.take1();
    const digits = escapeDigits.get(letter);
    if (digits !== undefined) return cursor.hex(digits);
    return simpleEscapes.get(letter)?.codePointAt(0) ?? cursor.fail(`'\\${letter}' is no escape`);
  }

  /** After `<`: `[id]>` or the rest of a token's text. */
  #token(at: string, negated: boolean): Expression | undefined {
    const cursor = this.#cursor;
    let token: number | undefined;
    if (cursor.take("[")) {
      token = cursor.number();
      if (token === undefined || !cursor.take("]>")) return cursor.fail("a token is written '<[id]>'");
      if (token >= this.#embedding.tokenCount) return cursor.refuse(at, `<[${token}]>`, "is no token of this model");
    } else {
      const text = cursor.until(">");
      if (text === undefined) return cursor.fail("a token has no '>'");
      const tokens = this.#embedding.tokensOf(`<${text}>`);
      token = tokens[0];
      if (token === undefined || tokens.length !== 1) {
        return cursor.refuse(at, `<${text}>`, `is ${tokens.length} tokens of this model, not one`);
      }
    }
    const node = this.#embedding.builder.node(
      negated ? { kind: "any_token", except: [token] } : { kind: "token", token },
    );
    return { kind: "node", node };
  }

  /** llama.cpp lets them follow each other; each applies to what is before it. */
  #repetitions(item: Expression): Expression | undefined {
    const cursor = this.#cursor;
    let repeated = item;
    for (;;) {
      const bounds = this.#bounds();
      if (bounds === undefined) return cursor.refusal === undefined ? repeated : undefined;
      if ((bounds[1] ?? repetitionMax) < bounds[0]) return cursor.fail("a repetition's maximum is below its minimum");
      repeated = repeat(repeated, ...bounds);
      this.#space(this.#depth > 0);
    }
  }

  #bounds(): readonly [min: number, max: number | undefined] | undefined {
    const cursor = this.#cursor;
    if (cursor.take("*")) return [0, undefined];
    if (cursor.take("+")) return [1, undefined];
    if (cursor.take("?")) return [0, 1];
    if (!cursor.take("{")) return undefined;
    this.#space(this.#depth > 0);
    const min = cursor.number(repetitionMax);
    if (min === undefined) return cursor.fail("a repetition begins with a number");
    this.#space(this.#depth > 0);
    if (cursor.take("}")) return [min, min];
    if (!cursor.take(",")) return cursor.fail("',' or '}' was expected");
    this.#space(this.#depth > 0);
    const max = cursor.number(repetitionMax);
    if (cursor.refusal !== undefined) return undefined;
    this.#space(this.#depth > 0);
    return cursor.take("}") ? [min, max] : cursor.fail("'}' was expected");
  }

  #name(): string | undefined {
    return this.#cursor.match(/[A-Za-z0-9_-]+/y);
  }

  /** Spaces and comments; newlines too where they do not end the rule. */
  #space(newlines: boolean): void {
    const space = newlines ? /(?:[ \t\r\n]|#[^\r\n]*)+/y : /(?:[ \t]|#[^\r\n]*)+/y;
    this.#cursor.match(space);
  }
}

/** Hexadecimal digits after the letter of an escape. */
const escapeDigits = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

const simpleEscapes = new Map([
  ["t", "\t"],
  ["r", "\r"],
  ["n", "\n"],
  ["\\", "\\"],
  ['"', '"'],
  ["[", "["],
  ["]", "]"],
]);
