import type { Config, ModelChoice } from "../config.ts";
import { constrain } from "../dialects/constrain.ts";
import { type Detection, detectDialect, type RenderProbe } from "../dialects/detect.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { detectThoughts, type Tags, thoughtsOf } from "../dialects/thoughts.ts";
import { openLibrary } from "../engine/library.ts";
import { type NativeModel, openEngine } from "../engine/native.ts";
import { openVocabulary } from "../engine/vocabulary.ts";
import type { ModelDetail } from "../generation/model-detail.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { noiseContextMax } from "../limits.ts";
import { renderPrompt } from "../prompt/render.ts";
import { type ChatTemplate, chatTemplate, renderProbe } from "../prompt/template.ts";
import { templateChooser } from "./choose-template.ts";
import { compileElsewhere } from "./compile-elsewhere.ts";
import { describeModel } from "./describe.ts";
import { openDocuments } from "./documents.ts";
import type { Model } from "./model.ts";
import { loadProcessors } from "./processors.ts";
import { type ModelSource, readSource } from "./source.ts";

export type LoadedModel = Disposable & {
  readonly model: Model;
  readonly detection: Detection;
  readonly detail: ModelDetail;
  /** Of its first file; undefined without weights. */
  readonly path: string | undefined;
  /** Sentences that whoever starts the server should read. */
  readonly notes: readonly string[];
};

/** From the command line's choice to a model that can answer. The failure is a sentence for the user. */
export async function loadModel(config: Config, libraryPath: string): Promise<Result<LoadedModel, string>> {
  const documents = openDocuments(config.schemaDocuments);
  if (!documents.ok) return documents;
  const processors = await loadProcessors(config.logitsProcessors);
  if (!processors.ok) return processors;
  const read = await readSource(config.model, config.home);
  if (!read.ok) return read;
  const source = read.value;
  const { id, tokenizer } = source;
  const compiled = chatTemplate(source.template, source.special);
  if (!compiled.ok) return fail(`The chat template of ${id} cannot be used: ${compiled.failure}`);
  const template = compiled.value;
  const probe: RenderProbe = (messages, tools) => renderProbe(template, { messages, tools });
  const detection = detectDialect(probe, source.template ?? "");
  const tags = detectThoughts(probe, source.template ?? "");
  const { dialect } = detection;
  const templates = templateChooser(template, source.special);

  const library = openLibrary(libraryPath);
  if (!library.ok) return library;
  const vocabulary = openVocabulary(library.value, tokenizer.vocabulary);
  if (!vocabulary.ok) return vocabulary;
  const opened = await openEngine({
    vocabulary: vocabulary.value,
    model: nativeModel(config.model, source, { dialect, tags }),
    slots: config.slots,
    queueMax: config.queueMax,
    ...contextOf(config),
    ...(config.threads === undefined ? {} : { threads: config.threads }),
  });
  if (!opened.ok) {
    vocabulary.value[Symbol.dispose]();
    return fail(`${id} cannot be loaded: ${opened.failure}`);
  }
  const engine = opened.value;
  const embeds = (source.manifest?.pooling ?? "none") !== "none";
  const { callsMax, toolStrict, relaxTools, home } = config;
  const elsewhere = compileElsewhere(vocabulary.value, {
    model: config.model,
    home,
    dialect: dialect.name,
    options: { callsMax, toolStrict, relaxTools },
    documents: config.schemaDocuments,
  });
  return ok({
    model: {
      id,
      engine,
      tokenizer,
      render(request) {
        const used = templates(request);
        return used.ok ? renderPrompt({ template: used.value, dialect, tokenizer }, request, new Date()) : used;
      },
      constrain: (request, prompt, stepsMax) =>
        constrain(request, {
          callsMax,
          toolStrict,
          relaxTools,
          documents: documents.value,
          dialect,
          tokenizer,
          thoughts: thoughtsOf(tags, request, prompt.text),
          ...(stepsMax === undefined ? {} : { stepsMax }),
        }),
      elsewhere: (request, prompt, signal) =>
        elsewhere.compile(request, thoughtsOf(tags, request, prompt.text), signal),
      processors: processors.value,
      embeds,
    },
    detection,
    detail: describeModel({ source, template, detection, embeds, contextMax: engine.contextMax }),
    path: source.manifest?.files[0],
    // Who asks for vectors has no use for templates.
    notes: embeds ? [] : notesOf(template, detection),
    [Symbol.dispose]() {
      elsewhere[Symbol.dispose]();
      engine[Symbol.dispose]();
      vocabulary.value[Symbol.dispose]();
    },
  });
}

/** A model without weights has no context of its own. */
function contextOf({ model, contextMax }: Config): { readonly contextMax?: number } {
  if (contextMax !== undefined) return { contextMax };
  return model.kind === "noise" ? { contextMax: noiseContextMax } : {};
}

function nativeModel(
  choice: ModelChoice,
  { manifest, tokenizer }: ModelSource,
  { dialect, tags }: { readonly dialect: Dialect; readonly tags: Tags | undefined },
): NativeModel {
  if (choice.kind === "file") {
    if (manifest === undefined) throw new Error("a model file was read without its manifest");
    return { kind: "file", manifest };
  }
  // What calls and thoughts begin with, and thoughts end with, so that the shape that is pulled towards it meets many.
  const name = "placeholder";
  const openings = dialect.encodings({ id: "", name, arguments: "{}" }).map((text) => text.split(name, 1)[0] ?? "");
  const texts = [...openings, ...(tags === undefined ? [] : [tags.open, tags.close])];
  const phrases = texts.map((text) => [...tokenizer.encode(text, { special: true })]);
  return { kind: "noise", seed: choice.seed, shape: choice.shape, phrases };
}

function notesOf(template: ChatTemplate, { dialect, generic }: Detection): readonly string[] {
  const notes: string[] = [];
  if (template.builtIn) notes.push("The model file has no chat template; a plain transcript stands in for it.");
  if (generic)
    notes.push(`The chat template shows no tool calls; they take the ${dialect.name} frame, explained in the prompt.`);
  return notes;
}
