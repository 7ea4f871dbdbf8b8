import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { Detection } from "../dialects/detect.ts";
import type { Capability, ModelDetail } from "../generation/model-detail.ts";
import type { Manifest } from "../models/card.ts";
import { formatName } from "../models/formats.ts";
import { type ChatTemplate, renderProbe } from "../prompt/template.ts";
import type { ModelSource } from "./source.ts";

/** What there is to know about a model that was read. `contextMax` is what the engine gives it, in tokens. */
export function describeModel({ source, template, detection, contextMax }: DescribeContext): ModelDetail {
  const { id, tokenizer, special, manifest, fileBytes } = source;
  const path = manifest?.files[0];
  return {
    id,
    created: Math.floor(Date.now() / 1000),
    contextMax,
    dialect: detection.dialect.name,
    dialectDetected: !detection.generic,
    file: path === undefined ? undefined : basename(path),
    fileBytes,
    digest: digestOf(source),
    quantisation: manifest === undefined ? "none" : commonFormat(manifest),
    parameters: manifest === undefined ? 0 : manifest.tensors.reduce((sum, { shape }) => sum + elements(shape), 0),
    family: manifest?.architecture ?? "noise",
    contextTrained: manifest?.context_max ?? contextMax,
    embeddingLength: manifest?.embedding ?? 0,
    layers: manifest?.layers ?? 0,
    vocabularyCount: tokenizer.vocabulary.count,
    template: source.template,
    ...special,
    capabilities: capabilitiesOf(template),
  };
}

type DescribeContext = {
  readonly source: ModelSource;
  readonly template: ChatTemplate;
  readonly detection: Detection;
  readonly contextMax: number;
};

/** Where the file lies is no part of what it is. */
function digestOf({ id, manifest, fileBytes, template }: ModelSource): string {
  const { files: _, ...rest } = manifest ?? { files: [] };
  return createHash("sha256").update(JSON.stringify({ id, fileBytes, template, rest })).digest("hex");
}

/** The format that holds most weights. */
function commonFormat({ tensors }: Manifest): string {
  const counts = new Map<number, number>();
  for (const { format, shape } of tensors) counts.set(format, (counts.get(format) ?? 0) + elements(shape));
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most === undefined ? "none" : formatName(most[0]);
}

function elements(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

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
