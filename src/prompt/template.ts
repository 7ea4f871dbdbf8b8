import { ok, type Result } from "../generation/result.ts";
import { type Abilities, abilitiesOf } from "./abilities.ts";
import { compileTemplate } from "./jinja.ts";
import type { TemplateValue } from "./values.ts";

/** What a template is given, by the names that transformers has for it. */
export type Conversation = {
  readonly messages: readonly TemplateValue[];
  /** Empty: the template sees none. */
  readonly tools: readonly TemplateValue[];
  /** Further variables; `messages` and `tools` are not among them. */
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly addGenerationPrompt: boolean;
};

export type ChatTemplate = {
  /** The model file had none, and this is Tenon's own. */
  readonly builtIn: boolean;
  /** Found out with the first question for it. */
  readonly abilities: Abilities;
  /** Fails with the template's own words. `now` is the time that it sees. */
  run(conversation: Conversation, now: Date): Result<string, string>;
};

/** Compiles a model's template, or the built-in one for a model that has none. Fails where the source does not parse. */
export function chatTemplate(
  source: string | undefined,
  special: { readonly bos: string; readonly eos: string },
): Result<ChatTemplate, string> {
  const compiled = compileTemplate(source ?? plainTemplate);
  if (!compiled.ok) return compiled;
  const run: ChatTemplate["run"] = ({ messages, tools, variables, addGenerationPrompt }, now) => {
    const given = {
      bos_token: special.bos,
      eos_token: special.eos,
      add_generation_prompt: addGenerationPrompt,
      documents: null,
      ...variables,
      messages,
    };
    if (tools.length > 0) return compiled.value.run({ ...given, tools }, now);
    // transformers gives None; templates that were only ever rendered with tools loop over it.
    const rendered = compiled.value.run({ ...given, tools: null }, now);
    if (rendered.ok) return rendered;
    const without = compiled.value.run(given, now);
    return without.ok ? without : rendered;
  };
  let abilities: Abilities | undefined;
  return ok({
    builtIn: source === undefined,
    get abilities() {
      abilities ??= abilitiesOf(run);
      return abilities;
    },
    run,
  });
}

/**
 * For models that never saw a chat: a transcript in plain words. Nothing in it is a special token, so that it fits every vocabulary.
 */
const plainTemplate = `{{- bos_token -}}
{%- for message in messages -%}
{{- {'system': 'System', 'user': 'User', 'assistant': 'Assistant'}[message.role] ~ ': ' ~ message.content ~ '\\n\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- 'Assistant:' -}}
{%- endif -%}`;

/** One rendering for whoever compares a template's output with what a dialect would write; undefined where it refuses. */
export function renderProbe(
  template: ChatTemplate,
  probe: {
    readonly messages: readonly TemplateValue[];
    readonly tools?: readonly TemplateValue[];
    readonly variables?: Readonly<Record<string, unknown>>;
    readonly addGenerationPrompt?: boolean;
  },
): string | undefined {
  const { messages, tools = [], variables = {}, addGenerationPrompt = false } = probe;
  const rendered = template.run({ messages, tools, variables, addGenerationPrompt }, new Date(0));
  return rendered.ok ? rendered.value : undefined;
}
