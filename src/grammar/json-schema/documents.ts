import { fail, ok, type Result } from "../../generation/result.ts";
import type { SchemaDocument } from "../../generation/schema-document.ts";
import { schemaCharactersMax, schemaDepthMax } from "../../limits.ts";
import { type JsonText, readJson } from "../json-text.ts";
import { draftNamed, schemaNamed } from "./draft.ts";

/** Further schemas that references may lead to, read. */
export type Documents = {
  /** The one at an absolute URI without fragment. */
  find(address: string): OpenDocument | undefined;
  /** What is inside may have an address of its own. */
  readonly all: readonly OpenDocument[];
  /** Whether some reference in one of them depends on the resources that led to it. */
  readonly isDynamic: boolean;
  readonly texts: readonly string[];
};

export type OpenDocument = { readonly name: string; readonly address: string; readonly json: JsonText };

/** Which document cannot be used, and why. */
export type DocumentFault = { readonly name: string; readonly reason: string };

export const noDocuments: Documents = { find: () => undefined, all: [], isDynamic: false, texts: [] };

/** The address of a document without one: any will do, as long as no author writes it. */
export const nameless = "tenon-schema:/";

/** Reads documents, each of which is found by its name and by its own identifier. Those of `outer` are found where none of these is meant. */
export function readDocuments(
  documents: readonly SchemaDocument[],
  outer: Documents = noDocuments,
): Result<Documents, DocumentFault> {
  if (documents.length === 0) return ok(outer);
  const byAddress = new Map<string, OpenDocument>();
  const all: OpenDocument[] = [];
  for (const { name, alias, text } of documents) {
    const bounds = { charactersMax: schemaCharactersMax, depthMax: schemaDepthMax, duplicateKeys: "refuse" } as const;
    const read = readJson(text, bounds);
    if (!read.ok) return fail({ name, reason: `is no JSON: ${read.failure.message}` });
    const { root: json } = read.value;
    if (json.kind !== "object" && json.kind !== "boolean") return fail({ name, reason: "is no schema" });
    const address = addressOf(name, nameless);
    if (address === undefined || address === nameless) {
      return fail({ name, reason: "has a name that is no URI without a fragment" });
    }
    const open = { name, address, json };
    all.push(open);
    for (const each of [address, alias, identifierOf(json, address)]) {
      if (each === undefined) continue;
      const other = byAddress.get(each);
      if (other !== undefined && other !== open) return fail({ name, reason: `has the address of '${other.name}'` });
      byAddress.set(each, open);
    }
  }
  const texts = [...documents.map(({ text }) => text), ...outer.texts];
  return ok({
    find: (address) => byAddress.get(address) ?? outer.find(address),
    all: [...all, ...outer.all],
    isDynamic: outer.isDynamic || documents.some(({ text }) => marksOf(text).dynamic),
    texts,
  });
}

/** What a schema's text may have, as far as keys show it that begin with a dollar. */
export type Marks = {
  /** References whose target depends on the way to them. */
  readonly dynamic: boolean;
  /** Parts with an identifier or an anchor, beside the `id` of draft 4. */
  readonly identifiers: boolean;
  /** Schemas that name their draft. */
  readonly drafts: number;
};

export function marksOf(text: string): Marks {
  // ASCII that is escaped may be anything.
  if (text.includes("\\") && /\\u00[2-7]/.test(text)) {
    return { dynamic: true, identifiers: true, drafts: Number.POSITIVE_INFINITY };
  }
  const found = { dynamic: 0, identifiers: 0, drafts: 0 };
  for (let at = text.indexOf("$"); at !== -1; at = text.indexOf("$", at + 1)) {
    for (const [key, mark] of marks) if (text.startsWith(key, at)) found[mark]++;
  }
  return { dynamic: found.dynamic > 0, identifiers: found.identifiers > 0, drafts: found.drafts };
}

const marks = [
  ['$dynamicRef"', "dynamic"],
  ['$recursiveRef"', "dynamic"],
  ['$id"', "identifiers"],
  ['$anchor"', "identifiers"],
  ['$dynamicAnchor"', "identifiers"],
  ['$schema"', "drafts"],
] as const satisfies readonly (readonly [key: string, mark: keyof Marks])[];

function identifierOf(json: JsonText, address: string): string | undefined {
  if (json.kind !== "object") return undefined;
  const draft = draftNamed(schemaNamed(json) ?? "");
  const id = json.entries.get(draft !== "old" && draft?.name === "draft-04" ? "id" : "$id");
  return id?.kind === "string" ? addressOf(id.value, address) : undefined;
}

/** Undefined for what is no URI, or names only a part of a document. */
function addressOf(uri: string, base: string): string | undefined {
  const url = URL.parse(uri, base);
  return url === null || url.hash !== "" ? undefined : url.href.replace(/#$/, "");
}
