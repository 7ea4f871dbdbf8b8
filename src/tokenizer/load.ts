import { fail, type Result } from "../generation/result.ts";
import type { ModelCard } from "../models/card.ts";
import type { ModelFailure } from "../models/failure.ts";
import { ggufTokenizer } from "./gguf.ts";
import { jsonTokenizer } from "./json.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** The tokenizer of a model; fails on what Tenon cannot reproduce exactly, naming it. */
export function loadTokenizer(card: Pick<ModelCard, "path" | "tokenizer">): Result<Tokenizer, ModelFailure> {
  const { tokenizer } = card;
  const loaded =
    tokenizer.kind === "gguf" ? ggufTokenizer(tokenizer) : jsonTokenizer(tokenizer.path, tokenizer.special);
  if (loaded.ok) return loaded;
  const path = tokenizer.kind === "gguf" ? card.path : tokenizer.path;
  return fail({ kind: "unsupported", message: `the tokenizer of ${path}: ${loaded.failure}` });
}
