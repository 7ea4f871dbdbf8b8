import { existsSync, readFileSync } from "node:fs";
import type { Result } from "../src/generation/result.ts";
import { atPointer, type JsonText, readJson } from "../src/grammar/json-text.ts";
import { undeclaredTokens } from "../src/models/card.ts";
import { readGguf } from "../src/models/gguf.ts";
import { jsonTokenizer } from "../src/tokenizer/json.ts";
import { loadTokenizer } from "../src/tokenizer/load.ts";
import type { Tokenizer } from "../src/tokenizer/tokenizer.ts";

/** A schema with documents that are told to be valid or not. */
export type Sample = { readonly id: string; readonly schema: string; readonly instances: readonly Instance[] };
export type Instance = { readonly text: string; readonly valid: boolean };

/** MaskBench's data: one `{"id","schema","tests":[{"valid","data"}]}` a line, gzipped or not. Every `every`-th of them. */
export function readSamples(path: string, every: number): readonly Sample[] {
  if (!Number.isInteger(every) || every < 1) throw new Error("--every takes a whole number from 1 on");
  const lines = readText(path)
    .split("\n")
    .filter((line, index) => line !== "" && index % every === 0);
  return lines.map(readSample);
}

/** A text file, gzipped or not. */
export function readText(path: string): string {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`);
  const bytes = readFileSync(path);
  return new TextDecoder().decode(path.endsWith(".gz") ? Bun.gunzipSync(bytes) : bytes);
}

/** The end of an instance is judged by `acceptsEnd`, not by a token, so none is declared. */
export function openTokenizer(path: string): Tokenizer {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`);
  if (path.endsWith(".gguf")) return must(loadTokenizer(must(readGguf(path))));
  return must(jsonTokenizer(path, undeclaredTokens));
}

function readSample(line: string): Sample {
  const document = must(readJson(line, { charactersMax: line.length, depthMax: 1000, duplicateKeys: "last" }));
  const at = (from: JsonText, pointer: string): JsonText => {
    const value = atPointer(from, pointer);
    if (value === undefined) throw new Error(`a line has nothing at ${pointer}`);
    return value;
  };
  const id = at(document.root, "/id");
  const schema = at(document.root, "/schema");
  const tests = at(document.root, "/tests");
  if (id.kind !== "string" || tests.kind !== "array") throw new Error("a line is no sample");
  return {
    id: id.value,
    schema: line.slice(schema.start, schema.end),
    instances: tests.items.map((item) => {
      const valid = at(item, "/valid");
      return { text: pythonDump(at(item, "/data")), valid: valid.kind === "boolean" && valid.value };
    }),
  };
}

/** As Python's `json.dumps(value, ensure_ascii=False)` writes it, numbers as they came. */
function pythonDump(value: JsonText): string {
  switch (value.kind) {
    case "null":
      return "null";
    case "boolean":
      return String(value.value);
    case "number":
      return value.text;
    case "string":
      return JSON.stringify(value.value);
    case "array":
      return `[${value.items.map(pythonDump).join(", ")}]`;
    case "object":
      return `{${[...value.entries].map(([key, item]) => `${JSON.stringify(key)}: ${pythonDump(item)}`).join(", ")}}`;
    default:
      return value satisfies never;
  }
}

export function must<T, F>(result: Result<T, F>): T {
  if (result.ok) return result.value;
  const { failure } = result;
  throw new Error(typeof failure === "string" ? failure : JSON.stringify(failure));
}
