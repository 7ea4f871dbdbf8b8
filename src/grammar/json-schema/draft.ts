import type { JsonText } from "../json-text.ts";

/** The drafts in their order. A schema that names none is read as the newest, with older keywords where they have one meaning. */
export const draftNames = ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"] as const;
export type DraftName = (typeof draftNames)[number];

export type Draft = {
  readonly name: DraftName;
  /** Whether `$schema` said so. */
  readonly declared: boolean;
};

/** The draft of a document, or `undefined` where `$schema` names a draft that is too old. A metaschema of one's own counts as none. */
export function draftOf(root: JsonText): Draft | undefined {
  const named = root.kind === "object" ? root.entries.get("$schema") : undefined;
  if (named?.kind !== "string") return { name: "2020-12", declared: false };
  const uri = named.value.replace(/#$/, "").replace(/^https?:\/\//, "");
  if (/^json-schema\.org\/draft-0[0-3]\/(hyper-)?schema$/.test(uri)) return undefined;
  const tail = /^json-schema\.org\/(?:draft\/)?([a-z0-9-]+)\/(?:hyper-)?schema$/.exec(uri)?.[1];
  const known = draftNames.find((name) => name === tail);
  return known === undefined ? { name: "2020-12", declared: false } : { name: known, declared: true };
}

/** Whether a keyword that came with `since` and was dropped after `until` is one in this draft. */
export function knownIn(draft: Draft, since: DraftName, until: DraftName): boolean {
  if (!draft.declared) return true;
  const at = draftNames.indexOf(draft.name);
  return draftNames.indexOf(since) <= at && at <= draftNames.indexOf(until);
}

/** Up to draft 7 everything beside `$ref` is ignored. */
export function refHidesSiblings(draft: Draft): boolean {
  return draft.name === "draft-04" || draft.name === "draft-06" || draft.name === "draft-07";
}
