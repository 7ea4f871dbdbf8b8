import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { modelNameLengthMax } from "../limits.ts";

/** `host/owner/name:tag`, of which only the name is always there. No part can lead out of a folder. */
export type ModelName = { readonly path: readonly string[]; readonly name: string; readonly tag: string };

export const defaultTag = "latest";

export function parseModelName(text: string): Result<ModelName, Failure> {
  const parts = text.split("/");
  const last = parts.pop() ?? "";
  const colon = last.indexOf(":");
  const name = colon < 0 ? last : last.slice(0, colon);
  const tag = colon < 0 ? defaultTag : last.slice(colon + 1);
  const sound = [...parts, name, tag].every((part) => /^[A-Za-z0-9_][\w.-]*$/.test(part) && !part.includes(".."));
  if (sound && parts.length < 3 && text.length <= modelNameLengthMax) return ok({ path: parts, name, tag });
  return fail({
    kind: "invalid",
    message: `invalid model name '${text.slice(0, modelNameLengthMax)}'`,
    param: "model",
  });
}

/** The one spelling of a name: in lower case, without the default tag. */
export function canonicalName({ path, name, tag }: ModelName): string {
  const spelled = tag.toLowerCase() === defaultTag ? name : `${name}:${tag}`;
  return [...path, spelled].join("/").toLowerCase();
}

/**
 * Whether a name is that of the file with this id. Where it lies, separators, case and the ending `-GGUF` do not matter, so that
 * `hf.co/owner/Qwen3-0.6B-GGUF:Q8_0` is the file that was fetched under this name.
 */
export function isFile(name: ModelName, id: string): boolean {
  return normal(id) === normalName(name);
}

/**
 * Which of these ids of files a name means: its end may be left off where only one of them goes on like it, or where the `preferred`
 * one does.
 */
export function resolveFile(name: ModelName, ids: readonly string[], preferred: string): string | undefined {
  const exact = ids.find((id) => isFile(name, id));
  if (exact !== undefined) return exact;
  const longer = ids.filter((id) => normal(id).startsWith(`${normalName(name)}-`));
  return longer.length === 1 ? longer[0] : longer.find((id) => id === preferred);
}

function normalName({ name, tag }: ModelName): string {
  const stem = name.replace(/[-_.]gguf$/i, "");
  return normal(tag.toLowerCase() === defaultTag ? stem : `${stem}-${tag}`);
}

function normal(id: string): string {
  return id.toLowerCase().replace(/[-._:]+/g, "-");
}
