import { basename } from "node:path";
import type { Detection } from "../dialects/detect.ts";
import type { Capability, ModelDetail } from "../generation/model-detail.ts";
import { factsOf } from "../models/facts.ts";
import { type ChatTemplate, renderProbe } from "../prompt/template.ts";
import type { ModelSource } from "./source.ts";

/** What there is to know about a model that was read. `contextMax` is what the engine gives it, in tokens. */
export function describeModel({ source, template, detection, embeds, contextMax }: DescribeContext): ModelDetail {
  const { id, tokenizer, special, manifest } = source;
  const path = manifest?.files[0];
  return {
    id,
    created: Math.floor(Date.now() / 1000),
    contextMax,
    dialect: detection.dialect.name,
    dialectDetected: !detection.generic,
    file: path === undefined ? undefined : basename(path),
    ...factsOf(source),
    contextTrained: manifest?.context_max ?? contextMax,
    layers: manifest?.layers ?? 0,
    vocabularyCount: tokenizer.vocabulary.count,
    template: source.template,
    ...special,
    capabilities: embeds ? ["embedding"] : capabilitiesOf(template),
  };
}

type DescribeContext = {
  readonly source: ModelSource;
  readonly template: ChatTemplate;
  readonly detection: Detection;
  readonly embeds: boolean;
  readonly contextMax: number;
};

/** Calls take the generic frame where a template knows none, so every model has tools. */
function capabilitiesOf(template: ChatTemplate): readonly Capability[] {
  return ["completion", "tools", ...(thinks(template) ? (["thinking"] as const) : [])];
}

/** Whether a switch changes the prompt, or a thought of the history shows in it. */
function thinks(template: ChatTemplate): boolean {
  const user = { role: "user", content: "probe_user" };
  const asked = (on: boolean) =>
    renderProbe(template, { messages: [user], variables: { enable_thinking: on }, addGenerationPrompt: true });
  const thought = { role: "assistant", content: "probe_answer", reasoning_content: "probe_thought" };
  const shown = renderProbe(template, { messages: [user, thought] });
  return asked(true) !== asked(false) || (shown?.includes("probe_thought") ?? false);
}
