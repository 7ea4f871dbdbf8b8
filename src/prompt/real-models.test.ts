import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { modelsFolder } from "../models/catalog.ts";
import { readGguf } from "../models/gguf.ts";
import { loadTokenizer } from "../tokenizer/load.ts";
import { promptTokens } from "./render.ts";
import { chatTemplate, renderProbe } from "./template.ts";

function load(file: string) {
  const card = readGguf(join(modelsFolder(process.env), file));
  if (!card.ok) throw new Error(card.failure.message);
  const tokenizer = loadTokenizer(card.value);
  if (!tokenizer.ok) throw new Error(tokenizer.failure.message);
  const { bos, eos } = card.value.tokenizer.special;
  const textOf = (token = -1) => new TextDecoder().decode(tokenizer.value.decode([token], { special: true }));
  const template = chatTemplate(card.value.chatTemplate, { bos: textOf(bos), eos: textOf(eos) });
  if (!template.ok) throw new Error(template.failure);
  return { tokenizer: tokenizer.value, template: template.value };
}

const has = (file: string) => existsSync(join(modelsFolder(process.env), file));
const gemma = "gemma-3-270m-Q4_K_M.gguf";
const smol = "SmolLM2-135M-Instruct.Q4_1.gguf";
const messages = [{ role: "user", content: "Hi" }];

test.skipIf(!has(gemma))("Gemma's base model has no template: the built-in one, and one BOS", () => {
  const { tokenizer, template } = load(gemma);
  expect(template.builtIn).toBe(true);
  const text = renderProbe(template, { messages, addGenerationPrompt: true }) ?? "";
  expect(text).toBe("<bos>User: Hi\n\nAssistant:");
  const tokens = [...promptTokens(tokenizer, text)];
  expect(tokens.filter((token) => token === tokenizer.bos)).toEqual([2]);
  expect(tokens[0]).toBe(2);
});

test.skipIf(!has(smol))("SmolLM2's template knows no tools; its markers become tokens", () => {
  const { tokenizer, template } = load(smol);
  expect(template.builtIn).toBe(false);
  expect(template.abilities.tools).toBe(false);
  const text = renderProbe(template, { messages, addGenerationPrompt: true }) ?? "";
  const start = tokenizer.idOf("<|im_start|>") ?? -1;
  expect([...promptTokens(tokenizer, text)].filter((token) => token === start)).toHaveLength(3);
});
