import { fail, ok, type Result } from "../../generation/result.ts";
import { grammarCharactersMax, grammarDepthMax } from "../../limits.ts";
import type { Embedding } from "../embedding.ts";
import type { NodeId } from "../ir.ts";
import type { Refusal } from "../json-schema/schema.ts";
import { type JsonText, pointerTo, readJson } from "../json-text.ts";
import { Fields, Report } from "./fields.ts";
import { type Edge, piecesOf } from "./pieces.ts";

/**
 * Structural tags: vLLM's `{structures, triggers}`, and XGrammar's tree of formats (its docs/structural_tag are the definition). A text
 * that ends a tag is kept out of free text inside it, as there, and not out of tags inside that. Free text is UTF-8 without control tokens.
 */
export function lowerStructuralTag(
  embedding: Embedding,
  text: string,
  languages: OtherLanguages,
): Result<NodeId, Refusal> {
  const bounds = { charactersMax: grammarCharactersMax, depthMax: grammarDepthMax, duplicateKeys: "refuse" } as const;
  const document = readJson(text, bounds);
  if (!document.ok) return fail({ pointer: "", keyword: "", reason: `is no JSON: ${document.failure.message}` });
  const report = new Report();
  const node = new Lowering(embedding, text, languages, report).document(document.value.root);
  if (node !== undefined && report.refusal === undefined) return ok(node);
  return fail(report.refusal ?? { pointer: "", keyword: "", reason: "cannot be read" });
}

/** The languages of other front ends that formats can hold. */
export type OtherLanguages = {
  readonly ebnf: (text: string) => Result<NodeId, Refusal>;
  readonly regex: (pattern: string) => Result<NodeId, Refusal>;
};

/** What free text around a format may not complete: the ends of the tag it stands in. */
type Surroundings = { readonly texts: readonly string[]; readonly tokens: readonly number[] };

type Tag = { readonly begin: Edge; readonly node: NodeId };

class Lowering {
  readonly #embedding: Embedding;
  readonly #text: string;
  readonly #languages: OtherLanguages;
  readonly #report: Report;
  readonly #pieces: ReturnType<typeof piecesOf>;

  constructor(embedding: Embedding, text: string, languages: OtherLanguages, report: Report) {
    this.#embedding = embedding;
    this.#text = text;
    this.#languages = languages;
    this.#report = report;
    this.#pieces = piecesOf(embedding);
  }

  document(root: JsonText): NodeId | undefined {
    const fields = this.#fields(root, "");
    if (fields === undefined) return undefined;
    if (fields.has("type") && fields.text("type") !== "structural_tag") {
      return fields.refuse("type", "has to be 'structural_tag'");
    }
    const outside = { texts: [], tokens: [] };
    const node = fields.has("format")
      ? this.#format(fields.value("format"), fields.pointerOf("format"), outside)
      : this.#structures(fields);
    fields.finish();
    return node;
  }

  /** The older form: free text, and after a trigger one of the structures that begin with it. */
  #structures(fields: Fields): NodeId | undefined {
    const triggers = fields.texts("triggers");
    const tags: Tag[] = [];
    for (const [index, item] of (fields.list("structures") ?? []).entries()) {
      const structure = this.#fields(item, pointerTo(fields.pointerOf("structures"), index));
      const begin = structure?.text("begin");
      const end = structure?.text("end");
      const content = structure === undefined ? undefined : this.#schema(structure, "schema");
      structure?.finish();
      if (begin === undefined || end === undefined || content === undefined) return undefined;
      tags.push({
        begin: { kind: "text", text: begin },
        node: this.#pieces.sequence(this.#pieces.marker(begin), content, this.#pieces.marker(end)),
      });
    }
    return triggers && this.#triggered(fields, { triggers, tags, excludes: [], needed: false, many: true });
  }

  #format(value: JsonText | undefined, pointer: string, around: Surroundings): NodeId | undefined {
    const fields = this.#fields(value, pointer);
    const type = fields?.text("type");
    if (fields === undefined || type === undefined) return undefined;
    const node = this.#ofType(type, fields, around);
    if (this.#report.refusal === undefined) fields.finish();
    return node;
  }

  #ofType(type: string, fields: Fields, around: Surroundings): NodeId | undefined {
    switch (type) {
      case "const_string": {
        const text = fields.text("value");
        return text === undefined ? undefined : this.#pieces.bytes(text);
      }
      case "json_schema":
        return this.#jsonSchema(fields);
      case "grammar":
        return this.#other(fields, "grammar", this.#languages.ebnf);
      case "regex":
        return this.#other(fields, "pattern", this.#languages.regex);
      case "any_text":
        return this.#anyText(fields, around);
      case "sequence": {
        const items = this.#elements(fields, around);
        return items && this.#pieces.sequence(...items);
      }
      case "or": {
        const items = this.#elements(fields, around);
        return items && this.#pieces.choice(items);
      }
      case "optional":
        return this.#repeated(fields, around, 0, 1);
      case "star":
        return this.#repeated(fields, around, 0, undefined);
      case "plus":
        return this.#repeated(fields, around, 1, undefined);
      case "repeat": {
        const min = fields.number("min") ?? 0;
        const max = fields.number("max", -1) ?? -1;
        if (max >= 0 && max < min) return fields.refuse("max", "is below 'min'");
        return this.#repeated(fields, around, min, max < 0 ? undefined : max);
      }
      case "tag":
        return this.#tag(fields)?.node;
      case "triggered_tags": {
        const [triggers, tags, excludes] = [fields.texts("triggers"), this.#tags(fields), fields.texts("excludes")];
        const [needed, many] = [fields.flag("at_least_one"), !fields.flag("stop_after_first")];
        if (triggers === undefined || tags === undefined || excludes === undefined) return undefined;
        return this.#triggered(fields, { triggers, tags, excludes: [...excludes, ...around.texts], needed, many });
      }
      case "tags_with_separator":
        return this.#separated(fields);
      case "dispatch":
        return this.#dispatch(fields, around);
      case "token": {
        const token = this.#token(fields, "token", fields.value("token"));
        return token === undefined ? undefined : this.#pieces.token(token);
      }
      case "exclude_token":
      case "any_tokens": {
        const except = this.#tokens(fields, "exclude_tokens");
        const limit = type === "any_tokens" ? fields.number("max_tokens") : undefined;
        if (except === undefined) return undefined;
        const any = this.#pieces.anyToken([...except, ...around.tokens]);
        return type === "any_tokens" ? this.#pieces.repeat(any, 0, limit) : any;
      }
      case "token_triggered_tags": {
        const [triggers, tags] = [this.#tokens(fields, "trigger_tokens"), this.#tags(fields)];
        const excludes = this.#tokens(fields, "exclude_tokens");
        const [needed, many] = [fields.flag("at_least_one"), !fields.flag("stop_after_first")];
        if (triggers === undefined || tags === undefined || excludes === undefined) return undefined;
        if (tags.some(({ begin }) => begin.kind !== "token" || !triggers.includes(begin.token))) {
          return fields.refuse("tags", "has a tag that begins with none of 'trigger_tokens'");
        }
        const free = this.#pieces.repeat(
          this.#pieces.anyToken([...triggers, ...excludes, ...around.tokens]),
          0,
          undefined,
        );
        return this.#pieces.among(free, this.#pieces.choice(tags.map(({ node }) => node)), needed, many);
      }
      case "token_dispatch":
        return this.#tokenDispatch(fields, around);
      default:
        return fields.refuse(type, "is no format that is known here");
    }
  }

  #jsonSchema(fields: Fields): NodeId | undefined {
    const style = fields.has("style") ? fields.text("style") : "json";
    if (style !== "json") return fields.refuse("style", `'${style}' cannot be enforced; only 'json' can`);
    const order = fields.flag("any_order") ? "any" : "schema";
    return this.#schema(fields, "json_schema", order);
  }

  #schema(fields: Fields, name: string, order?: "any" | "schema"): NodeId | undefined {
    const schema = fields.value(name);
    if (schema === undefined) return undefined;
    return this.#inside(fields, name, this.#embedding.json(this.#text.slice(schema.start, schema.end), order));
  }

  #other(fields: Fields, name: string, lower: (text: string) => Result<NodeId, Refusal>): NodeId | undefined {
    const text = fields.text(name);
    return text === undefined ? undefined : this.#inside(fields, name, lower(text));
  }

  /** A refusal inside a member is told with the member's place before its own. */
  #inside(fields: Fields, name: string, node: Result<NodeId, Refusal>): NodeId | undefined {
    if (node.ok) return node.value;
    const { pointer } = node.failure;
    const isText = pointer !== "" && !pointer.startsWith("/");
    const place = fields.pointerOf(name);
    this.#report.refusal ??= { ...node.failure, pointer: isText ? `${place} ${pointer}` : place + pointer };
    return undefined;
  }

  #anyText(fields: Fields, around: Surroundings): NodeId | undefined {
    const excludes = fields.texts("excludes");
    if (fields.has("max_tokens")) return fields.refuse("max_tokens", "cannot be enforced for text; 'max_chars' can");
    const max = fields.number("max_chars");
    if (excludes === undefined) return undefined;
    return this.#pieces.freeText([...excludes, ...around.texts], max);
  }

  #elements(fields: Fields, around: Surroundings): NodeId[] | undefined {
    const items = fields
      .list("elements")
      ?.map((item, i) => this.#format(item, pointerTo(fields.pointerOf("elements"), i), around));
    return items === undefined ? undefined : known(items);
  }

  #repeated(fields: Fields, around: Surroundings, min: number, max: number | undefined): NodeId | undefined {
    const content = this.#content(fields, around);
    return content === undefined ? undefined : this.#pieces.repeat(content, min, max);
  }

  #content(fields: Fields, around: Surroundings): NodeId | undefined {
    return this.#format(fields.value("content"), fields.pointerOf("content"), around);
  }

  #tags(fields: Fields): Tag[] | undefined {
    const tags = fields.list("tags")?.map((item, i) => {
      const tag = this.#fields(item, pointerTo(fields.pointerOf("tags"), i));
      if (tag?.has("type") && tag.text("type") !== "tag") return tag.refuse("type", "has to be 'tag'");
      const read = tag && this.#tag(tag);
      if (this.#report.refusal === undefined) tag?.finish();
      return read;
    });
    return tags === undefined ? undefined : known(tags);
  }

  #tag(fields: Fields): Tag | undefined {
    const begin = this.#edge(fields, "begin", fields.value("begin"));
    const end = fields.value("end");
    const listed = end?.kind === "array" ? end.items : end === undefined ? [] : [end];
    const ends = known(listed.map((item) => this.#edge(fields, "end", item)));
    if (begin === undefined || ends === undefined || end === undefined) return undefined;
    if (ends.length === 0) return fields.refuse("end", "has to say how the tag ends");
    const inside = {
      texts: ends.flatMap((edge) => (edge.kind === "text" && edge.text !== "" ? [edge.text] : [])),
      tokens: ends.flatMap((edge) => (edge.kind === "token" ? [edge.token] : [])),
    };
    const content = this.#content(fields, inside);
    if (content === undefined) return undefined;
    const node = this.#pieces.sequence(
      this.#pieces.edge(begin),
      content,
      this.#pieces.choice(ends.map((edge) => this.#pieces.edge(edge))),
    );
    return { begin, node };
  }

  #triggered(fields: Fields, { triggers, tags, excludes, needed, many }: TriggeredTags): NodeId | undefined {
    if (triggers.length === 0) return fields.refuse("triggers", "is empty");
    for (const { begin } of tags) {
      const matching = triggers.filter((trigger) => begin.kind === "text" && begin.text.startsWith(trigger));
      if (matching.length !== 1) {
        const text = begin.kind === "text" ? JSON.stringify(begin.text) : "a token";
        return fields.refuse("triggers", `has ${matching.length} triggers that begin ${text}; each tag needs one`);
      }
    }
    return this.#pieces.among(
      this.#pieces.freeText([...triggers, ...excludes]),
      this.#pieces.choice(tags.map(({ node }) => node)),
      needed,
      many,
    );
  }

  #separated(fields: Fields): NodeId | undefined {
    const [tags, separator] = [this.#tags(fields), fields.text("separator")];
    const [needed, many] = [fields.flag("at_least_one"), !fields.flag("stop_after_first")];
    if (tags === undefined || separator === undefined) return undefined;
    const tag = this.#pieces.choice(tags.map(({ node }) => node));
    const further = this.#pieces.sequence(this.#pieces.bytes(separator), tag);
    const all = many ? this.#pieces.sequence(tag, this.#pieces.repeat(further, 0, undefined)) : tag;
    return needed ? all : this.#pieces.repeat(all, 0, 1);
  }

  #dispatch(fields: Fields, around: Surroundings): NodeId | undefined {
    const rules = this.#rules(fields, around);
    const excludes = fields.texts("excludes");
    const loop = fields.has("loop") ? fields.flag("loop") : true;
    if (rules === undefined || excludes === undefined) return undefined;
    const texts: string[] = [];
    const nodes: NodeId[] = [];
    for (const { key, node } of rules) {
      if (key.kind !== "string" || key.value === "") return fields.refuse("rules", "begins a rule with no text");
      texts.push(key.value);
      nodes.push(this.#pieces.sequence(this.#pieces.marker(key.value), node));
    }
    return this.#pieces.among(
      this.#pieces.freeText([...texts, ...excludes, ...around.texts]),
      this.#pieces.choice(nodes),
      false,
      loop,
    );
  }

  #tokenDispatch(fields: Fields, around: Surroundings): NodeId | undefined {
    const rules = this.#rules(fields, around);
    const excludes = this.#tokens(fields, "exclude_tokens");
    const loop = fields.has("loop") ? fields.flag("loop") : true;
    if (rules === undefined || excludes === undefined) return undefined;
    const tokens: number[] = [];
    const nodes: NodeId[] = [];
    for (const { key, node } of rules) {
      const token = this.#token(fields, "rules", key);
      if (token === undefined) return undefined;
      tokens.push(token);
      nodes.push(this.#pieces.sequence(this.#pieces.token(token), node));
    }
    const free = this.#pieces.repeat(this.#pieces.anyToken([...tokens, ...excludes, ...around.tokens]), 0, undefined);
    return this.#pieces.among(free, this.#pieces.choice(nodes), false, loop);
  }

  /** Pairs of what begins a rule and its format. */
  #rules(fields: Fields, around: Surroundings): { readonly key: JsonText; readonly node: NodeId }[] | undefined {
    const rules = fields.list("rules")?.map((item, i) => {
      const [key, format, ...others] = item.kind === "array" ? item.items : [];
      if (key === undefined || format === undefined || others.length > 0) {
        return fields.refuse("rules", "has to list pairs");
      }
      const node = this.#format(format, pointerTo(pointerTo(fields.pointerOf("rules"), i), 1), around);
      return node === undefined ? undefined : { key, node };
    });
    return rules === undefined ? undefined : known(rules);
  }

  #edge(fields: Fields, name: string, value: JsonText | undefined): Edge | undefined {
    if (value === undefined) return undefined;
    if (value.kind === "string") return { kind: "text", text: value.value };
    const inner = this.#fields(value, fields.pointerOf(name));
    if (inner?.text("type") !== "token") return fields.refuse(name, "has to be a string or a token");
    const token = this.#token(inner, "token", inner.value("token"));
    inner.finish();
    return token === undefined ? undefined : { kind: "token", token };
  }

  #tokens(fields: Fields, name: string): number[] | undefined {
    if (!fields.has(name)) {
      fields.flag(name);
      return [];
    }
    const tokens = fields.list(name)?.map((item) => this.#token(fields, name, item));
    return tokens === undefined ? undefined : known(tokens);
  }

  /** A token by its number or by its text. */
  #token(fields: Fields, name: string, value: JsonText | undefined): number | undefined {
    if (value === undefined) return undefined;
    if (value.kind === "number" && /^[0-9]+$/.test(value.text)) {
      const token = Number(value.text);
      return token < this.#embedding.tokenCount
        ? token
        : fields.refuse(name, `names ${value.text}, which is no token of this model`);
    }
    if (value.kind !== "string") return fields.refuse(name, "has to be a token's number or text");
    const tokens = this.#embedding.tokensOf(value.value);
    if (tokens.length === 1) return tokens[0];
    return fields.refuse(
      name,
      `names ${JSON.stringify(value.value)}, which is ${tokens.length} tokens of this model, not one`,
    );
  }

  #fields(value: JsonText | undefined, pointer: string): Fields | undefined {
    if (value === undefined) return undefined;
    if (value.kind !== "object") return this.#report.refuse(pointer, "", "has to be an object");
    return new Fields(value, pointer, this.#report);
  }
}

type TriggeredTags = {
  readonly triggers: readonly string[];
  readonly tags: readonly Tag[];
  readonly excludes: readonly string[];
  readonly needed: boolean;
  readonly many: boolean;
};

function known<T>(items: readonly (T | undefined)[]): T[] | undefined {
  const out = items.filter((item) => item !== undefined);
  return out.length === items.length ? out : undefined;
}
