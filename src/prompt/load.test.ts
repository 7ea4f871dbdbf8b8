import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { modelsFolder } from "../models/catalog.ts";
import { readGguf } from "../models/gguf.ts";
import { loadTokenizer } from "../tokenizer/load.ts";
import { loadChatTemplate } from "./load.ts";
import { promptTokens } from "./render.ts";
import { renderProbe } from "./template.ts";

function load(file: string, override?: string) {
  const card = readGguf(join(modelsFolder(process.env), file));
  if (!card.ok) throw new Error(card.failure.message);
  const tokenizer = loadTokenizer(card.value);
  if (!tokenizer.ok) throw new Error(tokenizer.failure.message);
  return { tokenizer: tokenizer.value, template: loadChatTemplate(card.value, tokenizer.value, override) };
}

const has = (file: string) => existsSync(join(modelsFolder(process.env), file));
const gemma = "gemma-3-270m-Q4_K_M.gguf";
const smol = "SmolLM2-135M-Instruct.Q4_1.gguf";
const messages = [{ role: "user", content: "Hi" }];

test.skipIf(!has(gemma))("Gemma's base model has no template: the built-in one, and one BOS", () => {
  const { tokenizer, template } = load(gemma);
  if (!template.ok) throw new Error(template.failure.message);
  expect(template.value.builtIn).toBe(true);
  const text = renderProbe(template.value, { messages, addGenerationPrompt: true }) ?? "";
  expect(text).toBe("<bos>User: Hi\n\nAssistant:");
  const tokens = [...promptTokens(tokenizer, text)];
  expect(tokens.filter((token) => token === tokenizer.bos)).toEqual([2]);
  expect(tokens[0]).toBe(2);
});

test.skipIf(!has(smol))("SmolLM2's template knows no tools; its markers become tokens", () => {
  const { tokenizer, template } = load(smol);
  if (!template.ok) throw new Error(template.failure.message);
  expect(template.value.builtIn).toBe(false);
  expect(template.value.abilities.tools).toBe(false);
  const text = renderProbe(template.value, { messages, addGenerationPrompt: true }) ?? "";
  const start = tokenizer.idOf("<|im_start|>") ?? -1;
  expect([...promptTokens(tokenizer, text)].filter((token) => token === start)).toHaveLength(3);
});

test.skipIf(!has(smol))(
  "an operator's template wins, and one that does not parse is refused with the file's name",
  () => {
    const mine = load(smol, "{{ messages[0].content }}").template;
    expect(mine.ok ? renderProbe(mine.value, { messages }) : undefined).toBe("Hi");
    const broken = load(smol, "{% if %}").template;
    expect(broken.ok ? "" : broken.failure.message).toContain(smol);
  },
);
