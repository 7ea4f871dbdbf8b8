import { Environment } from "@huggingface/jinja";
import type { JsonText } from "../grammar/json-text.ts";

/** What a template can be given. `Json` is a value whose order of keys and digits of numbers have to survive. */
export type TemplateValue =
  | undefined
  | null
  | boolean
  | number
  | string
  | Json
  | readonly TemplateValue[]
  | { readonly [key: string]: TemplateValue };

export class Json {
  readonly root: JsonText;
  constructor(root: JsonText) {
    this.root = root;
  }
}

/** A value as the template engine holds it. */
export type RuntimeValue = ReturnType<Environment["set"]>;

/** The engine has no other door for values than a variable, and reorders and rounds what comes through it whole. */
export function runtimeValue(value: unknown): RuntimeValue {
  if (value instanceof Json) return runtimeJson(value.root);
  if (Array.isArray(value)) return arrayOf(value.map(runtimeValue));
  if (typeof value === "object" && value !== null) {
    return objectOf(
      Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, runtimeValue(item)]])),
    );
  }
  return scalar(value);
}

function runtimeJson(json: JsonText): RuntimeValue {
  switch (json.kind) {
    case "null":
      return scalar(null);
    case "boolean":
    case "string":
      return scalar(json.value);
    case "number":
      return numberOf(json.text);
    case "array":
      return arrayOf(json.items.map(runtimeJson));
    case "object":
      return objectOf([...json.entries].map(([key, item]) => [key, runtimeJson(item)]));
  }
}

export function scalar(value: unknown): RuntimeValue {
  return new Environment().set("value", value);
}

export function arrayOf(items: readonly RuntimeValue[]): RuntimeValue {
  const array = scalar([]);
  if (Array.isArray(array.value)) array.value.push(...items);
  return array;
}

function objectOf(entries: readonly (readonly [string, RuntimeValue])[]): RuntimeValue {
  const object = scalar({});
  if (object.value instanceof Map) for (const [key, item] of entries) object.value.set(key, item);
  return object;
}

/** A number that prints as it was written, also where a double would print it otherwise (`1.0`, `12345678901234567890`). */
function numberOf(text: string): RuntimeValue {
  const number = Number(text);
  const value = scalar(number);
  if (JSON.stringify(number) === text) return value;
  return Object.assign(value, { value: new ExactNumber(number, text), toString: () => text });
}

/** Computes as its double, prints as its text; `toJSON` is what the engine's `tojson` comes to. */
class ExactNumber extends Number {
  readonly #text: string;
  constructor(value: number, text: string) {
    super(value);
    this.#text = text;
  }
  override toString(): string {
    return this.#text;
  }
  toJSON(): unknown {
    return JSON.rawJSON(this.#text);
  }
}
