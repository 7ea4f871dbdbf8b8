import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { keywordOf } from "./keywords.ts";
import { keywordTable } from "./table.ts";

/** The metaschemas that ajv carries: every keyword of a draft is a property of its metaschema. */
const folder = join(import.meta.dir, "../../../node_modules/ajv/dist/refs");
const metaschemas = [
  ["draft-06", ["json-schema-draft-06.json"]],
  ["draft-07", ["json-schema-draft-07.json"]],
  ["2019-09", vocabularies("json-schema-2019-09")],
  ["2020-12", vocabularies("json-schema-2020-12")],
] as const;

test.each(metaschemas)("every keyword of %s is enforced, an annotation or refused", (name, files) => {
  const known = files.flatMap((file) => {
    const metaschema: unknown = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return propertiesOf(metaschema);
  });
  expect(known.length).toBeGreaterThan(30);
  // The metaschemas of the newest drafts still list keywords of older ones, so that nobody gives them another meaning.
  const older = ["definitions", "dependencies", "$recursiveRef", "$recursiveAnchor"];
  const draft = { name, declared: true };
  const missing = known.filter((keyword) => keywordOf(keyword, draft) === undefined && !older.includes(keyword));
  expect(missing).toEqual([]);
});

test("a keyword is known from its draft to its last one", () => {
  const known = (keyword: string, name: "draft-04" | "draft-07" | "2019-09" | "2020-12", declared = true) =>
    keywordOf(keyword, { name, declared }) !== undefined;
  expect(known("const", "draft-04")).toBe(false);
  expect(known("const", "draft-07")).toBe(true);
  expect(known("dependencies", "2019-09")).toBe(false);
  expect(known("dependencies", "2020-12", false)).toBe(true);
  expect(known("prefixItems", "2019-09")).toBe(false);
  expect(known("x-anything", "2020-12", false)).toBe(false);
});

test("the documentation has the table that the code prints (bun scripts/tables.ts)", () => {
  const text = readFileSync(join(import.meta.dir, "../../../docs/json-schema.md"), "utf8");
  expect(text).toContain(`-->\n${keywordTable()}<!-- end -->`);
});

function vocabularies(name: string): string[] {
  return ["schema.json", ...readdirSync(join(folder, name, "meta")).map((file) => join("meta", file))].map((file) =>
    join(name, file),
  );
}

function propertiesOf(metaschema: unknown): string[] {
  if (typeof metaschema !== "object" || metaschema === null || !("properties" in metaschema)) return [];
  return Object.keys(metaschema.properties ?? {});
}
