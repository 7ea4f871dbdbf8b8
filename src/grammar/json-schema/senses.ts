import type { JsonText } from "../json-text.ts";
import type { Draft } from "./draft.ts";
import { type Keyword, keywords } from "./keywords.ts";
import type { References } from "./references.ts";

/**
 * What schemas say, whatever they are called and described as: two that are written alike but for annotations, and mean the same by where
 * they stand, have one sense. What is told apart may still be equal; what is not, is.
 *
 * A sense is the number of a mark, of a text, or of a pair of senses: a list is what comes before its last item, and that one.
 */
export class Senses {
  readonly #references: References;
  readonly #known = new Map<JsonText, number>();
  readonly #pairs = new Map<number, number>();
  readonly #texts = new Map<string, number>();
  /** What a schema of each draft begins with: the draft says which keywords count. */
  readonly #drafts = new Map<Draft | undefined, number>();
  #count = marksCount;

  constructor(references: References) {
    this.#references = references;
  }

  schema(json: JsonText): number {
    const known = this.#known.get(json);
    if (known !== undefined) return known;
    const sense = json.kind === "object" ? this.#written(json.entries, json) : this.literal(json);
    this.#known.set(json, sense);
    return sense;
  }

  /** Of a value that stands for itself. */
  literal(json: JsonText): number {
    switch (json.kind) {
      case "null":
        return marks.null;
      case "boolean":
        return json.value ? marks.true : marks.false;
      case "number":
        return this.#pair(marks.number, this.#text(json.text));
      case "string":
        return this.#text(json.value);
      case "array":
        return this.#items(json.items, (item) => this.literal(item));
      case "object":
        return this.#members(json.entries, (item) => this.literal(item));
      default:
        return json satisfies never;
    }
  }

  #written(entries: ReadonlyMap<string, JsonText>, json: JsonText): number {
    let list = this.#begun(this.#references.draftOf(json));
    let refers = this.#references.isDynamic;
    for (const [name, value] of entries) {
      const keyword = speaking.get(name);
      if (keyword === undefined) continue;
      const { mark, holds } = keyword;
      refers ||= keyword.refers;
      list = this.#pair(this.#pair(list, mark), holds === undefined ? this.literal(value) : this.#inside(value, holds));
    }
    return refers ? this.#pair(list, this.#text(this.#references.baseOf(json))) : list;
  }

  /** Of the value of a keyword that holds schemas. Older drafts let some keywords hold one or several. */
  #inside(value: JsonText, holds: NonNullable<Keyword["holds"]>): number {
    if (value.kind === "array") return this.#items(value.items, (item) => this.schema(item));
    if (holds !== "map" || value.kind !== "object") return this.schema(value);
    return this.#members(value.entries, (item) => this.schema(item));
  }

  #items(items: readonly JsonText[], senseOf: (item: JsonText) => number): number {
    let list: number = marks.array;
    for (const item of items) list = this.#pair(list, senseOf(item));
    return list;
  }

  #members(entries: ReadonlyMap<string, JsonText>, senseOf: (item: JsonText) => number): number {
    let list: number = marks.object;
    for (const [name, item] of entries) list = this.#pair(this.#pair(list, this.#text(name)), senseOf(item));
    return list;
  }

  #begun(draft: Draft | undefined): number {
    const known = this.#drafts.get(draft);
    if (known !== undefined) return known;
    this.#drafts.set(draft, this.#count);
    return this.#count++;
  }

  #pair(first: number, second: number): number {
    const key = first * sensesMax + second;
    const known = this.#pairs.get(key);
    if (known !== undefined) return known;
    this.#pairs.set(key, this.#count);
    return this.#count++;
  }

  #text(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, this.#count);
    return this.#count++;
  }
}

const marks = { null: 0, true: 1, false: 2, number: 3, array: 4, object: 5 } as const;
const references = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
/** Keywords that say nothing of a value by themselves. */
const silent = new Set(["$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$defs", "definitions"]);

/** The keywords that tell schemas apart, each with a mark of its own. */
const speaking = new Map(
  [...keywords]
    .filter(([name, { status }]) => status !== "annotation" && !silent.has(name))
    .map(
      ([name, { holds }], i) => [name, { mark: marks.object + 1 + i, holds, refers: references.has(name) }] as const,
    ),
);

/** The first sense that is no mark; and more than the documents of one schema have, few enough that two make an exact whole number. */
const marksCount = marks.object + 1 + speaking.size;
const sensesMax = 2 ** 26;
