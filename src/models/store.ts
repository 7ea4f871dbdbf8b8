import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Failure } from "../generation/failure.ts";
import type { ModelDetail } from "../generation/model-detail.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import type { Derivation, ModelFacts, PullEvent, StoredModel } from "../generation/stored-model.ts";
import { pullsMax } from "../limits.ts";
import { adoptBlob, hasBlob, putBlob } from "./blobs.ts";
import { listModels } from "./catalog.ts";
import { type Derived, findDerived, listDerived, removeDerived, writeDerived } from "./derived.ts";
import { factsOf as factsOfCard, sha256Of } from "./facts.ts";
import { readGguf } from "./gguf.ts";
import { type Hub, pullFrom, repositoryOf } from "./hub.ts";
import { metadataOf } from "./metadata.ts";
import { defaultTag, isFile, type ModelName, parseModelName, resolveFile } from "./name.ts";
import { removeWeights } from "./weights.ts";

/**
 * The models in a folder: files of weights, and models that were made from them. `loaded` is the one that answers; it may lie elsewhere,
 * at `loadedPath`, or have no file at all.
 */
export function openModelStore({ folder, loaded, loadedPath, hub = {} }: StoreOptions) {
  const known = new Map<string, { readonly stamp: string; readonly facts: ModelFacts }>();
  let pulls = 0;

  const factsOf = ({ id, path, stamp }: Weights): ModelFacts => {
    if (id === loaded.id || path === undefined) return loaded;
    const found = known.get(path);
    if (found?.stamp === stamp) return found.facts;
    const facts = readFacts(id, path);
    known.set(path, { stamp, facts });
    return facts;
  };

  /** The files of weights, the loaded ones among them wherever they lie. */
  const weights = (): readonly Weights[] => {
    const files = listModels(folder).flatMap(({ id, path }): Weights[] => {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return [];
      return [{ id, path, stamp: `${stat.size} ${stat.mtimeMs}`, modifiedMs: Math.floor(stat.mtimeMs) }];
    });
    if (files.some(({ id }) => id === loaded.id)) return files;
    return [{ id: loaded.id, path: undefined, stamp: "", modifiedMs: loaded.created * 1000 }, ...files];
  };

  const stored = (file: Weights): StoredModel => {
    const { id, modifiedMs } = file;
    return { id, loaded: id === loaded.id, modifiedMs, facts: factsOf(file), derivation: undefined };
  };

  /** Undefined where the weights are gone. */
  const storedDerived = (
    files: readonly Weights[],
    { id, modifiedMs, derivation }: Derived,
  ): StoredModel | undefined => {
    const file = files.find((known) => known.id === derivation.base);
    if (file === undefined) return undefined;
    const base = stored(file);
    const digest = sha256Of({ id, derivation, base: base.facts.digest });
    return { id, loaded: base.loaded, modifiedMs, facts: { ...base.facts, digest }, derivation };
  };

  const list = async (): Promise<readonly StoredModel[]> => {
    const files = weights();
    const present = new Set(files.map(({ path }) => path));
    for (const path of known.keys()) if (!present.has(path)) known.delete(path);
    for (const file of files) {
      // A file that was not read yet takes up to a tenth of a second, in which nobody else is answered.
      if (file.path !== undefined && known.get(file.path)?.stamp !== file.stamp) await setImmediate();
      factsOf(file);
    }
    const derived = listDerived(folder).flatMap((each) => storedDerived(files, each) ?? []);
    return [...files.map(stored), ...derived].sort(byId);
  };

  /** A model of exactly this name before a file that it stands for. */
  const resolve = (name: ModelName): StoredModel | undefined => {
    const files = weights();
    const derived = findDerived(folder, name);
    if (derived !== undefined) return storedDerived(files, derived);
    const id = resolveFile(
      name,
      files.map((file) => file.id),
      loaded.id,
    );
    const file = files.find((known) => known.id === id);
    return file === undefined ? undefined : stored(file);
  };

  const named = (text: string): Result<StoredModel, Failure> => {
    const name = parseModelName(text);
    if (!name.ok) return name;
    const model = resolve(name.value);
    return model === undefined ? fail({ kind: "model_not_found", model: text }) : ok(model);
  };

  /** A name that a new model may have. */
  const free = (text: string): Result<ModelName, Failure> => {
    const name = parseModelName(text);
    if (!name.ok) return name;
    if (!weights().some(({ id }) => isFile(name.value, id))) return name;
    return refuse(`'${text}' is the name of a file of weights`);
  };

  const write = (name: ModelName, text: string, derivation: Derivation) =>
    writeDerived(folder, { name, id: idOf(name, text) }, derivation);

  return {
    list,
    derived(): readonly StoredModel[] {
      const files = weights();
      const made = listDerived(folder).flatMap((each) => storedDerived(files, each) ?? []);
      return made.filter((model) => model.loaded).sort(byId);
    },
    find(text: string): StoredModel | undefined {
      const model = named(text);
      return model.ok ? model.value : undefined;
    },
    metadata(model: StoredModel, options: { readonly arrays: boolean }): Readonly<Record<string, unknown>> {
      const id = model.derivation?.base ?? model.id;
      const path = weights().find((file) => file.id === id)?.path ?? (id === loaded.id ? loadedPath : undefined);
      return path === undefined ? {} : metadataOf(path, options);
    },
    derive(text: string, from: string, changes: Partial<Omit<Derivation, "base" | "parent">>): Result<void, Failure> {
      const parent = named(from);
      if (!parent.ok) return parent;
      const name = free(text);
      if (!name.ok) return name;
      return write(name.value, text, derive(parent.value, changes));
    },
    adopt(text: string, sha256: string): Result<void, Failure> {
      const name = free(text);
      if (!name.ok) return name;
      if (name.value.path.length > 0) return refuse("the name of a file of weights has no slashes");
      return adoptBlob(folder, sha256, idOf(name.value, text).replace(":", "-"));
    },
    copy(source: string, destination: string): Result<void, Failure> {
      const model = named(source);
      if (!model.ok) return model;
      const name = free(destination);
      if (!name.ok) return name;
      return write(name.value, destination, model.value.derivation ?? derive(model.value, {}));
    },
    remove(text: string): Result<void, Failure> {
      const name = parseModelName(text);
      if (!name.ok) return name;
      if (findDerived(folder, name.value) !== undefined) return removeDerived(folder, name.value);
      const file = weights().find(({ id }) => isFile(name.value, id));
      if (file === undefined) return fail({ kind: "model_not_found", model: text });
      const users = listDerived(folder)
        .filter(({ derivation }) => derivation.base === file.id)
        .map(({ id }) => id);
      if (users.length > 0)
        return refuse(
          `'${text}' has the weights of ${users.join(", ")}: delete ${users.length > 1 ? "them" : "it"} first`,
        );
      if (file.id === loaded.id) return refuse(`'${text}' is loaded`);
      return file.path === undefined ? refuse(`'${text}' lies elsewhere`) : removeWeights(file.path);
    },
    hasBlob: (sha256: string) => hasBlob(folder, sha256),
    putBlob: (sha256: string, body: ReadableStream<Uint8Array>) => putBlob(folder, sha256, body),
    pull(text: string, signal: AbortSignal): Result<AsyncIterable<PullEvent>, Failure> {
      const name = parseModelName(text);
      if (!name.ok) return name;
      const repo = repositoryOf(name.value);
      if (!repo.ok) return repo;
      const { tag } = name.value;
      const counted = async function* (): AsyncGenerator<PullEvent, void> {
        if (pulls >= pullsMax) {
          yield { kind: "failure", message: `${pullsMax} models are being pulled already` };
          return;
        }
        pulls++;
        try {
          yield* pullFrom(hub, { repo: repo.value, tag }, folder, signal);
        } finally {
          pulls--;
        }
      };
      return ok(counted());
    },
  };
}

export type StoreOptions = {
  readonly folder: string;
  readonly loaded: ModelDetail;
  readonly loadedPath?: string | undefined;
  readonly hub?: Hub;
};

type Weights = {
  readonly id: string;
  /** Undefined where there is no file in the folder. */
  readonly path: string | undefined;
  /** Another one for other contents. */
  readonly stamp: string;
  readonly modifiedMs: number;
};

/** A file that is damaged, or of a kind that Tenon does not run, is listed all the same. */
function readFacts(id: string, path: string): ModelFacts {
  const card = readGguf(path);
  if (card.ok) return factsOfCard({ ...card.value, template: card.value.chatTemplate });
  const fileBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const facts = factsOfCard({ id, manifest: undefined, fileBytes, template: undefined });
  return { ...facts, family: "unknown", quantisation: "unknown" };
}

function byId(a: StoredModel, b: StoredModel): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** What a new model of this parent is. */
function derive({ id, derivation }: StoredModel, changes: Partial<Omit<Derivation, "base" | "parent">>): Derivation {
  return {
    base: derivation?.base ?? id,
    parent: id,
    parameters: { ...derivation?.parameters, ...changes.parameters },
    system: changes.system ?? derivation?.system,
    template: changes.template ?? derivation?.template,
    license: changes.license ?? derivation?.license ?? [],
    messages: changes.messages ?? derivation?.messages ?? [],
  };
}

/** As it is spelled, without the tag that every model has. */
function idOf({ tag }: ModelName, text: string): string {
  return tag.toLowerCase() === defaultTag ? text.replace(/:[^:]*$/, "") : text;
}

function refuse(message: string): Result<never, Failure> {
  return fail({ kind: "invalid", message, param: "model" });
}
