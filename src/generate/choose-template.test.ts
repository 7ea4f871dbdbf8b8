import { expect, test } from "bun:test";
import { templateCharactersMax, templatesMax } from "../limits.ts";
import { chatTemplate } from "../prompt/template.ts";
import { templateChooser } from "./choose-template.ts";

const special = { bos: "<s>", eos: "</s>" };

function own() {
  const template = chatTemplate(undefined, special);
  if (!template.ok) throw new Error(template.failure);
  return template.value;
}

test("a request's own template, compiled once while it is used", () => {
  const template = own();
  const choose = templateChooser(template, special);
  expect(choose({})).toEqual({ ok: true, value: template });
  const chosen = (source: string) => {
    const found = choose({ template: source });
    if (!found.ok) throw new Error(JSON.stringify(found.failure));
    return found.value;
  };
  const first = chosen("{{ messages[0].content }}");
  const content = "hello";
  const conversation = { messages: [{ role: "user", content }], tools: [], addGenerationPrompt: true };
  expect(first.run(conversation, new Date(0))).toEqual({ ok: true, value: content });
  for (let other = 0; other < templatesMax - 1; other++) chosen(`${other}`);
  expect(chosen("{{ messages[0].content }}")).toBe(first);
  for (let other = 0; other < templatesMax; other++) chosen(`${other}`);
  expect(chosen("{{ messages[0].content }}")).not.toBe(first);
});

test("what is no Jinja, Ollama's own templates among it, and what is too long is refused", () => {
  const choose = templateChooser(own(), special);
  for (const template of ["{{ .Prompt }}", "{% if %}", "x".repeat(templateCharactersMax + 1)]) {
    expect(choose({ template })).toMatchObject({ ok: false, failure: { kind: "invalid", param: "template" } });
  }
});
