import { type Dirent, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { fail, ok, type Result } from "../generation/result.ts";
import type { ModelFailure } from "./failure.ts";
import { modelId } from "./gguf.ts";

export type CatalogEntry = { readonly id: string; readonly path: string };

/** The folder of downloaded models: `$TENON_HOME/models`, by default `~/.cache/tenon/models`. */
export function modelsFolder(environment: Readonly<Record<string, string | undefined>>): string {
  return join(environment["TENON_HOME"] || join(homedir(), ".cache", "tenon"), "models");
}

/**
 * What `-m` means: a file, a folder with one model in it, or a name in the models folder, whole or as far as it is
 * unique (`smollm2-135m-instruct` for `SmolLM2-135M-Instruct.Q4_1.gguf`); case does not matter for names.
 */
export function findModel(wanted: string, folder: string): Result<CatalogEntry, ModelFailure> {
  const stat = statSync(wanted, { throwIfNoEntry: false });
  if (stat?.isFile()) return ok({ id: modelId(wanted), path: wanted });
  if (stat?.isDirectory()) return onlyModelIn(wanted);

  const entries = listModels(folder);
  const name = modelId(wanted).toLowerCase();
  const exact = entries.filter(({ id }) => id.toLowerCase() === name);
  const fitting = exact.length > 0 ? exact : entries.filter(({ id }) => isNameOf(name, id.toLowerCase()));
  const [first, ...others] = fitting;
  if (first === undefined) {
    const known = entries.length === 0 ? "it has none" : `it has ${entries.map(({ id }) => id).join(", ")}`;
    return fail({
      kind: "missing",
      message: `no model ${wanted}: no such file or folder, and none in ${folder} (${known})`,
    });
  }
  if (others.length > 0) {
    return fail({ kind: "ambiguous", message: `${wanted} could be ${fitting.map(({ id }) => id).join(" or ")}` });
  }
  return ok(first);
}

/** The models in a folder and in its folders, one level down, by name. A folder that does not exist has none. */
export function listModels(folder: string): CatalogEntry[] {
  return filesIn(folder)
    .flatMap((entry) =>
      entry.isDirectory()
        ? modelFiles(join(folder, entry.name))
        : isModelFile(entry.name)
          ? [join(folder, entry.name)]
          : [],
    )
    .map((path) => ({ id: modelId(path), path }))
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function onlyModelIn(folder: string): Result<CatalogEntry, ModelFailure> {
  const [first, ...others] = modelFiles(folder);
  if (first === undefined) return fail({ kind: "missing", message: `${folder} has no model: no .gguf file` });
  if (others.length > 0) {
    const names = [first, ...others].map((path) => basename(path)).join(", ");
    return fail({ kind: "ambiguous", message: `${folder} has several models, name one of them: ${names}` });
  }
  return ok({ id: modelId(first), path: first });
}

function modelFiles(folder: string): string[] {
  return filesIn(folder)
    .filter((entry) => !entry.isDirectory() && isModelFile(entry.name))
    .map((entry) => join(folder, entry.name))
    .sort();
}

/** Parts after the first and projectors of images, which lie beside a model, are none themselves. */
function isModelFile(name: string): boolean {
  return /\.gguf$/i.test(name) && !/-(?!00001)\d{5}-of-\d{5}\.gguf$/i.test(name) && !/^mmproj/i.test(name);
}

/** A name stands for an id that goes on after it with a separator: a quantisation, a version. */
function isNameOf(name: string, id: string): boolean {
  return name !== "" && id.startsWith(name) && /^[-._:]/.test(id.slice(name.length));
}

function filesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // No folder yet, or one that may not be read: nothing to offer.
    return [];
  }
}
