import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, ok, type Result } from "../generation/result.ts";
import type { SchemaDocument } from "../generation/schema-document.ts";
import { schemaDocumentsCharactersMax, schemaDocumentsMax } from "../limits.ts";

/**
 * Every `*.json` under a folder, called by its path from there, with `/` between the parts, and by its file URI. The failure is a sentence for
 * the user.
 */
export function readDocumentFolder(folder: string): Result<readonly SchemaDocument[], string> {
  const documents: SchemaDocument[] = [];
  let characters = 0;
  let path = folder;
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.name.endsWith(".json") || entry.isDirectory()) continue;
      path = join(entry.parentPath, entry.name);
      const text = utf8.decode(readFileSync(path));
      characters += text.length;
      if (documents.length === schemaDocumentsMax)
        return fail(`The folder of schema documents ${folder} holds more than ${schemaDocumentsMax} files.`);
      if (characters > schemaDocumentsCharactersMax)
        return fail(`The schema documents in ${folder} have more than ${schemaDocumentsCharactersMax} characters.`);
      const name = relative(folder, path).split(sep).map(encodeURIComponent).join("/");
      documents.push({ name, alias: pathToFileURL(resolve(path)).href, text });
    }
  } catch (error) {
    return fail(
      `The schema document ${path} cannot be read as UTF-8 text: ${error instanceof Error ? error.message : error}.`,
    );
  }
  // Whatever order the disk has them in.
  return ok(documents.sort((a, b) => (a.name < b.name ? -1 : 1)));
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
