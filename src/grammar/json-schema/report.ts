import { type JsonObject, type JsonText, pointerTo } from "../json-text.ts";
import { type Draft, draftNamed, newestDraft, refHidesSiblings, schemaNamed } from "./draft.ts";
import { formats } from "./formats.ts";
import { keywordOf } from "./keywords.ts";

/** A keyword of a schema and what becomes of it. One that its draft does not know never constrains: an annotation. */
export type KeywordUse = {
  readonly pointer: string;
  readonly keyword: string;
  readonly status: "enforced" | "annotation";
};

/** Every keyword of a document that is no schema's value, in the order of the text. What is refused, lowerSchema says. */
export function keywordsOf(root: JsonText): readonly KeywordUse[] {
  const uses: KeywordUse[] = [];
  const pending: Place[] = [{ json: root, pointer: "", draft: newestDraft, constrains: true }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { json, pointer, constrains } = place;
    if (json.kind !== "object") continue;
    const draft = draftOf(json, place.draft);
    const below: Place[] = [];
    for (const [keyword, value] of json.entries) {
      const known = keywordOf(keyword, draft);
      const enforced = constrains && known?.status === "enforced" && hasEffect(keyword, value, json.entries, draft);
      uses.push({ pointer, keyword, status: enforced ? "enforced" : "annotation" });
      if (known?.holds === undefined) continue;
      // What definitions hold constrains where something refers to it.
      const inside = { draft, constrains: constrains && (enforced || known.holds === "map") };
      below.push(...schemasIn(value, pointerTo(pointer, keyword), known.holds, inside));
    }
    pending.push(...below.reverse());
  }
  return uses;
}

/** The draft of a schema, which may name one other than that around it. */
function draftOf(json: JsonText, outer: Draft): Draft {
  const named = draftNamed(schemaNamed(json) ?? "");
  return typeof named === "object" ? named : outer;
}

/** Whether a keyword says something beside the others of its schema. */
function hasEffect(keyword: string, value: JsonText, entries: JsonObject["entries"], draft: Draft): boolean {
  if (entries.has("$ref") && refHidesSiblings(draft)) return keyword === "$ref" || keyword === "definitions";
  if (keyword === "format") return value.kind === "string" && formats.has(value.value);
  if (keyword === "additionalItems") return entries.get("items")?.kind === "array";
  const partner = partners.get(keyword);
  return partner === undefined || entries.has(partner);
}

/** Keywords that say something only beside others. */
const partners: ReadonlyMap<string, string> = new Map([
  ["then", "if"],
  ["else", "if"],
  ["minContains", "contains"],
  ["maxContains", "contains"],
  ["nullable", "type"],
]);

type Place = Inside & { readonly json: JsonText; readonly pointer: string };

type Inside = { readonly draft: Draft /** Not where it is part of an annotation. */; readonly constrains: boolean };

/** The schemas in a keyword's value. Older drafts let some keywords hold one or several. */
function schemasIn(
  value: JsonText,
  pointer: string,
  holds: "schema" | "schemas" | "map",
  inside: Inside,
): readonly Place[] {
  if (value.kind === "array") {
    return value.items.map((json, i) => ({ ...inside, json, pointer: pointerTo(pointer, i) }));
  }
  if (holds === "map" && value.kind === "object") {
    return [...value.entries].map(([name, json]) => ({ ...inside, json, pointer: pointerTo(pointer, name) }));
  }
  return [{ ...inside, json: value, pointer }];
}
