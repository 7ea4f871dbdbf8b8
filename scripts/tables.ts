/** `bun scripts/tables.ts`: writes the tables of the documentation anew that are printed from the code. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keywordTable } from "../src/grammar/json-schema/table.ts";
import { root } from "./setup.ts";

const path = join(root, "docs/json-schema.md");
writeFileSync(path, withTable(readFileSync(path, "utf8"), keywordTable()));

function withTable(text: string, table: string): string {
  return text.replace(
    /(<!-- printed by: [^>]*-->\n)[\s\S]*(<!-- end -->)/,
    (_, open, close) => `${open}${table}${close}`,
  );
}
