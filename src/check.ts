import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { type CheckKind, type CheckOptions, checkKinds } from "./config/check.ts";
import { readDocumentFolder } from "./config/documents.ts";
import { type Compiled, type ConstraintSource, compile, type Matcher, tokensIn, Vocabulary } from "./constraint.ts";
import { defaultPolicy, type Policy, specPolicy } from "./generation/policy.ts";
import { fail, ok, type Result } from "./generation/result.ts";
import type { SchemaDocument } from "./generation/schema-document.ts";
import { readDocuments } from "./grammar/json-schema/documents.ts";
import { relaxSchema } from "./grammar/json-schema/relax.ts";
import { keywordsOf } from "./grammar/json-schema/report.ts";
import { readJson } from "./grammar/json-text.ts";
import { schemaOptions } from "./grammar/policy.ts";
import { schemaCharactersMax, schemaDepthMax } from "./limits.ts";
import { byteTokenizer } from "./tokenizer/bytes.ts";

/**
 * Compiles a schema or grammar and says what is enforced, annotated, refused or could be relaxed; with an instance, where exactly it
 * stops being valid. `passed` is false where something is refused or invalid. The failure is a sentence for the user.
 */
export async function check(
  options: CheckOptions,
  library: string,
): Promise<Result<{ readonly text: string; readonly passed: boolean }, string>> {
  const kind = options.kind ?? kindOf(options.file);
  if (kind === undefined) return fail(`--kind says what ${options.file} is: ${checkKinds.join(", ")}.`);
  const source = readText(options.file, true);
  if (!source.ok) return source;
  const instance = options.instance === undefined ? ok(undefined) : readText(options.instance, false);
  if (!instance.ok) return instance;
  const documents = options.documents === undefined ? ok([]) : readDocumentFolder(options.documents);
  if (!documents.ok) return documents;
  const opened = await openVocabulary(options.vocabulary, library);
  if (!opened.ok) return opened;
  using vocabulary = opened.value;
  const policy: Policy = options.spec ? specPolicy : { ...defaultPolicy, order: "any" };
  const lines = kind === "json_schema" ? keywordLines(source.value) : [];
  const compiled = compile(vocabulary, sourceOf(kind, source.value, policy), {
    documents: documents.value.map(({ text: schema, ...rest }) => ({ ...rest, schema })),
  });
  if (!compiled.ok) {
    if (kind === "json_schema") lines.push(...relaxableLines(source.value, policy, documents.value));
    lines.push(`refused     ${compiled.failure.message}`);
    return ok({ text: lines.join("\n"), passed: false });
  }
  using constraint = compiled.value;
  const unit = options.vocabulary === undefined ? "byte" : "token";
  lines.push(`compiles    its shortest output has ${constraint.costMin} ${unit}${constraint.costMin === 1 ? "" : "s"}`);
  if (instance.value === undefined) return ok({ text: lines.join("\n"), passed: true });
  // An editor's newline at the end is not part of a document.
  const text = instance.value.replace(lineEnd, "");
  const verdict = judge(constraint, vocabulary, text);
  lines.push(`${verdict.passed ? "valid       " : "invalid     "}${options.instance}${verdict.text}`);
  return ok({ text: lines.join("\n"), passed: verdict.passed });
}

function kindOf(file: string): CheckKind | undefined {
  switch (extname(file)) {
    case ".json":
      return "json_schema";
    case ".gbnf":
      return "gbnf";
    case ".lark":
      return "lark";
    default:
      return undefined;
  }
}

/** `dropsMark`: an editor's mark at the beginning is not part of the text. */
function readText(path: string, dropsMark: boolean): Result<string, string> {
  if (!existsSync(path)) return fail(`There is no file ${path}.`);
  try {
    return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: !dropsMark }).decode(readFileSync(path)));
  } catch (error) {
    return fail(`${path} cannot be read as UTF-8 text: ${error instanceof Error ? error.message : error}.`);
  }
}

async function openVocabulary(path: string | undefined, library: string): Promise<Result<Vocabulary, string>> {
  try {
    return ok(path === undefined ? Vocabulary.of(byteTokenizer, library) : await Vocabulary.load(path, library));
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    return fail(`The vocabulary ${path ?? "of bytes"} cannot be used: ${reason}.`);
  }
}

/** Lists are a line an item. */
function sourceOf(kind: CheckKind, text: string, policy: Policy): ConstraintSource {
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  switch (kind) {
    case "json_schema":
      return { kind, schema: text, policy };
    case "gbnf":
    case "lark":
      return { kind, grammar: text };
    case "regex":
      return { kind, pattern: text.replace(lineEnd, "") };
    case "choice":
      return { kind, choices: lines };
    case "lexicon":
      return { kind, words: lines };
    case "structural_tag":
      return { kind, structure: text };
    default:
      return kind satisfies never;
  }
}

/** The keywords by what becomes of them. */
function keywordLines(text: string): string[] {
  const bounds = { charactersMax: schemaCharactersMax, depthMax: schemaDepthMax, duplicateKeys: "refuse" } as const;
  const json = readJson(text, bounds);
  if (!json.ok) return [];
  const places = new Map<string, string[]>();
  for (const { pointer, keyword, status } of keywordsOf(json.value.root)) {
    const key = `${status.padEnd(10)}  ${pointer === "" ? "(root)" : pointer}`;
    places.set(key, [...(places.get(key) ?? []), keyword]);
  }
  return [...places].map(([place, keywords]) => `${place}: ${keywords.join(", ")}`);
}

/** What widening would take out. */
function relaxableLines(text: string, policy: Policy, given: readonly SchemaDocument[]): readonly string[] {
  const documents = readDocuments(given);
  if (!documents.ok) return [];
  const options = { ...schemaOptions(policy, "any"), documents: documents.value, objectsOnly: false, originFirst: 0 };
  const widened = relaxSchema(text, options);
  return widened.ok ? widened.value.relaxed.map((pointer) => `relaxable   ${pointer}`) : [];
}

/** Follows the text, in the tokens that the vocabulary has for it, as far as it goes. */
function judge(
  compiled: Compiled,
  vocabulary: Vocabulary,
  text: string,
): { readonly text: string; readonly passed: boolean } {
  using matcher = compiled.matcher();
  const tokens = vocabulary.tokenizer.encode(text, { special: false });
  let offset = 0;
  for (const token of tokens) {
    if (!matcher.accept(token)) return { text: stopped(matcher, vocabulary, text, offset), passed: false };
    offset += vocabulary.tokenizer.decode([token], { special: false }).length;
  }
  if (matcher.acceptsEnd) return { text: "", passed: true };
  return { text: stopped(matcher, vocabulary, text, offset), passed: false };
}

function stopped(matcher: Matcher, vocabulary: Vocabulary, text: string, offset: number): string {
  const before = new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, offset));
  const line = before.split("\n").length;
  const column = [...(before.split("\n").at(-1) ?? "")].length + 1;
  const shown = JSON.stringify(before.slice(-shownBefore));
  const where = `byte ${offset} (line ${line}, column ${column}), after ${shown}`;
  return ` stops being valid at ${where}: ${expected(matcher, vocabulary)}`;
}

/** What could have come instead. */
function expected(matcher: Matcher, vocabulary: Vocabulary): string {
  const decode = (tokens: Iterable<number>) =>
    new TextDecoder().decode(vocabulary.tokenizer.decode([...tokens], { special: false }));
  const draft = matcher.draft();
  if (draft.length > 0) return `what has to follow is ${JSON.stringify(decode(draft))}`;
  const texts = [...tokensIn(matcher.mask())].map((token) => decode([token]));
  const end = matcher.acceptsEnd ? ["the end"] : [];
  const known = texts.slice(0, shownTexts).map((each) => JSON.stringify(each));
  const more = texts.length > shownTexts ? [`${texts.length - shownTexts} more`] : [];
  return `allowed here: ${[...end, ...known, ...more].join(" ")}`;
}

/** What an editor leaves at the end of a file. */
const lineEnd = /\r?\n$/;
/** Characters of the instance shown before its fault, and texts shown instead of what stands there. */
const shownBefore = 40;
const shownTexts = 40;
