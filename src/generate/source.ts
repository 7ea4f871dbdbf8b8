import { join } from "node:path";
import type { ModelChoice } from "../config.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { type Manifest, type SpecialTokens, undeclaredTokens } from "../models/card.ts";
import { findModel } from "../models/catalog.ts";
import { modelId, readGguf } from "../models/gguf.ts";
import { jsonTokenizer } from "../tokenizer/json.ts";
import { loadTokenizer } from "../tokenizer/load.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";

/** What is read of a model before the native side sees it. */
export type ModelSource = {
  readonly id: string;
  readonly tokenizer: Tokenizer;
  /** Text of the tokens that templates name. */
  readonly special: { readonly bos: string; readonly eos: string };
  /** Jinja; undefined when there is none. */
  readonly template: string | undefined;
  /** Undefined: no weights. */
  readonly manifest: Manifest | undefined;
  /** Of all shards. */
  readonly fileBytes: number;
};

/** Reads what the command line names. The failure is a sentence for the user. */
export async function readSource(choice: ModelChoice, home: string): Promise<Result<ModelSource, string>> {
  if (choice.kind === "file") return readModel(choice.wanted ?? defaultModel, home);
  const vocabulary = readVocabulary(choice.vocabulary);
  if (!vocabulary.ok || choice.chatTemplate === undefined) return vocabulary;
  const file = Bun.file(choice.chatTemplate);
  if (!(await file.exists())) return fail(`There is no chat template ${choice.chatTemplate}.`);
  return ok({ ...vocabulary.value, template: await file.text() });
}

/** What set-up fetches. */
const defaultModel = "SmolLM2-135M-Instruct.Q4_1";

function readModel(wanted: string, home: string): Result<ModelSource, string> {
  const found = findModel(wanted, join(home, "models"));
  if (!found.ok) return fail(found.failure.message);
  const card = readGguf(found.value.path);
  if (!card.ok) return fail(card.failure.message);
  const tokenizer = loadTokenizer(card.value);
  if (!tokenizer.ok) return fail(tokenizer.failure.message);
  const { id, chatTemplate: template, manifest, fileBytes } = card.value;
  const { special } = card.value.tokenizer;
  const texts = specialTexts(tokenizer.value, special);
  return ok({ id, tokenizer: tokenizer.value, special: texts, template, manifest, fileBytes });
}

/** The vocabulary of a GGUF model or of a tokenizer.json, for logits that come from nowhere. */
function readVocabulary(path: string): Result<ModelSource, string> {
  if (!path.endsWith(".json")) {
    const model = readModel(path, "");
    return model.ok ? ok({ ...model.value, id: `noise-${model.value.id}`, manifest: undefined, fileBytes: 0 }) : model;
  }
  const tokenizer = jsonTokenizer(path, undeclaredTokens);
  if (!tokenizer.ok) return fail(`${path}: ${tokenizer.failure}`);
  const special = specialTexts(tokenizer.value, undeclaredTokens);
  return ok({
    id: `noise-${modelId(path)}`,
    tokenizer: tokenizer.value,
    special,
    template: undefined,
    manifest: undefined,
    fileBytes: 0,
  });
}

function specialTexts(tokenizer: Tokenizer, { bos, eos }: SpecialTokens): ModelSource["special"] {
  const text = (token: number | undefined) =>
    token === undefined ? "" : new TextDecoder().decode(tokenizer.decode([token], { special: true }));
  return { bos: text(bos), eos: text(eos) };
}
