import type { Refusal } from "./json-schema/schema.ts";

/** Reads a grammar's text from left to right. What fails is kept as the first refusal, and returned as undefined. */
export class Cursor {
  refusal: Refusal | undefined;
  readonly #text: string;
  /** Offsets at which lines begin. */
  readonly #lines: readonly number[];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lines = [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: end }) => index + end.length)];
  }

  get offset(): number {
    return this.#at;
  }

  atEnd(): boolean {
    return this.#at === this.#text.length;
  }

  isNewline(): boolean {
    return this.peek(0) === "\n" || this.peek(0) === "\r";
  }

  /** A UTF-16 unit ahead, "" beyond the end. */
  peek(ahead: number): string {
    return this.#text[this.#at + ahead] ?? "";
  }

  /** The text of an earlier offset up to here. */
  since(offset: number): string {
    return this.#text.slice(offset, this.#at);
  }

  rest(): string {
    return this.#text.slice(this.#at);
  }

  skip(units: number): void {
    this.#at += units;
  }

  take(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false;
    this.#at += expected.length;
    return true;
  }

  /** The next UTF-16 unit, "" at the end. */
  take1(): string {
    return this.#text[this.#at++] ?? "";
  }

  /** The next code point; half a surrogate pair is refused. */
  next(): number | undefined {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) return this.fail("the text ends here");
    if (isSurrogate(point)) return this.fail("half a surrogate pair");
    this.#at += point > 0xffff ? 2 : 1;
    return point;
  }

  /** What a sticky expression matches here. */
  match(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.#at;
    const [found] = sticky.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  /** The text before `end`, which is taken too. */
  until(end: string): string | undefined {
    const at = this.#text.indexOf(end, this.#at);
    if (at < 0) return undefined;
    const found = this.#text.slice(this.#at, at);
    this.#at = at + end.length;
    return found;
  }

  /** Exactly so many hexadecimal digits, as a code point. */
  hex(digits: number): number | undefined {
    const found = this.match(/[0-9a-fA-F]+/y) ?? "";
    const point = Number.parseInt(found.slice(0, digits), 16);
    if (found.length < digits) return this.fail(`an escape needs ${digits} hexadecimal digits`);
    this.#at -= found.length - digits;
    if (point > 0x10ffff || isSurrogate(point)) return this.fail("an escape is no code point");
    return point;
  }

  /** A whole number; undefined without a refusal where there is none. */
  number(max = 0xffffffff): number | undefined {
    const digits = this.match(/[0-9]+/y);
    if (digits === undefined) return undefined;
    const number = Number(digits);
    return number <= max ? number : this.fail(`${digits} is above ${max}`);
  }

  /** Where an offset lies, as line:column in UTF-16 units. */
  place(offset = this.#at): string {
    let [line, end] = [0, this.#lines.length];
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if ((this.#lines[middle] ?? 0) <= offset) line = middle;
      else end = middle;
    }
    return `${line + 1}:${offset - (this.#lines[line] ?? 0) + 1}`;
  }

  /** Refuses what is here. */
  fail(reason: string): undefined {
    return this.refuse(this.place(), "", `cannot be read: ${reason}`);
  }

  refuse(pointer: string, keyword: string, reason: string): undefined {
    this.refusal ??= { pointer, keyword, reason };
    return undefined;
  }
}

function isSurrogate(point: number): boolean {
  return point >= 0xd800 && point <= 0xdfff;
}
