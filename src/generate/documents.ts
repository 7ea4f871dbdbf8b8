import { fail, type Result } from "../generation/result.ts";
import type { SchemaDocument } from "../generation/schema-document.ts";
import { type Documents, readDocuments } from "../grammar/json-schema/documents.ts";

/** The server's own schema documents. The failure is a sentence for the user. */
export function openDocuments(documents: readonly SchemaDocument[]): Result<Documents, string> {
  const read = readDocuments(documents);
  return read.ok ? read : fail(`The schema document ${read.failure.name} cannot be used: it ${read.failure.reason}.`);
}
