import { type JsonText, pointerTo } from "../json-text.ts";
import { draftNamed, newestDraft, schemaNamed } from "./draft.ts";
import { keywordOf } from "./keywords.ts";

/** A keyword of a schema and what becomes of it. One that its draft does not know never constrains: an annotation. */
export type KeywordUse = {
  readonly pointer: string;
  readonly keyword: string;
  readonly status: "enforced" | "annotation";
};

/** Every keyword of a document that is no schema's value, in the order of the text. What is refused, lowerSchema says. */
export function keywordsOf(root: JsonText): readonly KeywordUse[] {
  const named = schemaNamed(root);
  const draft = named === undefined ? newestDraft : draftNamed(named);
  const uses: KeywordUse[] = [];
  const pending: Place[] = [{ json: root, pointer: "" }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { json, pointer } = place;
    if (json.kind !== "object") continue;
    const below: Place[] = [];
    for (const [keyword, value] of json.entries) {
      const known = keywordOf(keyword, typeof draft === "object" ? draft : newestDraft);
      uses.push({ pointer, keyword, status: known?.status ?? "annotation" });
      if (known?.holds !== undefined) below.push(...schemasIn(value, pointerTo(pointer, keyword), known.holds));
    }
    pending.push(...below.reverse());
  }
  return uses;
}

type Place = { readonly json: JsonText; readonly pointer: string };

/** The schemas in a keyword's value. Older drafts let some keywords hold one or several. */
function schemasIn(value: JsonText, pointer: string, holds: "schema" | "schemas" | "map"): readonly Place[] {
  if (value.kind === "array") return value.items.map((json, i) => ({ json, pointer: pointerTo(pointer, i) }));
  if (holds === "map" && value.kind === "object") {
    return [...value.entries].map(([name, json]) => ({ json, pointer: pointerTo(pointer, name) }));
  }
  return [{ json: value, pointer }];
}
