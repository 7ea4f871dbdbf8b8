import { fail, ok, type Result } from "../generation/result.ts";

/**
 * Strict JSON (RFC 8259) as a tree that keeps what `JSON.parse` loses: the order of keys and the text of numbers. Without
 * recursion, so that no input can exhaust the stack.
 */
export function readJson(text: string, bounds: JsonBounds): Result<JsonDocument, JsonError> {
  if (text.length > bounds.charactersMax) {
    return fail({ offset: 0, message: `JSON text has ${text.length} characters, more than ${bounds.charactersMax}` });
  }
  const reader = new Reader(text, bounds);
  const root = reader.read();
  if (root !== undefined) return ok({ text, root });
  return fail(reader.error ?? { offset: 0, message: "JSON text is empty" });
}

export type JsonBounds = {
  /** UTF-16 units. */
  readonly charactersMax: number;
  /** Nested arrays and objects. */
  readonly depthMax: number;
  /** What a key that occurs twice in one object means; `last` is what `JSON.parse` does. */
  readonly duplicateKeys: "refuse" | "last";
};

export type JsonDocument = { readonly text: string; readonly root: JsonText };

export type JsonError = {
  readonly message: string;
  /** UTF-16 units from the start of the text. */
  readonly offset: number;
};

/** A value and where it stands: `text.slice(start, end)` is its source. */
export type JsonText = { readonly start: number; readonly end: number } & (
  | { readonly kind: "null" }
  | { readonly kind: "boolean"; readonly value: boolean }
  /** `text` is the number as it was written. */
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: readonly JsonText[] }
  /** Entries in source order, keys distinct. */
  | { readonly kind: "object"; readonly entries: ReadonlyMap<string, JsonText> }
);

export type JsonObject = Extract<JsonText, { kind: "object" }>;

/** The value at an RFC 6901 pointer, `undefined` where there is none. */
export function atPointer(root: JsonText, pointer: string): JsonText | undefined {
  let at: JsonText | undefined = root;
  for (const token of pointerTokens(pointer) ?? [undefined]) {
    if (at === undefined || token === undefined) return undefined;
    at = child(at, token);
  }
  return at;
}

/** The member or item of `value` under one unescaped reference token. */
export function child(value: JsonText, token: string): JsonText | undefined {
  if (value.kind === "object") return value.entries.get(token);
  if (value.kind === "array" && /^(0|[1-9][0-9]*)$/.test(token)) return value.items[Number(token)];
  return undefined;
}

/** The source text of the value at a pointer, exactly as it was written. */
export function sliceByPointer(document: JsonDocument, pointer: string): string | undefined {
  const value = atPointer(document.root, pointer);
  return value === undefined ? undefined : document.text.slice(value.start, value.end);
}

/** The unescaped reference tokens of an RFC 6901 pointer; `undefined` if it is none. */
export function pointerTokens(pointer: string): readonly string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  const tokens = pointer.slice(1).split("/");
  return pointer.includes("~") ? tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")) : tokens;
}

/** `pointer` extended by one reference token. */
export function pointerTo(pointer: string, token: string | number): string {
  if (typeof token === "number") return `${pointer}/${token}`;
  const isPlain = !token.includes("~") && !token.includes("/");
  return `${pointer}/${isPlain ? token : token.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A container that is still open. `key` is the key whose value is read next. */
type Open =
  | { readonly kind: "array"; readonly start: number; readonly items: JsonText[] }
  | { readonly kind: "object"; readonly start: number; readonly entries: Map<string, JsonText>; key: string };

/** What a token is: for punctuation its own character, for the others the one it begins with, where a number begins with a digit. */
const token = {
  openBrace: 0x7b,
  closeBrace: 0x7d,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  comma: 0x2c,
  colon: 0x3a,
  null: 0x6e,
  true: 0x74,
  false: 0x66,
  string: 0x22,
  number: 0x30,
  end: -1,
  unknown: -2,
} as const;

const words = { [token.null]: "null", [token.true]: "true", [token.false]: "false" } as const;

class Reader {
  error: JsonError | undefined;
  readonly #text: string;
  readonly #bounds: JsonBounds;
  /** No half of a surrogate pair stands in the text itself. */
  readonly #isWellFormed: boolean;
  readonly #open: Open[] = [];
  /** The token that is looked at, and where it stands. */
  #kind: number = token.unknown;
  #start = 0;
  #end = 0;
  /** Of a string. */
  #value = "";
  #hasEscapes = false;
  /** The first backslash or control character from some place before on. */
  #special = -1;

  constructor(text: string, bounds: JsonBounds) {
    this.#text = text;
    this.#bounds = bounds;
    this.#isWellFormed = text.isWellFormed();
  }

  read(): JsonText | undefined {
    if (!this.#advance()) return undefined;
    for (;;) {
      const value = this.#begin();
      if (value === undefined) return undefined;
      if (value === "opened") continue;
      const outcome = this.#finish(value);
      if (outcome !== "more") return outcome;
    }
  }

  /** Reads a scalar or an empty container whole; another container is opened up to its first value. */
  #begin(): JsonText | "opened" | undefined {
    const [start, end] = [this.#start, this.#end];
    switch (this.#kind) {
      case token.null:
        return this.#scalar({ kind: "null", start, end });
      case token.true:
      case token.false:
        return this.#scalar({ kind: "boolean", value: this.#kind === token.true, start, end });
      case token.number:
        return this.#scalar({ kind: "number", text: this.#text.slice(start, end), start, end });
      case token.string:
        if (!this.#isWhole()) return this.#fail("a string with half a surrogate pair");
        return this.#scalar({ kind: "string", value: this.#value, start, end });
      case token.openBracket:
        return this.#opened({ kind: "array", start, items: [] });
      case token.openBrace:
        return this.#opened({ kind: "object", start, entries: new Map(), key: "" });
      default:
        return this.#fail("a value was expected");
    }
  }

  /** Gives a complete value to its container, closing as many as end with it; the root when that was the last one. */
  #finish(complete: JsonText): JsonText | "more" | undefined {
    let value = complete;
    for (;;) {
      const parent = this.#open.at(-1);
      if (parent === undefined) return this.#kind === token.end ? value : this.#fail("text after the value");
      if (parent.kind === "array") parent.items.push(value);
      else parent.entries.set(parent.key, value);
      if (this.#kind === token.comma) {
        if (!this.#advance()) return undefined;
        return parent.kind === "array" || this.#key(parent) ? "more" : undefined;
      }
      if (this.#kind !== closer(parent)) return this.#fail(`a comma or the end of the ${parent.kind} was expected`);
      this.#open.pop();
      const closed = this.#closed(parent);
      if (closed === undefined) return undefined;
      value = closed;
    }
  }

  #scalar(value: JsonText): JsonText | undefined {
    return this.#advance() ? value : undefined;
  }

  #opened(container: Open): JsonText | "opened" | undefined {
    const { depthMax } = this.#bounds;
    if (this.#open.length === depthMax) return this.#fail(`arrays and objects nested deeper than ${depthMax}`);
    if (!this.#advance()) return undefined;
    if (this.#kind === closer(container)) return this.#closed(container);
    this.#open.push(container);
    return container.kind === "array" || this.#key(container) ? "opened" : undefined;
  }

  #closed(container: Open): JsonText | undefined {
    const { start } = container;
    const end = this.#end;
    if (!this.#advance()) return undefined;
    return container.kind === "array"
      ? { kind: "array", items: container.items, start, end }
      : { kind: "object", entries: container.entries, start, end };
  }

  #key(container: Open & { kind: "object" }): true | undefined {
    if (!this.#at(token.string)) return this.#fail("a key was expected");
    const key = this.#value;
    if (!this.#isWhole()) return this.#fail("a key with half a surrogate pair");
    if (this.#bounds.duplicateKeys === "refuse" && container.entries.has(key)) {
      return this.#fail(`the key ${JSON.stringify(key)} occurs twice in one object`);
    }
    container.key = key;
    if (!this.#advance()) return undefined;
    if (!this.#at(token.colon)) return this.#fail("a colon was expected");
    return this.#advance();
  }

  #at(kind: number): boolean {
    return this.#kind === kind;
  }

  /** Whether a string has no half of a surrogate pair, which an escape may write. */
  #isWhole(): boolean {
    return (this.#isWellFormed && !this.#hasEscapes) || this.#value.isWellFormed();
  }

  /** To the next token; undefined where the text stops being JSON. */
  #advance(): true | undefined {
    const text = this.#text;
    let at = this.#end;
    let code = text.charCodeAt(at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++at);
    this.#start = at;
    this.#end = at + 1;
    this.#kind = code;
    switch (code) {
      case token.openBrace:
      case token.closeBrace:
      case token.openBracket:
      case token.closeBracket:
      case token.comma:
      case token.colon:
        return true;
      case token.string:
        return this.#string();
      case token.null:
      case token.true:
      case token.false:
        return this.#word(words[code]);
      default:
        return this.#other(code);
    }
  }

  #string(): true | undefined {
    const text = this.#text;
    const end = text.indexOf('"', this.#start + 1);
    if (end === -1 || this.#nextSpecial() < end) return this.#specialString();
    this.#hasEscapes = false;
    this.#end = end + 1;
    this.#value = text.slice(this.#start + 1, end);
    return true;
  }

  /** Where the next backslash or control character stands. */
  #nextSpecial(): number {
    if (this.#special < this.#start) {
      special.lastIndex = this.#start;
      this.#special = special.test(this.#text) ? special.lastIndex - 1 : Number.POSITIVE_INFINITY;
    }
    return this.#special;
  }

  /** A string with escapes, or none after all. */
  #specialString(): true | undefined {
    const text = this.#text;
    let at = this.#start + 1;
    this.#hasEscapes = false;
    for (;;) {
      let code = text.charCodeAt(at);
      // Neither does it go on at the end of the text, where there is no number.
      while (code >= 0x20 && code !== 0x22 && code !== 0x5c) code = text.charCodeAt(++at);
      if (code === 0x22) break;
      if (code !== 0x5c) {
        const ends = Number.isNaN(code) || code === 0x0a || code === 0x0d;
        return this.#fail(ends ? "string without an end" : "control character inside a string");
      }
      this.#hasEscapes = true;
      if (text[at + 1] !== "u") {
        if (!escapes.has(text[at + 1] ?? "")) return this.#fail("invalid escape");
        at += 2;
      } else {
        if (!/^[0-9A-Fa-f]{4}$/.test(text.slice(at + 2, at + 6))) return this.#fail("invalid \\u escape");
        at += 6;
      }
    }
    this.#end = at + 1;
    this.#value = this.#hasEscapes
      ? String(JSON.parse(text.slice(this.#start, this.#end)))
      : text.slice(this.#start + 1, at);
    return true;
  }

  #word(word: string): true {
    if (this.#text.startsWith(word, this.#start)) this.#end = this.#start + word.length;
    else this.#kind = token.unknown;
    return true;
  }

  /** A number, the end, or what is no token at all. */
  #other(code: number): true | undefined {
    numberText.lastIndex = this.#start;
    const number = numberText.exec(this.#text)?.[0];
    if (number !== undefined) {
      this.#kind = token.number;
      this.#end = this.#start + number.length;
      return /[.eE+-]$/.test(number) ? this.#fail("number without its digits") : true;
    }
    this.#kind = Number.isNaN(code) ? token.end : token.unknown;
    if (/^\/[/*]/.test(this.#text.slice(this.#start, this.#end + 1))) return this.#fail("comments are not JSON");
    return true;
  }

  #fail(message: string): undefined {
    const offset = this.#start;
    const before = this.#text.slice(0, offset).split("\n");
    this.error = { offset, message: `${message}, line ${before.length} column ${(before.at(-1) ?? "").length + 1}` };
    return undefined;
  }
}

function closer(container: Open): number {
  return container.kind === "array" ? token.closeBracket : token.closeBrace;
}

/** What may follow a backslash, beside `u`. */
const escapes = new Set('"\\/bfnrt');
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought, and a class of all others takes nine times as long.
const special = /[\\\u0000-\u001f]/g;
/** A number, or what would be one if digits followed. */
const numberText = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?/y;
