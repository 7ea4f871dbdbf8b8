import { fail, type Result } from "../generation/result.ts";
import type { ModelCard } from "../models/card.ts";
import type { ModelFailure } from "../models/failure.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { type ChatTemplate, chatTemplate } from "./template.ts";

/**
 * The template of a model: `override` (a file's text) where the operator gave one, else the model's own, else the built-in one, which
 * `builtIn` tells so that start-up can say it.
 */
export function loadChatTemplate(
  card: Pick<ModelCard, "path" | "chatTemplate"> & { readonly tokenizer: Pick<ModelCard["tokenizer"], "special"> },
  tokenizer: Tokenizer,
  override?: string,
): Result<ChatTemplate, ModelFailure> {
  const textOf = (token: number | undefined) =>
    token === undefined ? "" : new TextDecoder().decode(tokenizer.decode([token], { special: true }));
  const { bos, eos } = card.tokenizer.special;
  const loaded = chatTemplate(override ?? card.chatTemplate, { bos: textOf(bos), eos: textOf(eos) });
  if (loaded.ok) return loaded;
  return fail({ kind: "unsupported", message: `the chat template of ${card.path} does not parse: ${loaded.failure}` });
}
