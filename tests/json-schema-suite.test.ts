import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { irBuilder } from "../src/grammar/ir.ts";
import { type Documents, readDocuments } from "../src/grammar/json-schema/documents.ts";
import { lowerSchema } from "../src/grammar/json-schema/lower.ts";
import { atPointer, type JsonDocument, type JsonText, readJson, sliceByPointer } from "../src/grammar/json-text.ts";
import { acceptsJson } from "./oracle/ir-acceptor.ts";
import { tarFiles } from "./oracle/tar.ts";

const archive = join(
  process.env["TENON_SHARED"] ?? join(import.meta.dir, "../../shared"),
  "data/json-schema-test-suite.tar.gz",
);
const expectationsPath = join(import.meta.dir, "fixtures/json-schema-suite.json");

/** The suite's folder of each draft, and what a schema that names no draft is told to name. */
const drafts: Readonly<Record<string, string>> = {
  draft4: "http://json-schema.org/draft-04/schema#",
  draft6: "http://json-schema.org/draft-06/schema#",
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
};

type Counts = { passed: number; refused: number; rejectedValid: number; acceptedInvalid: number };

test.skipIf(!existsSync(archive))(
  "JSON Schema Test Suite: nothing invalid is accepted, and no verdict gets worse (skipped where the shared data is absent)",
  () => {
    const results: Record<string, Record<string, Counts>> = {};
    const files = [...tarFiles(readFileSync(archive))];
    const documents = documentsOf(files);
    for (const { path, text } of files) {
      const [, draft, formats, file] = /(?:^|\/)tests\/([^/]+)\/(optional\/format\/)?([^/]+)\.json$/.exec(path) ?? [];
      const uri = draft === undefined ? undefined : drafts[draft];
      if (draft === undefined || file === undefined || uri === undefined) continue;
      const part = formats === undefined ? draft : `${draft} formats`;
      results[part] ??= {};
      results[part][file] = countsOf(text, uri, { documents, assertFormats: formats !== undefined });
    }
    const sorted = sortedKeys(results);
    for (const [draft, files] of Object.entries(sorted)) {
      console.log(draft, JSON.stringify(Object.values(files).reduce(sum)));
    }
    if (process.env["TENON_UPDATE_EXPECTATIONS"] === "1") {
      writeFileSync(expectationsPath, `${JSON.stringify(sorted, undefined, 2)}\n`);
    }
    for (const [part, files] of Object.entries(sorted)) {
      const { passed, refused, rejectedValid, acceptedInvalid } = Object.values(files).reduce(sum);
      // `regex` is no regular language, and so an annotation.
      if (!part.endsWith("formats")) expect([part, acceptedInvalid]).toEqual([part, 0]);
      expect(passed / (passed + refused + rejectedValid + acceptedInvalid)).toBeGreaterThan(0.93);
    }
    // Better or worse, the committed file says so: TENON_UPDATE_EXPECTATIONS=1 bun test tests/json-schema-suite.test.ts
    expect(sorted).toEqual(JSON.parse(readFileSync(expectationsPath, "utf8")));
  },
  60_000,
);

type Judging = { readonly documents: Documents; readonly assertFormats: boolean };

function countsOf(text: string, uri: string, judging: Judging): Counts {
  const counts = { passed: 0, refused: 0, rejectedValid: 0, acceptedInvalid: 0 };
  const read = readJson(text, { charactersMax: text.length, depthMax: 1000, duplicateKeys: "last" });
  if (!read.ok) throw new Error(read.failure.message);
  const document = read.value;
  for (const group of itemPointers(document, "")) {
    const accepts = acceptor(withSchema(sourceAt(document, `${group}/schema`), uri), judging);
    for (const item of itemPointers(document, `${group}/tests`)) {
      const valid = sourceAt(document, `${item}/valid`) === "true";
      const verdict = accepts?.(sourceAt(document, `${item}/data`));
      if (verdict === undefined) counts.refused++;
      else if (verdict === valid) counts.passed++;
      else if (valid) counts.rejectedValid++;
      else counts.acceptedInvalid++;
    }
  }
  return counts;
}

/** What the suite serves from localhost:1234, and the metaschemas that ajv carries. */
function documentsOf(files: readonly { readonly path: string; readonly text: string }[]): Documents {
  const texts = new Map<string, string>();
  for (const { path, text } of files) {
    const [, remote] = /(?:^|\/)remotes\/(.+)$/.exec(path) ?? [];
    if (remote !== undefined) texts.set(`http://localhost:1234/${remote}`, text);
  }
  const folder = join(import.meta.dir, "../node_modules/ajv/dist/refs");
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".json")) continue;
    const text = readFileSync(join(folder, path), "utf8");
    const id = /"\$id":\s*"([^"#]+)#?"/.exec(text)?.[1];
    if (id !== undefined) texts.set(id, text);
  }
  const read = readDocuments([...texts].map(([name, text]) => ({ name, text })));
  if (!read.ok) throw new Error(`${read.failure.name} ${read.failure.reason}`);
  return read.value;
}

/** Judges instances by a schema as the specification does; undefined where the schema is refused. */
function acceptor(schema: string, judging: Judging): ((instance: string) => boolean) | undefined {
  const builder = irBuilder();
  const options = { closed: false, ordered: false, objectsOnly: false, originFirst: 0, ...judging };
  const lowered = lowerSchema(builder, schema, options);
  // A schema that accepts nothing has a verdict on every instance.
  if (!lowered.ok) return lowered.failure.reason === "accepts no value at all" ? () => false : undefined;
  const { value } = lowered.value;
  const style = { freeSpace: true, whitespaceMax: undefined, spelling: "spec" } as const;
  const ir = builder.finish(builder.node({ kind: "json", value, style }));
  return (instance) => acceptsJson(ir, value, instance);
}

/** The suite leaves the draft to its folder. */
function withSchema(schema: string, uri: string): string {
  if (!schema.startsWith("{") || schema.includes('"$schema"')) return schema;
  const rest = schema.slice(1);
  return `{"$schema": ${JSON.stringify(uri)}${rest.trim() === "}" ? "" : ","}${rest}`;
}

function itemPointers(document: JsonDocument, pointer: string): readonly string[] {
  const value: JsonText | undefined = atPointer(document.root, pointer);
  return value?.kind === "array" ? value.items.map((_, i) => `${pointer}/${i}`) : [];
}

function sourceAt(document: JsonDocument, pointer: string): string {
  const source = sliceByPointer(document, pointer);
  if (source === undefined) throw new Error(`nothing at ${pointer}`);
  return source;
}

function sum(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    refused: a.refused + b.refused,
    rejectedValid: a.rejectedValid + b.rejectedValid,
    acceptedInvalid: a.acceptedInvalid + b.acceptedInvalid,
  };
}

function sortedKeys<T>(record: Record<string, Record<string, T>>): Record<string, Record<string, T>> {
  const sort = <V>(unsorted: Record<string, V>) =>
    Object.fromEntries(Object.entries(unsorted).sort(([a], [b]) => (a < b ? -1 : 1)));
  return sort(Object.fromEntries(Object.entries(record).map(([key, value]) => [key, sort(value)])));
}
