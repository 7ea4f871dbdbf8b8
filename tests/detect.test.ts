import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { detectDialect, type RenderProbe } from "../src/dialects/detect.ts";
import { chatTemplate } from "../src/prompt/template.ts";

const folder = join(process.env["TENON_SHARED"] ?? join(import.meta.dir, "../../shared"), "data/chat-templates");

/** Templates whose models write one of our dialects; every other one of the collection is forced in the generic frame. */
const known: Readonly<Record<string, string>> = {
  "MiMo-VL": "hermes",
  "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "hermes",
  "Qwen-QwQ-32B": "hermes",
  "Qwen-Qwen2.5-7B-Instruct": "hermes",
  "Qwen-Qwen3-0.6B": "hermes",
  "ibm-granite-granite-4.0": "hermes",
  "ibm-granite-granite-4.1": "hermes",
  "meta-llama-Llama-3.1-8B-Instruct": "llama3_json",
  "meta-llama-Llama-3.2-3B-Instruct": "llama3_json",
  "meta-llama-Llama-3.3-70B-Instruct": "llama3_json",
  "mistralai-Mistral-Nemo-Instruct-2407": "mistral_nemo",
};

describe.skipIf(!existsSync(folder))("published chat templates (skipped where the shared data is absent)", () => {
  test("each is read as the dialect that it renders", () => {
    const found = readdirSync(folder).flatMap((file) => {
      const source = readFileSync(join(folder, file), "utf8");
      const { dialect, generic } = detectDialect(renderOf(source), source);
      return generic ? [] : [[file.replace(".jinja", ""), dialect.name]];
    });
    expect(Object.fromEntries(found)).toEqual(known);
  });
});

test("a template that knows no calls gets the generic frame", () => {
  const source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}";
  expect(detectDialect(renderOf(source), source)).toMatchObject({ dialect: { name: "hermes" }, generic: true });
});

test("where a template shows no call, its source decides", () => {
  const source = `{% if tools %}Write {"name": …} in <tool_call>.{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}`;
  expect(detectDialect(renderOf(source), source)).toMatchObject({ dialect: { name: "hermes" }, generic: false });
});

function renderOf(source: string): RenderProbe {
  const template = chatTemplate(source, { bos: "<s>", eos: "</s>" });
  if (!template.ok) throw new Error(template.failure);
  return (messages, tools) => {
    const rendered = template.value.run({ messages, tools, addGenerationPrompt: false }, new Date(0));
    return rendered.ok ? rendered.value : undefined;
  };
}
