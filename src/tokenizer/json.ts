import { readFileSync } from "node:fs";
import { SequenceNormalizer } from "@huggingface/tokenizers";
import { fail, ok, type Result } from "../generation/result.ts";
import { ggufTokenTypes, type SpecialTokens } from "../models/card.ts";
import { textTable } from "../models/text-table.ts";
import { type AddedToken, type Partition, partitionBy } from "./added-tokens.ts";
import { assemble } from "./assemble.ts";
import { byteTokensOf, pieceEncoder } from "./encoder.ts";
import { rankedPairs } from "./pairs.ts";
import { gpt2Pattern, isolatedSplit, type PreTokenizerJson, splitBy } from "./pre-tokenizers.ts";
import { spaceSplit } from "./space-split.ts";
import { stopTokensOf } from "./stop-tokens.ts";
import { tokenIndex } from "./token-index.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { vocabularyOf } from "./vocabulary.ts";

/**
 * A tokenizer from Hugging Face's tokenizer.json, with the results of their Rust library. BPE only, byte-level or in
 * SentencePiece's spelling; whatever else a file may declare is refused by name.
 */
export function jsonTokenizer(path: string, special: SpecialTokens): Result<Tokenizer, string> {
  const file = readTokenizerJson(path);
  if (!file.ok) return file;
  const { model, preTokenizers, normalizers, added: declared } = file.value;
  const byteLevel = preTokenizers.findIndex(({ type }) => type === "ByteLevel") >= 0;
  const split = splitOf(preTokenizers, normalizers);
  if (!split.ok) return split;
  const spelling = byteLevel ? "byte-level" : "sentencepiece";
  const tables = tokenTables(model, declared);
  const tokens = textTable(tables.texts);
  const stopTokens = stopTokensOf(special, tokens, (id) => tables.types[id] === ggufTokenTypes.control);
  const vocabulary = vocabularyOf(tokens, tables.types, spelling, new Set(stopTokens));
  const index = tokenIndex(vocabulary, (token) => tables.types[token] === ggufTokenTypes.byte);
  const encodePiece = pieceEncoder({
    index,
    pairs: rankedPairs(textTable(model.merges), spelling, index),
    symbols: byteLevel ? "bytes" : "characters",
    byteTokens: byteTokensOf(index),
    wholePieces: model.ignoreMerges,
    unknown: model.unknown === undefined ? undefined : tables.texts.indexOf(model.unknown),
  });

  const normalizer =
    normalizers.length === 0 ? undefined : new SequenceNormalizer({ type: "Sequence", normalizers: [...normalizers] });
  const normalize = (text: string) => (normalizer === undefined ? text : normalizer.normalize(text));
  const raw = declared.filter(({ normalized }) => !normalized || normalizer === undefined);
  const partitionNormalized = partitionOf(
    declared.filter((token) => !raw.includes(token)),
    normalize,
  );
  const cutSpaces = byteLevel ? undefined : spaceSplit(vocabulary);
  return ok(
    assemble({
      vocabulary,
      index,
      added: new Map(declared.map(({ text, id }) => [text, id])),
      partition: partitionOf(raw, (text) => text),
      encodeSection: (text, sectionIndex, isSpecial, out) => {
        for (const section of partitionNormalized(normalize(text), isSpecial)) {
          if ("token" in section) {
            out.push(section.token);
            continue;
          }
          for (const piece of split.value(section.text, sectionIndex)) {
            if (cutSpaces === undefined) encodePiece(piece, out);
            else for (const word of cutSpaces(piece.replaceAll("▁", " "))) encodePiece(word, out);
          }
        }
      },
      special,
      stopTokens,
    }),
  );
}

type DeclaredToken = AddedToken & { readonly normalized: boolean };

function partitionOf(tokens: readonly DeclaredToken[], normalize: (text: string) => string): Partition {
  return partitionBy(tokens.map((token) => ({ ...token, text: normalize(token.text) })));
}

type NormalizerJson = ConstructorParameters<typeof SequenceNormalizer>[0]["normalizers"][number];

function isNormalizer(member: Member): member is Member & NormalizerJson {
  return ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Replace", "Prepend"].includes(
    member.type,
  );
}

function isPreTokenizer(member: Member): member is Member & PreTokenizerJson {
  return ["Split", "Digits", "Punctuation", "Metaspace", "Whitespace", "WhitespaceSplit"].includes(member.type);
}

/** The split without its byte-level mapping, which the encoder does on bytes. */
function splitOf(
  preTokenizers: readonly Member[],
  normalizers: readonly Member[],
): Result<ReturnType<typeof splitBy>, string> {
  const members: PreTokenizerJson[] = [];
  for (const member of preTokenizers) {
    if (member.type === "ByteLevel") {
      if (member["add_prefix_space"] === true) return fail("ByteLevel with add_prefix_space is not supported");
      if (member["use_regex"] !== false) members.push(isolatedSplit(gpt2Pattern));
      continue;
    }
    if (member.type === "Split" && member["behavior"] !== "Isolated" && member["behavior"] !== "Removed") {
      // Gemma's: no space is left to split at.
      if (isSplitAtSpaces(member) && normalizers.some(replacesSpaces)) continue;
      return fail(`Split with the behavior ${member["behavior"]} is not supported`);
    }
    if (!isPreTokenizer(member)) return fail(`the pre-tokenizer ${member.type} is not supported`);
    members.push(member);
  }
  return ok(splitBy(members));
}

function isSplitAtSpaces(member: Member): boolean {
  const pattern = member["pattern"];
  return isRecord(pattern) && pattern["String"] === " ";
}

function replacesSpaces(member: Member): boolean {
  const pattern = member["pattern"];
  return member.type === "Replace" && isRecord(pattern) && pattern["String"] === " ";
}

/** Texts and GGUF types by id. Ids that nothing declares are unused. */
function tokenTables(model: BpeModel, added: readonly DeclaredToken[]): { texts: string[]; types: Uint8Array } {
  const ids = [...model.vocabulary.values(), ...added.map(({ id }) => id)];
  const count = ids.reduce((most, id) => Math.max(most, id), -1) + 1;
  const texts: string[] = new Array(count).fill("");
  const types = new Uint8Array(count).fill(ggufTokenTypes.unused);
  for (const [text, id] of model.vocabulary) {
    texts[id] = text;
    const isByte = model.byteFallback && /^<0x[0-9A-F]{2}>$/.test(text);
    types[id] = isByte ? ggufTokenTypes.byte : text === model.unknown ? ggufTokenTypes.unknown : ggufTokenTypes.normal;
  }
  for (const { id, text, special } of added) {
    texts[id] = text;
    types[id] = special ? ggufTokenTypes.control : ggufTokenTypes.userDefined;
  }
  return { texts, types };
}

type BpeModel = {
  readonly vocabulary: ReadonlyMap<string, number>;
  /** `left right`, best first. */
  readonly merges: readonly string[];
  readonly byteFallback: boolean;
  readonly ignoreMerges: boolean;
  readonly unknown: string | undefined;
};

/** A normalizer or pre-tokenizer as declared. */
type Member = Readonly<Record<string, unknown>> & { readonly type: string };

type TokenizerJson = {
  readonly model: BpeModel;
  readonly preTokenizers: readonly Member[];
  readonly normalizers: readonly (Member & NormalizerJson)[];
  readonly added: readonly DeclaredToken[];
};

function readTokenizerJson(path: string): Result<TokenizerJson, string> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return fail(`cannot read it: ${error instanceof Error ? error.message : error}`);
  }
  if (!isRecord(json)) return fail("is no object");
  const model = bpeModel(json["model"]);
  if (!model.ok) return model;
  const added = addedTokens(json["added_tokens"]);
  if (!added.ok) return added;
  const preTokenizers = members(json["pre_tokenizer"], "pretokenizers");
  const declared = members(json["normalizer"], "normalizers");
  if (preTokenizers === undefined) return fail("has a pre_tokenizer that is none");
  if (declared === undefined) return fail("has a normalizer that is none");
  const normalizers: (Member & NormalizerJson)[] = [];
  for (const member of declared) {
    if (!isNormalizer(member)) return fail(`the normalizer ${member.type} is not supported`);
    normalizers.push(member);
  }
  return ok({ model: model.value, added: added.value, preTokenizers, normalizers });
}

function bpeModel(model: unknown): Result<BpeModel, string> {
  if (!isRecord(model) || !isRecord(model["vocab"]) || !Array.isArray(model["merges"])) {
    return fail(`its model is ${isRecord(model) ? model["type"] : typeof model}, and only BPE is supported`);
  }
  for (const key of ["continuing_subword_prefix", "end_of_word_suffix"]) {
    if (model[key] !== null && model[key] !== undefined && model[key] !== "") return fail(`${key} is not supported`);
  }
  const vocabulary = new Map<string, number>();
  for (const [text, id] of Object.entries(model["vocab"])) {
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0) return fail(`the token ${text} has the id ${id}`);
    vocabulary.set(text, id);
  }
  const merges: string[] = [];
  for (const merge of model["merges"]) {
    if (typeof merge === "string") merges.push(merge);
    else if (Array.isArray(merge) && merge.length === 2 && !String(merge[0]).includes(" "))
      merges.push(merge.join(" "));
    else return fail(`the merge ${JSON.stringify(merge)} is not supported`);
  }
  return ok({
    vocabulary,
    merges,
    byteFallback: model["byte_fallback"] === true,
    ignoreMerges: model["ignore_merges"] === true,
    unknown: typeof model["unk_token"] === "string" ? model["unk_token"] : undefined,
  });
}

function addedTokens(declared: unknown): Result<readonly DeclaredToken[], string> {
  const added: DeclaredToken[] = [];
  for (const token of Array.isArray(declared) ? declared : []) {
    if (!isRecord(token) || typeof token["content"] !== "string" || !Number.isInteger(token["id"])) {
      return fail(`the added token ${JSON.stringify(token)} has no id or content`);
    }
    const text = token["content"];
    if (token["single_word"] === true) return fail(`the added token ${text} is a single_word, which is not supported`);
    const special = token["special"] === true;
    added.push({
      id: Number(token["id"]),
      text,
      special,
      normalized: typeof token["normalized"] === "boolean" ? token["normalized"] : !special,
      stripLeft: token["lstrip"] === true,
      stripRight: token["rstrip"] === true,
    });
  }
  return ok(added);
}

/** A member, or the members of a Sequence, flattened; undefined where something else stands. */
function members(declared: unknown, key: string): readonly Member[] | undefined {
  if (declared === null || declared === undefined) return [];
  if (!isMember(declared)) return undefined;
  if (declared.type !== "Sequence") return [declared];
  const inner = declared[key];
  return Array.isArray(inner) && inner.every(isMember) ? inner : undefined;
}

function isMember(value: unknown): value is Member {
  return isRecord(value) && typeof value["type"] === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
