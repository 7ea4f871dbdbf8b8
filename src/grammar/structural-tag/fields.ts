import type { Refusal } from "../json-schema/schema.ts";
import { type JsonObject, type JsonText, pointerTo } from "../json-text.ts";

/** Reads the members of one object of a structural tag. The first thing that is wrong is kept, and undefined returned for it. */
export class Fields {
  readonly pointer: string;
  readonly #object: JsonObject;
  readonly #report: Report;
  readonly #read = new Set<string>();

  constructor(object: JsonObject, pointer: string, report: Report) {
    this.#object = object;
    this.pointer = pointer;
    this.#report = report;
  }

  has(name: string): boolean {
    const value = this.#object.entries.get(name);
    return value !== undefined && value.kind !== "null";
  }

  value(name: string): JsonText | undefined {
    this.#read.add(name);
    return this.#object.entries.get(name) ?? this.refuse(name, "is missing");
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    return value === undefined || value.kind === "string" ? value?.value : this.refuse(name, "has to be a string");
  }

  list(name: string): readonly JsonText[] | undefined {
    const value = this.value(name);
    return value === undefined || value.kind === "array" ? value?.items : this.refuse(name, "has to be an array");
  }

  /** False where it is absent. */
  flag(name: string): boolean {
    this.#read.add(name);
    const value = this.#object.entries.get(name);
    if (value === undefined || value.kind === "null") return false;
    if (value.kind !== "boolean") this.refuse(name, "has to be a boolean");
    return value.kind === "boolean" && value.value;
  }

  /** A whole number, or undefined where it is absent. */
  number(name: string, least = 0): number | undefined {
    this.#read.add(name);
    const value = this.#object.entries.get(name);
    if (value === undefined || value.kind === "null") return undefined;
    const number = value.kind === "number" ? Number(value.text) : Number.NaN;
    if (Number.isInteger(number) && number >= least && number < 2 ** 31) return number;
    return this.refuse(name, `has to be a whole number from ${least} on`);
  }

  /** Empty where it is absent. */
  texts(name: string): readonly string[] | undefined {
    if (!this.has(name)) {
      this.#read.add(name);
      return [];
    }
    const out: string[] = [];
    for (const item of this.list(name) ?? []) {
      if (item.kind !== "string" || item.value === "") return this.refuse(name, "has to list texts that are not empty");
      out.push(item.value);
    }
    return out;
  }

  pointerOf(name: string): string {
    return pointerTo(this.pointer, name);
  }

  /** Refuses a member that nothing has asked for, since it would be ignored. */
  finish(): void {
    for (const name of this.#object.entries.keys()) if (!this.#read.has(name)) this.refuse(name, "is not known here");
  }

  refuse(keyword: string, reason: string): undefined {
    return this.#report.refuse(this.pointer, keyword, reason);
  }
}

export class Report {
  refusal: Refusal | undefined;

  refuse(pointer: string, keyword: string, reason: string): undefined {
    this.refusal ??= { pointer, keyword, reason };
    return undefined;
  }
}
