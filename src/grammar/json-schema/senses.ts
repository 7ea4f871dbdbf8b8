import type { JsonText } from "../json-text.ts";
import type { Draft } from "./draft.ts";
import { keywords } from "./keywords.ts";
import type { References } from "./references.ts";

/**
 * What schemas say, whatever they are called and described as: two that are written alike but for annotations, and mean the same by where
 * they stand, have one sense. What is told apart may still be equal; what is not, is.
 */
export class Senses {
  readonly #references: References;
  readonly #known = new Map<JsonText, number>();
  readonly #ids = new Map<string, number>();
  readonly #drafts = new Map<Draft | undefined, number>();

  constructor(references: References) {
    this.#references = references;
  }

  schema(json: JsonText): number {
    const known = this.#known.get(json);
    if (known !== undefined) return known;
    const sense = this.#idOf(json.kind === "object" ? this.#written(json.entries, json) : literal(json));
    this.#known.set(json, sense);
    return sense;
  }

  /** Of a value that stands for itself. */
  literal(json: JsonText): number {
    return this.#idOf(`=${literal(json)}`);
  }

  #written(entries: ReadonlyMap<string, JsonText>, json: JsonText): string {
    // The draft says which keywords count.
    let text = `{${this.#draftId(this.#references.draftOf(json))}`;
    let refers = this.#references.isDynamic;
    for (const [name, value] of entries) {
      const keyword = keywords.get(name);
      if (keyword === undefined || keyword.status === "annotation" || silent.has(name)) continue;
      refers ||= references.has(name);
      text += `,${name}:`;
      text += keyword.holds === undefined ? literal(value) : this.#inside(value, keyword.holds);
    }
    return refers ? `${text} ${this.#references.baseOf(json)}` : text;
  }

  /** Of the value of a keyword that holds schemas. Older drafts let some keywords hold one or several. */
  #inside(value: JsonText, holds: "schema" | "schemas" | "map"): string {
    if (value.kind === "array") return `[${value.items.map((item) => this.schema(item)).join()}]`;
    if (holds !== "map" || value.kind !== "object") return `${this.schema(value)}`;
    let text = "{";
    for (const [name, item] of value.entries) text += `${name.length}:${name}${this.schema(item)},`;
    return text;
  }

  #draftId(draft: Draft | undefined): number {
    const id = this.#drafts.get(draft) ?? this.#drafts.size;
    this.#drafts.set(draft, id);
    return id;
  }

  #idOf(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = this.#ids.size;
    this.#ids.set(text, id);
    return id;
  }
}

/** A value's text without whitespace. */
function literal(json: JsonText): string {
  switch (json.kind) {
    case "null":
      return "null";
    case "boolean":
      return json.value ? "true" : "false";
    case "number":
      return json.text;
    case "string":
      return `"${json.value.length}:${json.value}`;
    case "array":
      return `[${json.items.map(literal).join()}]`;
    case "object": {
      let text = "{";
      for (const [name, item] of json.entries) text += `${name.length}:${name}${literal(item)},`;
      return `${text}}`;
    }
    default:
      return json satisfies never;
  }
}

const references = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
/** Keywords that say nothing of a value by themselves. */
const silent = new Set(["$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$defs", "definitions"]);
