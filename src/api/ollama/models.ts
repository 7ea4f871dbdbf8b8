import type { ModelDetail } from "../../generation/model-detail.ts";
import type { StoredModel } from "../../generation/stored-model.ts";
import { listedName } from "./model-names.ts";

/** One entry of GET /api/tags. */
export function encodeModel({ id, modifiedMs, facts, derivation }: StoredModel) {
  return {
    name: listedName(id),
    model: listedName(id),
    modified_at: timeOf(modifiedMs),
    size: facts.fileBytes,
    digest: facts.digest,
    details: {
      parent_model: derivation === undefined ? "" : listedName(derivation.parent),
      format: "gguf",
      family: facts.family,
      families: [facts.family],
      parameter_size: sizeOf(facts.parameters),
      quantization_level: facts.quantisation,
    },
  };
}

/** One entry of GET /api/ps. Nothing unloads the model, and none of it lies in a graphics card's memory. */
export function encodeLoaded(model: StoredModel, { contextMax }: ModelDetail) {
  const { modified_at: _, ...entry } = encodeModel(model);
  return { ...entry, expires_at: "9999-12-31T23:59:59Z", size_vram: 0, context_length: contextMax };
}

/** The answer of POST /api/show. `metadata` is what the file says of itself. */
export function encodeShown(
  model: StoredModel,
  metadata: Readonly<Record<string, unknown>>,
  { detail, system = model.derivation?.system }: { readonly detail: ModelDetail; readonly system?: string | undefined },
) {
  const { facts, derivation } = model;
  const { "tokenizer.chat_template": own, ...stated } = metadata;
  const template = derivation?.template ?? (model.loaded ? detail.template : textOf(own)) ?? "";
  const parameters = parameterLines(derivation?.parameters ?? {});
  const license = derivation?.license.join("\n") || textOf(metadata["general.license"]) || "";
  return {
    license,
    modelfile: modelfileOf(model, { template, system, parameters }),
    parameters: parameters.map(([name, value]) => `${name.padEnd(30)} ${value}`).join("\n"),
    template,
    ...(system === undefined ? {} : { system }),
    details: encodeModel(model).details,
    ...(derivation === undefined || derivation.messages.length === 0 ? {} : { messages: derivation.messages }),
    model_info: {
      "general.architecture": facts.family,
      "general.parameter_count": facts.parameters,
      [`${facts.family}.context_length`]: facts.contextTrained,
      [`${facts.family}.embedding_length`]: facts.embeddingLength,
      ...stated,
    },
    capabilities: model.loaded ? detail.capabilities : capabilitiesOf(metadata, facts.family),
    modified_at: timeOf(model.modifiedMs),
  };
}

/** Of a model that is not loaded nobody has tried the template; every model that gives no vectors completes and calls. */
function capabilitiesOf(metadata: Readonly<Record<string, unknown>>, family: string): readonly string[] {
  return metadata[`${family}.pooling_type`] ? ["embedding"] : ["completion", "tools"];
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** 134515008 → `134.52M`. */
function sizeOf(parameters: number): string {
  if (parameters >= 1e9) return `${(parameters / 1e9).toFixed(1)}B`;
  if (parameters >= 1e6) return `${(parameters / 1e6).toFixed(2)}M`;
  return parameters >= 1e3 ? `${(parameters / 1e3).toFixed(2)}K` : String(parameters);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A list, as stop strings are, has a line for each item. */
function parameterLines(parameters: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    [value].flat().map((item) => [name, JSON.stringify(item)] as const),
  );
}

function modelfileOf(
  { id, derivation }: StoredModel,
  shown: {
    readonly template: string;
    readonly system: string | undefined;
    readonly parameters: readonly (readonly [string, string])[];
  },
): string {
  return [
    `FROM ${derivation?.base ?? id}`,
    ...(shown.template === "" ? [] : [`TEMPLATE """${shown.template}"""`]),
    ...(shown.system === undefined ? [] : [`SYSTEM """${shown.system}"""`]),
    ...shown.parameters.map(([name, value]) => `PARAMETER ${name} ${value}`),
    ...(derivation?.messages ?? []).map(({ role, content }) => `MESSAGE ${role} """${content}"""`),
    "",
  ].join("\n");
}
