import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compileHereCharactersMax } from "../src/limits.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

/** Schemas refer to documents of the server's folder and of the request, in every shape, on both threads. */

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (vocabulary === undefined) console.warn("skipped: there is no default model");

const folder = mkdtempSync(join(tmpdir(), "tenon-documents-"));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "names"));
const write = (name: string, schema: unknown) => writeFileSync(join(folder, name), JSON.stringify(schema));
write("names/colour.json", { enum: ["red", "green"] });
write("size.json", { $id: "https://x.test/size", enum: ["S", "M"] });
writeFileSync(join(folder, "notes.txt"), "no schema");

const noise = ["--model", "noise", "--vocabulary", vocabulary ?? "", "--noise-shape", "peaked"];
let tenon: Awaited<ReturnType<typeof startTenon>>;
beforeAll(async () => {
  if (vocabulary !== undefined) tenon = await startTenon([...noise, "--schema-documents", folder]);
});
afterAll(() => tenon?.stop(0));

const object = (properties: object) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const messages = [{ role: "user", content: "go" }];
const body = (text: string) => JSON.parse(text);
const shapes = {
  chat: {
    path: "/v1/chat/completions",
    of: (schema: object) => ({
      messages,
      response_format: { type: "json_schema", json_schema: { name: "a", schema } },
    }),
    said: (text: string) => body(text).choices[0].message.content,
  },
  "chat tools": {
    path: "/v1/chat/completions",
    of: (schema: object) => ({
      messages,
      tool_choice: "required",
      parallel_tool_calls: false,
      tools: [{ type: "function", function: { name: "f", parameters: schema } }],
    }),
    said: (text: string) => body(text).choices[0].message.tool_calls[0].function.arguments,
  },
  "chat grammar": {
    path: "/v1/chat/completions",
    of: (schema: object) => ({ messages, guided_grammar: `start: %json ${JSON.stringify(schema)}` }),
    said: (text: string) => body(text).choices[0].message.content,
  },
  completion: {
    path: "/v1/completions",
    of: (schema: object) => ({ prompt: "go", guided_json: schema, max_tokens: 100 }),
    said: (text: string) => body(text).choices[0].text,
  },
  response: {
    path: "/v1/responses",
    of: (schema: object) => ({ input: "go", text: { format: { type: "json_schema", name: "a", schema } } }),
    said: (text: string) => body(text).output[0].content[0].text,
  },
  message: {
    path: "/v1/messages",
    of: (schema: object) => ({ messages, max_tokens: 100, output_config: { format: { type: "json_schema", schema } } }),
    said: (text: string) => body(text).content[0].text,
  },
  ollama: {
    path: "/api/chat",
    of: (schema: object) => ({ messages, stream: false, format: schema }),
    said: (text: string) => body(text).message.content,
  },
} as const;

const ask = async (path: string, fields: object) => {
  const response = await fetch(new URL(path, tenon.server.url), {
    method: "POST",
    body: JSON.stringify({ seed: 5, ...fields }),
  });
  return { status: response.status, text: await response.text() };
};

describe.if(vocabulary !== undefined).each(Object.entries(shapes))("%s", (_, { path, of, said }) => {
  test.each([
    ["by its path", { $ref: "names/colour.json" }, {}, /^(red|green)$/],
    ["by its file", { $ref: pathToFileURL(join(folder, "names/colour.json")).href }, {}, /^(red|green)$/],
    ["by its identifier", { $ref: "https://x.test/size" }, {}, /^[SM]$/],
    ["of the request", { $ref: "name" }, { name: { const: "x" } }, /^x$/],
    ["of the request before the server's", { $ref: "size.json" }, { "size.json": { const: "L" } }, /^L$/],
    [
      "by a request's document",
      { $ref: "urn:a" },
      { "urn:a": { $ref: "https://x.test/size" }, long: { description: "x".repeat(compileHereCharactersMax) } },
      /^[SM]$/,
    ],
  ])("a document is found %s", async (_, reference, tenon_documents, expected) => {
    const { status, text } = await ask(path, { ...of(object({ one: reference })), tenon_documents });
    expect([status, text]).toEqual([200, text]);
    expect(body(said(text)).one).toMatch(expected);
  });

  test.each([
    [
      "a reference that leads nowhere",
      { $ref: "other.json" },
      {},
      /'\$ref' at '.*\/properties\/one' "other.json" leads to no schema that is given/,
    ],
    [
      "a keyword in a document",
      { $ref: "bad" },
      { bad: { items: { pattern: "(.)\\1" } } },
      /'pattern' at '(\d+:\d+ )?bad#\/items'/,
    ],
    [
      "a document",
      { $ref: "bad" },
      { "bad#": {}, "a#b": true },
      /Invalid schema document 'a#b': it has a name that is no URI/,
    ],
  ])("what cannot be enforced is named: %s", async (_, reference, tenon_documents, message) => {
    const { status, text } = await ask(path, { ...of(object({ one: reference })), tenon_documents });
    expect([status, text]).toEqual([400, text]);
    expect(JSON.stringify(body(text))).toMatch(new RegExp(message.source.replaceAll('"', '\\\\"')));
  });

  test("a document that is no schema is no field of the request", async () => {
    const { status, text } = await ask(path, { ...of(object({})), tenon_documents: { a: 3 } });
    expect([status, text]).toEqual([400, text]);
    expect(text).toContain("tenon_documents");
  });
});

test.if(vocabulary !== undefined)("a file that is no schema stops the start, by its name", async () => {
  const broken = mkdtempSync(join(tmpdir(), "tenon-broken-"));
  try {
    writeFileSync(join(broken, "a.json"), "{");
    const message = "The schema document a.json cannot be used: it is no JSON";
    await expect(startTenon([...noise, "--schema-documents", broken])).rejects.toThrow(message);
  } finally {
    rmSync(broken, { recursive: true });
  }
});
