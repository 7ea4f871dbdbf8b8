import { fail, ok, type Result } from "../../generation/result.ts";
import type { SchemaDocument } from "../../generation/schema-document.ts";
import { schemaCharactersMax, schemaDepthMax } from "../../limits.ts";
import { type JsonText, readJson } from "../json-text.ts";
import { draftNamed, schemaNamed } from "./draft.ts";

/** Further schemas that references may lead to, read. */
export type Documents = {
  /** The one at an absolute URI without fragment. */
  find(address: string): OpenDocument | undefined;
  /** Whether some reference in one of them depends on the resources that led to it. */
  readonly isDynamic: boolean;
  readonly texts: readonly string[];
};

export type OpenDocument = { readonly name: string; readonly json: JsonText };

/** Which document cannot be used, and why. */
export type DocumentFault = { readonly name: string; readonly reason: string };

export const noDocuments: Documents = { find: () => undefined, isDynamic: false, texts: [] };

/** The address of a document without one: any will do, as long as no author writes it. */
export const nameless = "tenon-schema:/";

/** Reads documents, each of which is found by its name and by its own identifier. Those of `outer` are found where none of these is meant. */
export function readDocuments(
  documents: readonly SchemaDocument[],
  outer: Documents = noDocuments,
): Result<Documents, DocumentFault> {
  if (documents.length === 0) return ok(outer);
  const byAddress = new Map<string, OpenDocument>();
  for (const { name, alias, text } of documents) {
    const bounds = { charactersMax: schemaCharactersMax, depthMax: schemaDepthMax, duplicateKeys: "refuse" } as const;
    const read = readJson(text, bounds);
    if (!read.ok) return fail({ name, reason: `is no JSON: ${read.failure.message}` });
    const { root: json } = read.value;
    if (json.kind !== "object" && json.kind !== "boolean") return fail({ name, reason: "is no schema" });
    const open = { name, json };
    const address = addressOf(name, nameless);
    if (address === undefined || address === nameless) {
      return fail({ name, reason: "has a name that is no URI without a fragment" });
    }
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
    isDynamic: outer.isDynamic || documents.some(({ text }) => refersDynamically(text)),
    texts,
  });
}

/** Whether a schema's text may have a reference whose target depends on the way to it. ASCII that is escaped may be anything. */
export function refersDynamically(text: string): boolean {
  if (text.includes('"$dynamicRef"') || text.includes('"$recursiveRef"')) return true;
  return text.includes("\\u00") && /\\u00[2-7]/.test(text);
}

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
