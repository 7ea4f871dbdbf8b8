import { compareDecimals, type Decimal, isWhole, readDecimal } from "../decimal.ts";
import type { JsonObject, JsonText } from "../json-text.ts";
import type { Limit, Range } from "./schema.ts";

/** The keywords of one schema, read as the types they have to have; `refuse` hears of those that are not. */
export class Fields {
  readonly #entries: JsonObject["entries"];
  readonly #refuse: (keyword: string, reason: string) => void;

  constructor(entries: JsonObject["entries"], refuse: (keyword: string, reason: string) => void) {
    this.#entries = entries;
    this.#refuse = refuse;
  }

  get(keyword: string): JsonText | undefined {
    return this.#entries.get(keyword);
  }

  has(keyword: string): boolean {
    return this.#entries.has(keyword);
  }

  hasSome(keywords: ReadonlySet<string>): boolean {
    for (const keyword of this.#entries.keys()) if (keywords.has(keyword)) return true;
    return false;
  }

  /** A string or an array of strings. */
  names(keyword: string): readonly string[] | undefined {
    const value = this.get(keyword);
    if (value === undefined) return undefined;
    return value.kind === "string" ? [value.value] : [...(this.strings(keyword) ?? [])];
  }

  strings(keyword: string): ReadonlySet<string> | undefined {
    const value = this.get(keyword);
    if (value === undefined) return undefined;
    const items = value.kind === "array" ? value.items : [value];
    const strings = items.flatMap((item) => (item.kind === "string" ? [item.value] : []));
    if (value.kind !== "array" || strings.length < items.length) this.#refuse(keyword, "has to be an array of strings");
    return new Set(strings);
  }

  string(keyword: string): string | undefined {
    const value = this.get(keyword);
    if (value?.kind === "string") return value.value;
    if (value !== undefined) this.#refuse(keyword, "has to be a string");
    return undefined;
  }

  boolean(keyword: string): boolean {
    const value = this.get(keyword);
    if (value !== undefined && value.kind !== "boolean") this.#refuse(keyword, "has to be true or false");
    return value?.kind === "boolean" && value.value;
  }

  map(keyword: string): JsonObject["entries"] | undefined {
    const value = this.get(keyword);
    if (value?.kind === "object") return value.entries;
    if (value !== undefined) this.#refuse(keyword, "has to be an object");
    return undefined;
  }

  low(): Limit | undefined {
    return this.#limit("minimum", "exclusiveMinimum", 1);
  }

  high(): Limit | undefined {
    return this.#limit("maximum", "exclusiveMaximum", -1);
  }

  multipleOf(): Decimal | undefined {
    const factor = this.#number("multipleOf");
    if (factor === undefined || factor.digits > 0n) return factor;
    this.#refuse("multipleOf", "has to be more than zero");
    return undefined;
  }

  /** undefined where the two keywords demand nothing. */
  range(minKeyword: string, maxKeyword: string, minDefault = 0): Range | undefined {
    const min = this.#count(minKeyword) ?? minDefault;
    const most = this.#count(maxKeyword);
    const max = most === undefined || most >= unreachableCount ? undefined : most;
    if (min === 0 && max === undefined) return undefined;
    if (min > countMax) this.#refuse(minKeyword, `is more than ${countMax}`);
    return { min, max };
  }

  decimal(text: string, keyword: string): Decimal | undefined {
    const decimal = readDecimal(text);
    if (decimal === undefined) this.#refuse(keyword, "is a number with too many digits");
    return decimal;
  }

  /** `direction` is 1 for lower and -1 for upper limits. */
  #limit(inclusive: string, exclusive: string, direction: 1 | -1): Limit | undefined {
    const closed = this.#number(inclusive);
    const value = this.get(exclusive);
    // Draft 4 says with a boolean whether the other keyword's limit is open.
    if (value?.kind === "boolean") return closed && { value: closed, exclusive: value.value };
    const open = this.#number(exclusive);
    if (open !== undefined && (closed === undefined || compareDecimals(open, closed) * direction >= 0)) {
      return { value: open, exclusive: true };
    }
    return closed && { value: closed, exclusive: false };
  }

  #number(keyword: string): Decimal | undefined {
    const value = this.get(keyword);
    if (value === undefined) return undefined;
    if (value.kind === "number") return this.decimal(value.text, keyword);
    this.#refuse(keyword, "has to be a number");
    return undefined;
  }

  #count(keyword: string): number | undefined {
    const number = this.#number(keyword);
    if (number === undefined) return undefined;
    if (isWhole(number) && number.digits >= 0n) return Number(number.digits) * 10 ** number.exponent;
    this.#refuse(keyword, "has to be a whole number, zero or more");
    return undefined;
  }
}

/** No output has so many characters, so none has so many of anything: a text here is shorter. */
const unreachableCount = 2 ** 31;

/** The largest count of a schema: its successor still crosses to the engine, whose word for "none" is one more. */
const countMax = 0xfffffffd;
