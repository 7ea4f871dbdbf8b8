import type { JsonText } from "../json-text.ts";

/** The drafts in their order. A schema that names none is read as the newest, with older keywords where they have one meaning. */
export const draftNames = ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"] as const;
export type DraftName = (typeof draftNames)[number];

export type Draft = {
  readonly name: DraftName;
  /** Whether `$schema` said so. */
  readonly declared: boolean;
  /** The vocabularies that a metaschema of one's own names, by the last part of their address; undefined where all count. */
  readonly vocabularies?: ReadonlySet<string>;
};

export const newestDraft: Draft = { name: "2020-12", declared: false };

/** The draft that a `$schema` names; "old" for one that is too old, `undefined` for a metaschema of somebody's own. */
export function draftNamed(schema: string): Draft | "old" | undefined {
  const uri = schema.replace(/#$/, "").replace(/^https?:\/\//, "");
  if (/^json-schema\.org\/draft-0[0-3]\/(hyper-)?schema$/.test(uri)) return "old";
  const tail = /^json-schema\.org\/(?:draft\/)?([a-z0-9-]+)\/(?:hyper-)?schema$/.exec(uri)?.[1];
  const known = draftNames.find((name) => name === tail);
  return known && { name: known, declared: true };
}

/** What `$schema` says in a schema, if it is there. */
export function schemaNamed(json: JsonText): string | undefined {
  const named = json.kind === "object" ? json.entries.get("$schema") : undefined;
  return named?.kind === "string" ? named.value : undefined;
}

export function isBefore(draft: Draft, name: DraftName): boolean {
  return draftNames.indexOf(draft.name) < draftNames.indexOf(name);
}

/** Up to draft 7 everything beside `$ref` is ignored. */
export function refHidesSiblings(draft: Draft): boolean {
  return isBefore(draft, "2019-09");
}
