import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import type { Derivation } from "../generation/stored-model.ts";
import { derivedBytesMax, derivedModelsMax } from "../limits.ts";
import { diskFailure } from "./failure.ts";
import { canonicalName, type ModelName } from "./name.ts";

/** A model made from another one: a small JSON file in the folder `derived` of the models folder. */
export type Derived = { readonly id: string; readonly modifiedMs: number; readonly derivation: Derivation };

/** All that can be read; a file that somebody damaged is no model. */
export function listDerived(folder: string): readonly Derived[] {
  return filesIn(folder).flatMap((file) => readDerived(join(folder, "derived", file)) ?? []);
}

export function findDerived(folder: string, name: ModelName): Derived | undefined {
  return readDerived(join(folder, "derived", fileOf(name)));
}

/** Writes it whole, in place of one of the same name. `id` is the name's spelling. */
export function writeDerived(
  folder: string,
  { name, id }: { readonly name: ModelName; readonly id: string },
  derivation: Derivation,
): Result<void, Failure> {
  const text = JSON.stringify({ id, ...derivation });
  if (Buffer.byteLength(text) > derivedBytesMax) {
    return fail({ kind: "invalid", message: `a model's own texts and parameters may have ${derivedBytesMax} bytes` });
  }
  const file = fileOf(name);
  const files = filesIn(folder);
  if (files.length >= derivedModelsMax && !files.includes(file)) {
    return fail({ kind: "invalid", message: `there may be ${derivedModelsMax} models that were made from others` });
  }
  const path = join(folder, "derived", file);
  const unfinished = `${path}.${crypto.randomUUID()}.part`;
  try {
    mkdirSync(join(folder, "derived"), { recursive: true });
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
    return ok(undefined);
  } catch (error) {
    if (existsSync(unfinished)) rmSync(unfinished);
    return fail(diskFailure("the model cannot be written", error));
  }
}

export function removeDerived(folder: string, name: ModelName): Result<void, Failure> {
  try {
    rmSync(join(folder, "derived", fileOf(name)), { force: true });
    return ok(undefined);
  } catch (error) {
    return fail(diskFailure("the model cannot be deleted", error));
  }
}

/** One file a name: slashes and colons are escaped, and the ending keeps it from being a folder's. */
function fileOf(name: ModelName): string {
  return `${encodeURIComponent(canonicalName(name))}.json`;
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(folder, "derived"))
      .filter((file) => file.endsWith(".json"))
      .sort();
  } catch {
    // No folder yet, or one that may not be read: nothing to offer.
    return [];
  }
}

function readDerived(path: string): Derived | undefined {
  try {
    const { size, mtimeMs } = statSync(path);
    if (size > derivedBytesMax) return undefined;
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    const read = isObject(value) ? derivationOf(value) : undefined;
    return read === undefined ? undefined : { ...read, modifiedMs: Math.floor(mtimeMs) };
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function derivationOf(fields: Fields): Omit<Derived, "modifiedMs"> | undefined {
  const { id, base, parent, parameters, system, template, license, messages } = fields;
  if (typeof id !== "string" || typeof base !== "string" || typeof parent !== "string") return undefined;
  if (!isObject(parameters) || !Array.isArray(license) || !Array.isArray(messages)) return undefined;
  const turns = messages.flatMap((message) => turnOf(message) ?? []);
  if (turns.length < messages.length || !isTextOrNone(system) || !isTextOrNone(template)) return undefined;
  const licenses = license.filter((text) => typeof text === "string");
  return { id, derivation: { base, parent, parameters, system, template, license: licenses, messages: turns } };
}

function turnOf(value: unknown): Derivation["messages"][number] | undefined {
  if (!isObject(value)) return undefined;
  const { role, content } = value;
  const isRole = role === "system" || role === "user" || role === "assistant";
  return isRole && typeof content === "string" ? { role, content } : undefined;
}

function isTextOrNone(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
