import type { Decimal } from "../decimal.ts";
import { type JsonObject, type JsonText, pointerTo } from "../json-text.ts";
import { type Draft, draftOf, refHidesSiblings } from "./draft.ts";
import { Fields } from "./fields.ts";
import { keywordOf } from "./keywords.ts";
import { type References, references } from "./references.ts";
import {
  type Applicator,
  type ArrayLayer,
  type Conjunct,
  everyType,
  type Finite,
  type ObjectLayer,
  type Refusal,
  type Schema,
  types,
} from "./schema.ts";

/**
 * The sub-schemas of one document, each read once, on demand. The first keyword that cannot be enforced becomes `refusal`;
 * what is read after it no longer matters.
 */
export class SchemaReader {
  refusal: Refusal | undefined;
  readonly #root: JsonText;
  readonly #draft: Draft;
  readonly #assertFormats: boolean;
  readonly #conjuncts = { schema: new Map<JsonText, Conjunct>(), literal: new Map<JsonText, Conjunct>() };
  readonly #schemas: (Schema | undefined)[] = [];
  #references: References | undefined;
  #ids = 0;

  constructor(root: JsonText, draft: Draft, options: { readonly assertFormats: boolean }) {
    this.#root = root;
    this.#draft = draft;
    this.#assertFormats = options.assertFormats;
  }

  conjunct(json: JsonText, pointer: string, kind: Conjunct["kind"] = "schema"): Conjunct {
    const known = this.#conjuncts[kind].get(json);
    if (known !== undefined) return known;
    const conjunct = { id: this.#ids++, kind, json, pointer };
    this.#conjuncts[kind].set(json, conjunct);
    return conjunct;
  }

  schema(conjunct: Conjunct): Schema {
    const known = this.#schemas[conjunct.id];
    if (known !== undefined) return known;
    const schema = conjunct.kind === "literal" ? this.#readLiteral(conjunct) : this.#readSchema(conjunct);
    this.#schemas[conjunct.id] = schema;
    return schema;
  }

  refuse(pointer: string, keyword: string, reason: string): void {
    this.refusal ??= { pointer, keyword, reason };
  }

  #readLiteral(conjunct: Conjunct): Schema {
    const { json, pointer } = conjunct;
    const part = (item: JsonText, token: string | number) => this.conjunct(item, pointerTo(pointer, token), "literal");
    switch (json.kind) {
      case "array": {
        const prefix = json.items.map(part);
        const items = { min: prefix.length, max: prefix.length };
        return { ...anything, silent: false, types: types.array, items, array: { prefix, rest: undefined } };
      }
      case "object": {
        const declared = new Map([...json.entries].map(([key, item]) => [key, part(item, key)]));
        const object = { declared, rest: this.conjunct(nothing, pointer), declares: true, speaks: true };
        return { ...anything, silent: false, types: types.object, object, required: [...declared.keys()] };
      }
      default: {
        const fields = new Fields(new Map(), (keyword, reason) => this.refuse(pointer, keyword, reason));
        return { ...anything, silent: false, finite: [this.#finite("const", [json], pointer, fields)] };
      }
    }
  }

  #readSchema(conjunct: Conjunct): Schema {
    const { json, pointer } = conjunct;
    if (json.kind === "boolean") return json.value ? anything : { ...anything, silent: false, types: 0 };
    if (json.kind !== "object") {
      this.refuse(pointer, "", "has to be an object or a boolean");
      return anything;
    }
    const draft = draftOf(json);
    // Only a resource of its own, one with an identifier, can be in another draft; elsewhere `$schema` says nothing.
    const isResource = json.entries.has("$id") || json.entries.has("id");
    if (isResource && (draft === undefined || (draft.declared && draft.name !== this.#draft.name))) {
      this.refuse(pointer, "$schema", "names another draft than the document");
    }
    const reference = json.entries.get("$ref");
    if (reference !== undefined && refHidesSiblings(this.#draft)) {
      return { ...anything, applicators: this.#reference(conjunct, reference) };
    }
    const fields = new Fields(json.entries, (keyword, reason) => this.refuse(pointer, keyword, reason));
    const typed = this.#types(fields, pointer);
    const finite = this.#finites(fields, pointer);
    const left = finite.reduce((sum, values) => sum & typesOf(values), typed.types);
    this.#refuseUnenforced(json.entries, pointer, left);
    const demands = {
      low: fields.low(),
      high: fields.high(),
      length: fields.range("minLength", "maxLength"),
      items: fields.range("minItems", "maxItems"),
      array: this.#arrayLayer(fields, pointer),
      object: this.#objectLayer(fields, pointer),
    };
    const required = [...(fields.strings("required") ?? [])];
    const silent =
      typed.types === everyType &&
      !typed.whole &&
      finite.length + required.length === 0 &&
      Object.values(demands).every((demand) => demand === undefined);
    return { ...typed, ...demands, finite, required, silent, applicators: this.#applicators(conjunct, json.entries) };
  }

  /** Refuses keywords that would constrain a value of the types that are left. */
  #refuseUnenforced(entries: JsonObject["entries"], pointer: string, left: number): void {
    for (const [name, value] of entries) {
      const keyword = keywordOf(name, this.#draft);
      if (keyword?.status !== "refused" || keyword.harmless?.(value, entries) === true) continue;
      if ((left & (keyword.of === "any" ? everyType : types[keyword.of])) === 0) continue;
      if (name === "format" && !this.#assertFormats) continue;
      const named = name === "format" && value.kind === "string" ? `${JSON.stringify(value.value)} ` : "";
      this.refuse(pointer, name, `${named}cannot be enforced yet`);
    }
  }

  #types(fields: Fields, pointer: string): Pick<Schema, "types" | "whole" | "plain"> {
    const names = fields.names("type");
    if (names === undefined) return { types: everyType, whole: false, plain: false };
    let sum = 0;
    for (const name of names) {
      const type = typeNames.get(name);
      if (type === undefined) this.refuse(pointer, "type", `${JSON.stringify(name)} is no JSON type`);
      sum |= type ?? 0;
    }
    const whole = names.has("integer") && !names.has("number");
    return { types: sum, whole, plain: whole && this.#draft.name === "draft-04" };
  }

  #finites(fields: Fields, pointer: string): readonly Finite[] {
    const finite: Finite[] = [];
    const values = fields.get("enum");
    if (values?.kind === "array") finite.push(this.#finite("enum", values.items, pointer, fields));
    else if (values !== undefined) this.refuse(pointer, "enum", "has to be an array");
    const value = fields.get("const");
    if (value !== undefined && keywordOf("const", this.#draft) !== undefined) {
      finite.push(this.#finite("const", [value], pointer, fields));
    }
    return finite;
  }

  #finite(keyword: Finite["keyword"], values: readonly JsonText[], pointer: string, fields: Fields): Finite {
    const numbers = new Map<string, Decimal>();
    const arrays: Conjunct[] = [];
    const objects: Conjunct[] = [];
    const found = { types: 0, strings: new Set<string>(), arrays, objects };
    const at = pointerTo(pointer, keyword);
    for (const [i, value] of values.entries()) {
      const place = keyword === "enum" ? pointerTo(at, i) : at;
      if (value.kind === "null") found.types |= types.null;
      else if (value.kind === "boolean") found.types |= value.value ? types.true : types.false;
      else if (value.kind === "string") found.strings.add(value.value);
      else if (value.kind === "array") found.arrays.push(this.conjunct(value, place, "literal"));
      else if (value.kind === "object") found.objects.push(this.conjunct(value, place, "literal"));
      else {
        const number = fields.decimal(value.text, keyword);
        if (number !== undefined) numbers.set(`${number.digits}e${number.exponent}`, number);
      }
    }
    return { keyword, ...found, numbers: [...numbers.values()] };
  }

  #arrayLayer(fields: Fields, pointer: string): ArrayLayer | undefined {
    const items = fields.get("items");
    const named = keywordOf("prefixItems", this.#draft) === undefined ? undefined : fields.get("prefixItems");
    if (items?.kind === "array") {
      if (named !== undefined || (this.#draft.declared && this.#draft.name === "2020-12")) {
        this.refuse(pointer, "items", "has to be a schema; 'prefixItems' takes the array");
      }
      const prefix = this.#parts(items, pointer, "items");
      return { prefix, rest: this.#part(fields.get("additionalItems"), pointer, "additionalItems") };
    }
    if (items === undefined && named === undefined) return undefined;
    const prefix = named === undefined ? [] : this.#parts(named, pointer, "prefixItems");
    return { prefix, rest: this.#part(items, pointer, "items") };
  }

  #objectLayer(fields: Fields, pointer: string): ObjectLayer | undefined {
    const properties = fields.get("properties");
    const rest = this.#part(fields.get("additionalProperties"), pointer, "additionalProperties");
    const speaks = rest !== undefined || fields.has("unevaluatedProperties");
    if (properties === undefined && !speaks) return undefined;
    const declared = new Map<string, Conjunct>();
    if (properties?.kind === "object") {
      const at = pointerTo(pointer, "properties");
      for (const [key, json] of properties.entries) declared.set(key, this.conjunct(json, pointerTo(at, key)));
    } else if (properties !== undefined) {
      this.refuse(pointer, "properties", "has to be an object");
    }
    return { declared, rest, declares: properties !== undefined, speaks };
  }

  #applicators(conjunct: Conjunct, entries: JsonObject["entries"]): readonly Applicator[] {
    return [...entries].flatMap(([keyword, value]): readonly Applicator[] => {
      switch (keyword) {
        case "$ref":
          return this.#reference(conjunct, value);
        case "anyOf":
          return [{ kind: "any", keyword, parts: this.#parts(value, conjunct.pointer, keyword) }];
        // A single branch is no choice; several have been refused.
        case "oneOf":
        case "allOf":
          return [{ kind: "all", keyword, parts: this.#parts(value, conjunct.pointer, keyword) }];
        default:
          return [];
      }
    });
  }

  #reference({ json, pointer }: Conjunct, value: JsonText): readonly Applicator[] {
    this.#references ??= references(this.#root, this.#draft);
    const target = value.kind === "string" ? this.#references.resolve(json, value.value) : undefined;
    if (target !== undefined) {
      return [{ kind: "all", keyword: "$ref", parts: [this.conjunct(target.json, target.pointer)] }];
    }
    const named = value.kind === "string" ? JSON.stringify(value.value) : `a ${value.kind}`;
    this.refuse(pointer, "$ref", `${named} leads to nothing inside this document`);
    return [];
  }

  #part(json: JsonText | undefined, pointer: string, keyword: string): Conjunct | undefined {
    return json && this.conjunct(json, pointerTo(pointer, keyword));
  }

  #parts(value: JsonText, pointer: string, keyword: string): readonly Conjunct[] {
    const at = pointerTo(pointer, keyword);
    if (value.kind === "array") return value.items.map((json, i) => this.conjunct(json, pointerTo(at, i)));
    this.refuse(pointer, keyword, "has to be an array of schemas");
    return [];
  }
}

const anything: Schema = {
  types: everyType,
  whole: false,
  plain: false,
  finite: [],
  low: undefined,
  high: undefined,
  length: undefined,
  items: undefined,
  array: undefined,
  object: undefined,
  required: [],
  applicators: [],
  silent: true,
};

/** The schema `false`, for where one is needed that nobody wrote. */
const nothing: JsonText = { kind: "boolean", value: false, start: 0, end: 0 };

const typeNames: ReadonlyMap<string, number> = new Map([
  ["null", types.null],
  ["boolean", types.true | types.false],
  ["number", types.number],
  ["integer", types.number],
  ["string", types.string],
  ["array", types.array],
  ["object", types.object],
]);

function typesOf({ types: scalars, numbers, strings, arrays, objects }: Finite): number {
  return (
    scalars |
    (numbers.length > 0 ? types.number : 0) |
    (strings.size > 0 ? types.string : 0) |
    (arrays.length > 0 ? types.array : 0) |
    (objects.length > 0 ? types.object : 0)
  );
}
