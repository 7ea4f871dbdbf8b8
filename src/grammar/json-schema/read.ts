import type { Decimal } from "../decimal.ts";
import { type JsonDocument, type JsonObject, type JsonText, pointerTo } from "../json-text.ts";
import type { Language } from "../regex/language.ts";
import { noFlags, patternLanguage } from "../regex/pattern.ts";
import { applicatorsOf, type Parts, pathFrom, references } from "./applicators.ts";
import { Conjuncts } from "./conjuncts.ts";
import { type Documents, noDocuments } from "./documents.ts";
import { type Draft, isBefore, refHidesSiblings } from "./draft.ts";
import { decimalKey, isPlain } from "./facts.ts";
import { Fields } from "./fields.ts";
import { formatLanguage, formats } from "./formats.ts";
import { keywordOf, speaks } from "./keywords.ts";
import { References } from "./references.ts";
import {
  type ArrayLayer,
  type Conjunct,
  type Contains,
  everyType,
  type Finite,
  type ObjectLayer,
  type Refusal,
  type Schema,
  type Text,
  types,
} from "./schema.ts";
import { Senses } from "./senses.ts";
import { Texts } from "./texts.ts";

export type ReaderOptions = {
  readonly assertFormats: boolean;
  readonly closed: boolean;
  readonly documents?: Documents;
  /** UTF-16 units of all patterns together; beyond, there is no verdict. */
  readonly patternCharactersMax?: number;
};

/**
 * The sub-schemas of one document, each read once, on demand. The first keyword that cannot be enforced becomes `refusal`;
 * what is read after it no longer matters.
 */
export class SchemaReader {
  refusal: Refusal | undefined;
  readonly texts = new Texts();
  /** The schema `true`. */
  readonly anything: Conjunct;
  /** Whether objects are closed by policy somewhere. */
  readonly closes: boolean;
  readonly #assertFormats: boolean;
  readonly #conjuncts: Conjuncts;
  readonly #references: References;
  readonly #schemas: (Schema | undefined)[] = [];
  readonly #languages = new Map<string, Language | undefined>();
  #patternCharactersLeft: number;

  constructor({ root, text }: JsonDocument, options: ReaderOptions) {
    this.closes = options.closed;
    this.#assertFormats = options.assertFormats;
    this.#patternCharactersLeft = options.patternCharactersMax ?? Number.POSITIVE_INFINITY;
    this.#references = new References(root, text, options.documents ?? noDocuments);
    this.#conjuncts = new Conjuncts(new Senses(this.#references));
    this.anything = this.conjunct(always, "");
  }

  conjunct(json: JsonText, pointer: string): Conjunct {
    const scope = this.#references.isDynamic ? this.#conjuncts.enter([], this.#references.baseOf(json)) : noScope;
    return this.#conjuncts.of({ json, pointer, kind: "schema", negated: false, closes: this.closes, scope });
  }

  /** What fails where the conjunct holds. Nothing inside it closes objects. */
  not(conjunct: Conjunct): Conjunct {
    return this.#conjuncts.of({ ...conjunct, negated: !conjunct.negated, closes: false });
  }

  /** What a conjunct's schema says, negated or not. */
  schema(conjunct: Conjunct): Schema {
    const known = this.#schemas[conjunct.id];
    if (known !== undefined) return known;
    const schema = conjunct.negated
      ? this.schema(this.not(conjunct))
      : conjunct.kind === "literal"
        ? this.#readLiteral(conjunct)
        : this.#readSchema(conjunct);
    this.#schemas[conjunct.id] = schema;
    return schema;
  }

  /** Whether it is plain that the conjunct holds for everything, or for nothing; undefined for others. */
  verdict(conjunct: Conjunct): boolean | undefined {
    const { silent, applicators, types: left } = this.schema(conjunct);
    if (left === 0) return conjunct.negated;
    return silent && applicators.length === 0 ? !conjunct.negated : undefined;
  }

  refuse(pointer: string, keyword: string, reason: string, more: Pick<Refusal, "exhausted"> = {}): void {
    this.refusal ??= { pointer, keyword, reason, ...more };
  }

  #part(parent: Conjunct, json: JsonText, pointer: string, kind: Conjunct["kind"] = "schema"): Conjunct {
    const scope = this.#references.isDynamic
      ? this.#conjuncts.enter(parent.scope, this.#references.baseOf(json))
      : parent.scope;
    return this.#conjuncts.of({ json, pointer, kind, negated: false, closes: parent.closes, scope });
  }

  #readLiteral(conjunct: Conjunct): Schema {
    const { json, pointer } = conjunct;
    const part = (item: JsonText, token: string | number) =>
      this.#part(conjunct, item, pointerTo(pointer, token), "literal");
    switch (json.kind) {
      case "array": {
        const prefix = json.items.map(part);
        const items = { min: prefix.length, max: prefix.length };
        const array = { prefix, rest: undefined, evaluates: false };
        return { ...anySchema, silent: false, types: types.array, items, array };
      }
      case "object": {
        const declared = new Map([...json.entries].map(([key, item]) => [key, part(item, key)]));
        const rest = this.#part(conjunct, never, pointer);
        const object = { declared, patterns: [], rest, closes: false, speaks: true, evaluates: false };
        return { ...anySchema, silent: false, types: types.object, object, required: [...declared.keys()] };
      }
      default: {
        const fields = new Fields(new Map(), (keyword, reason) => this.refuse(pointer, keyword, reason));
        return { ...anySchema, silent: false, finite: [this.#finite("const", [json], conjunct, fields)] };
      }
    }
  }

  #readSchema(conjunct: Conjunct): Schema {
    const { json, pointer } = conjunct;
    if (json.kind === "boolean") return json.value ? anySchema : { ...anySchema, silent: false, types: 0 };
    if (json.kind !== "object") {
      this.refuse(pointer, "", "has to be an object or a boolean");
      return anySchema;
    }
    const draft = this.#references.draftOf(json);
    if (draft === undefined) {
      this.refuse(pointer, "$schema", "names a draft older than 4");
      return anySchema;
    }
    const refuse = (keyword: string, reason: string) => this.refuse(pointer, keyword, reason);
    if (draft.vocabularies === undefined && isTypeOnly(json.entries)) {
      const typed = this.#types(new Fields(json.entries, refuse), draft, refuse);
      return { ...anySchema, ...typed, silent: typed.types === everyType && !typed.whole };
    }
    const fields = new Fields(knownEntries(json.entries, draft), refuse);
    const parts: Parts = {
      part: (item, ...path) => this.#part(conjunct, item, pathFrom(pointer, path)),
      target: (keyword, value) => this.#target(conjunct, keyword, value),
      not: (part) => this.not(part),
      refuse,
    };
    if (fields.has("$ref") && refHidesSiblings(draft)) {
      return { ...anySchema, applicators: references(fields, parts) };
    }
    for (const keyword of identifying) fields.string(keyword);
    const typed = this.#types(fields, draft, refuse);
    const finite = this.#finites(fields, conjunct);
    const one = (keyword: string) => {
      const value = fields.get(keyword);
      return value && parts.part(value, keyword);
    };
    const schema = {
      types: typed.types,
      whole: typed.whole,
      plain: typed.plain,
      finite,
      low: fields.low(),
      high: fields.high(),
      multipleOf: fields.multipleOf(),
      length: fields.range("minLength", "maxLength"),
      items: fields.range("minItems", "maxItems"),
      array: this.#arrayLayer(fields, draft, parts),
      contains: containsOf(fields, draft, parts),
      unique: fields.boolean("uniqueItems") ? pointer : undefined,
      unevaluatedItems: one("unevaluatedItems"),
      members: fields.range("minProperties", "maxProperties"),
      object: this.#objectLayer(fields, conjunct, parts),
      names: one("propertyNames"),
      unevaluatedMembers: one("unevaluatedProperties"),
      texts: this.#textsOf(fields, refuse),
      required: [...(fields.strings("required") ?? [])],
      applicators: applicatorsOf(fields, parts),
      silent: false,
    };
    schema.silent = isSilent(schema);
    return schema;
  }

  #types(fields: Fields, draft: Draft, refuse: Parts["refuse"]): Pick<Schema, "types" | "whole" | "plain"> {
    const names = fields.names("type");
    const isNullable = fields.boolean("nullable");
    if (names === undefined) return { types: everyType, whole: false, plain: false };
    let sum = isNullable ? types.null : 0;
    for (const name of names) {
      const type = typeNames.get(name);
      if (type === undefined) refuse("type", `${JSON.stringify(name)} is no JSON type`);
      sum |= type ?? 0;
    }
    const whole = names.includes("integer") && !names.includes("number");
    return { types: sum, whole, plain: whole && draft.name === "draft-04" };
  }

  #finites(fields: Fields, conjunct: Conjunct): readonly Finite[] {
    const finite: Finite[] = [];
    const values = fields.get("enum");
    if (values?.kind === "array") finite.push(this.#finite("enum", values.items, conjunct, fields));
    else if (values !== undefined) this.refuse(conjunct.pointer, "enum", "has to be an array");
    const value = fields.get("const");
    if (value !== undefined) finite.push(this.#finite("const", [value], conjunct, fields));
    return finite;
  }

  #finite(keyword: Finite["keyword"], values: readonly JsonText[], conjunct: Conjunct, fields: Fields): Finite {
    const numbers = new Map<string, Decimal>();
    const arrays: Conjunct[] = [];
    const objects: Conjunct[] = [];
    const found = { types: 0, strings: new Set<string>(), arrays, objects };
    const at = pointerTo(conjunct.pointer, keyword);
    for (const [i, value] of values.entries()) {
      const literal = () => this.#part(conjunct, value, keyword === "enum" ? pointerTo(at, i) : at, "literal");
      if (value.kind === "null") found.types |= types.null;
      else if (value.kind === "boolean") found.types |= value.value ? types.true : types.false;
      else if (value.kind === "string") found.strings.add(value.value);
      else if (value.kind === "array") found.arrays.push(literal());
      else if (value.kind === "object") found.objects.push(literal());
      else {
        const number = fields.decimal(value.text, keyword);
        if (number !== undefined) numbers.set(decimalKey(number), number);
      }
    }
    return { keyword, ...found, numbers: [...numbers.values()] };
  }

  /** `pattern` and `format`, as far as they constrain. */
  #textsOf(fields: Fields, refuse: Parts["refuse"]): readonly Text[] {
    const texts: Text[] = [];
    const pattern = fields.string("pattern");
    if (pattern !== undefined) {
      const language = this.#pattern(pattern, "pattern", refuse);
      if (language !== undefined) texts.push({ language, lengthMax: undefined });
    }
    const name = fields.string("format");
    const format = this.#assertFormats && name !== undefined ? formats.get(name) : undefined;
    if (format !== undefined) {
      const classes = unicodeClasses([format.source, ...(format.never ?? [])].join(""));
      if (!this.#spend(classes * unicodeClassCharacters, "format")) return texts;
      texts.push({ language: formatLanguage(format), lengthMax: format.lengthMax });
    }
    return texts;
  }

  #pattern(source: string, keyword: string, refuse: Parts["refuse"]): Language | undefined {
    if (this.#languages.has(source)) return this.#languages.get(source);
    if (!this.#spend(source.length + unicodeClasses(source) * unicodeClassCharacters, keyword)) return undefined;
    const language = patternLanguage(this.texts.languages, source, noFlags, "search");
    if (!language.ok) refuse(keyword, `${JSON.stringify(source)} ${language.failure}`);
    this.#languages.set(source, language.ok ? language.value : undefined);
    return language.ok ? language.value : undefined;
  }

  /** Counts the characters of patterns. */
  #spend(characters: number, keyword: string): boolean {
    this.#patternCharactersLeft -= characters;
    if (this.#patternCharactersLeft >= 0) return true;
    this.refuse("", keyword, "has more to read than little time allows", { exhausted: true });
    return false;
  }

  #arrayLayer(fields: Fields, draft: Draft, parts: Parts): ArrayLayer | undefined {
    const items = fields.get("items");
    const named = fields.get("prefixItems");
    const all = (value: JsonText, keyword: string) => {
      if (value.kind === "array") return value.items.map((json, i) => parts.part(json, keyword, i));
      parts.refuse(keyword, "has to be an array of schemas");
      return [];
    };
    if (items?.kind === "array") {
      if (named !== undefined || (draft.declared && draft.name === "2020-12")) {
        parts.refuse("items", "has to be a schema; 'prefixItems' takes the array");
      }
      const rest = fields.get("additionalItems");
      const others = rest && [parts.part(rest, "additionalItems")];
      return { prefix: all(items, "items"), rest: others, evaluates: true };
    }
    if (items === undefined && named === undefined) return undefined;
    const prefix = named === undefined ? [] : all(named, "prefixItems");
    return { prefix, rest: items && [parts.part(items, "items")], evaluates: true };
  }

  #objectLayer(fields: Fields, conjunct: Conjunct, parts: Parts): ObjectLayer | undefined {
    const properties = fields.map("properties");
    const patterns = fields.map("patternProperties");
    const others = fields.get("additionalProperties");
    const rest = others && parts.part(others, "additionalProperties");
    const speaks = conjunct.closes && (rest !== undefined || fields.has("unevaluatedProperties"));
    if (properties === undefined && patterns === undefined && rest === undefined && !speaks) return undefined;
    const declared = new Map<string, Conjunct>();
    for (const [key, json] of properties ?? []) declared.set(key, parts.part(json, "properties", key));
    const matched = [...(patterns ?? [])].flatMap(([source, json]) => {
      const keys = this.#pattern(source, "patternProperties", parts.refuse);
      return keys === undefined ? [] : [{ keys, member: parts.part(json, "patternProperties", source) }];
    });
    return {
      declared,
      patterns: matched,
      rest,
      closes: conjunct.closes && properties !== undefined,
      speaks,
      evaluates: true,
    };
  }

  #target(conjunct: Conjunct, keyword: string, value: JsonText): Conjunct | undefined {
    const { json, pointer } = conjunct;
    const target =
      value.kind === "string" ? this.#references.resolve(json, keyword, value.value, conjunct.scope) : undefined;
    if (target !== undefined) return this.#part(conjunct, target.json, target.pointer);
    const named = value.kind === "string" ? JSON.stringify(value.value) : `a ${value.kind}`;
    this.refuse(pointer, keyword, `${named} leads to no schema that is given`);
    return undefined;
  }
}

/** Classes that are looked up in the runtime's tables of all characters. */
function unicodeClasses(source: string): number {
  return source.match(/\\[pP]\{|\(\?[a-z]*i/g)?.length ?? 0;
}

/** As much work as a pattern of so many UTF-16 units. */
const unicodeClassCharacters = 1500;

function containsOf(fields: Fields, draft: Draft, parts: Parts): Contains | undefined {
  const item = fields.get("contains");
  if (item === undefined) return undefined;
  const count = fields.range("minContains", "maxContains", 1) ?? { min: 0, max: undefined };
  return { item: parts.part(item, "contains"), count, evaluates: !isBefore(draft, "2020-12") };
}

/** Whether no keyword of its own constrains a value. */
function isSilent(schema: Schema): boolean {
  const { types: left, whole, finite, texts } = schema;
  return left === everyType && !whole && finite.length + texts.length === 0 && isPlain(schema);
}

/** Whether a schema says nothing but a type, as most do. */
function isTypeOnly(entries: JsonObject["entries"]): boolean {
  for (const name of entries.keys()) if (name !== "type" && speaks(name)) return false;
  return true;
}

/** The keywords that the draft knows. */
function knownEntries(entries: JsonObject["entries"], draft: Draft): JsonObject["entries"] {
  for (const name of entries.keys()) {
    if (keywordOf(name, draft) !== undefined) continue;
    return new Map([...entries].filter(([keyword]) => keywordOf(keyword, draft) !== undefined));
  }
  return entries;
}

const anySchema: Schema = {
  types: everyType,
  whole: false,
  plain: false,
  finite: [],
  low: undefined,
  high: undefined,
  multipleOf: undefined,
  length: undefined,
  texts: [],
  items: undefined,
  array: undefined,
  contains: undefined,
  unique: undefined,
  unevaluatedItems: undefined,
  members: undefined,
  object: undefined,
  required: [],
  names: undefined,
  unevaluatedMembers: undefined,
  applicators: [],
  silent: true,
};

/** What names a schema or its draft, and so has to be a string. Not the `id` of draft 4, where authors have lost the `properties` around it. */
const identifying = ["$schema", "$id", "$anchor", "$dynamicAnchor"];

/** The schemas `true` and `false`, for where one is needed that nobody wrote. */
const always: JsonText = { kind: "boolean", value: true, start: 0, end: 0 };
const never: JsonText = { kind: "boolean", value: false, start: 0, end: 0 };
const noScope: readonly string[] = [];

const typeNames: ReadonlyMap<string, number> = new Map([
  ["null", types.null],
  ["boolean", types.true | types.false],
  ["number", types.number],
  ["integer", types.number],
  ["string", types.string],
  ["array", types.array],
  ["object", types.object],
]);
