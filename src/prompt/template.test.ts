import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import cases from "../../tests/fixtures/template-cases.json";
import renders from "../../tests/fixtures/template-renders.json";
import type { Abilities } from "./abilities.ts";
import { chatTemplate, renderProbe } from "./template.ts";

const folder = join(process.env["TENON_SHARED"] ?? join(import.meta.dir, "../../../shared"), "data", "chat-templates");
if (!existsSync(folder)) console.log(`skipped: no ${folder}`);

describe.skipIf(!existsSync(folder))(
  "published templates render as in Python (tests/fixtures/template-renders.py)",
  () => {
    /** Python escapes HTML in what is joined to a `|safe` text, here in a tool's description. Nobody wants that. */
    const divergent = new Set(
      ["tools", "toolsNoSystem", "call", "two", "text"].map((name) => `meetkai-functionary-medium-v3.1.jinja ${name}`),
    );
    const templates: Readonly<Record<string, Readonly<Record<string, string | null>>>> = renders;
    const conversations: Readonly<Record<string, Readonly<Record<string, unknown>>>> = cases;
    for (const [file, expected] of Object.entries(templates)) {
      test(file, () => {
        const template = chatTemplate(readFileSync(join(folder, file), "utf8"), { bos: "<BOS>", eos: "<EOS>" });
        if (!template.ok) throw new Error(template.failure);
        for (const [name, hash] of Object.entries(expected)) {
          const { messages, tools = [], add_generation_prompt, ...variables } = conversations[name] ?? {};
          if (!Array.isArray(messages) || !Array.isArray(tools)) throw new Error(`no case ${name}`);
          const conversation = { messages, tools, variables, addGenerationPrompt: add_generation_prompt === true };
          const rendered = template.value.run(conversation, new Date(2026, 2, 7, 9, 5, 6));
          // What Python refuses may be rendered here: a generator as JSON, tools that are None.
          if (hash === null || divergent.has(`${file} ${name}`)) continue;
          const actual = rendered.ok
            ? createHash("sha256").update(rendered.value).digest("hex").slice(0, 16)
            : rendered.failure;
          expect({ name, hash: actual }).toEqual({ name, hash });
        }
      });
    }

    test("none is left out", () => {
      expect(
        readdirSync(folder)
          .filter((name) => name.endsWith(".jinja"))
          .sort(),
      ).toEqual(Object.keys(templates).sort());
    });
  },
);

function abilitiesOf(source: string): Abilities {
  const template = chatTemplate(source, { bos: "", eos: "" });
  if (!template.ok) throw new Error(template.failure);
  return { ...template.value.abilities };
}

test("what a template can show is found by rendering", () => {
  const loop = (body: string) => `{% for message in messages %}${body}{% endfor %}`;
  const none: Omit<Abilities, "system" | "results"> = {
    lateSystem: true,
    parts: false,
    tools: false,
    bareTools: false,
    calls: "none",
    manyCalls: false,
    thoughts: true,
    shortIds: false,
  };
  expect(abilitiesOf(loop("{{ message.role + message.content }}"))).toEqual({ ...none, system: true, results: true });
  expect(
    abilitiesOf(loop("{% if message.role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ message.content }}")),
  ).toEqual({ ...none, system: false, lateSystem: false, results: true });
  expect(
    abilitiesOf(
      `{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}${loop(
        "{% if message.role != 'system' %}{{ message.content }}{% endif %}",
      )}`,
    ),
  ).toEqual({ ...none, system: true, lateSystem: false, results: true });
  expect(
    abilitiesOf(
      loop(
        "{% if message.content is string %}{{ message.content }}{% else %}{% for p in message.content %}{{ p.text }}{% endfor %}{% endif %}",
      ),
    ),
  ).toEqual({ ...none, system: true, parts: true, results: true });
  const calls = (written: string) =>
    `{% for tool in tools %}{{ tool | tojson }}{% endfor %}${loop(
      `{{ message.content + '' }}{% for call in message.tool_calls %}${written}{% endfor %}`,
    )}`;
  const all: Abilities = {
    system: true,
    lateSystem: true,
    parts: false,
    tools: true,
    bareTools: true,
    calls: "object",
    manyCalls: true,
    thoughts: true,
    results: true,
    shortIds: false,
  };
  expect(abilitiesOf(calls("{{ call.function.arguments | tojson }}"))).toEqual(all);
  expect(abilitiesOf(calls("{{ call.function.name + call.function.arguments }}"))).toEqual({ ...all, calls: "text" });
  expect(
    abilitiesOf(
      calls(
        "{% if message.tool_calls | length > 1 %}{{ raise_exception('one') }}{% endif %}{{ call.function.arguments | tojson }}",
      ),
    ),
  ).toEqual({ ...all, manyCalls: false, thoughts: true });
  expect(
    abilitiesOf(
      calls(
        "{% if call.id | length != 9 %}{{ raise_exception('id') }}{% endif %}{{ call.function.arguments | tojson }}",
      ),
    ),
  ).toEqual({ ...all, shortIds: true });
});

test("a model without a template gets a plain one, and can be told apart", () => {
  const template = chatTemplate(undefined, { bos: "<bos>", eos: "<eos>" });
  if (!template.ok) throw new Error(template.failure);
  expect(template.value.builtIn).toBe(true);
  expect({ ...template.value.abilities }).toEqual({
    system: true,
    lateSystem: true,
    parts: false,
    tools: false,
    bareTools: false,
    calls: "none",
    manyCalls: false,
    thoughts: true,
    results: true,
    shortIds: false,
  });
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hi" },
  ];
  expect(renderProbe(template.value, { messages, addGenerationPrompt: true })).toBe(
    "<bos>System: Be brief.\n\nUser: Hi\n\nAssistant:",
  );
});

test("what does not parse, and what a template refuses, are failures with their reason", () => {
  expect(chatTemplate("{% if %}", { bos: "", eos: "" }).ok).toBe(false);
  const template = chatTemplate("{{ raise_exception('only users, please') }}", { bos: "", eos: "" });
  if (!template.ok) throw new Error(template.failure);
  expect(template.value.run({ messages: [], tools: [], addGenerationPrompt: true }, new Date(0))).toEqual({
    ok: false,
    failure: "only users, please",
  });
  expect(renderProbe(template.value, { messages: [] })).toBeUndefined();
});
