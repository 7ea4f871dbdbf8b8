import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { diskFailure } from "./failure.ts";

/** Removes a file of weights, or all parts of the one whose first part this is. */
export function removeWeights(path: string): Result<void, Failure> {
  const [first = "", suffix] = basename(path).split(/-00001(?=-of-\d{5}\.gguf$)/i);
  const isPart = (file: string) =>
    suffix === undefined
      ? file === first
      : file.startsWith(`${first}-`) &&
        /^-\d{5}$/.test(file.slice(first.length, -suffix.length)) &&
        file.endsWith(suffix);
  const folder = dirname(path);
  try {
    for (const file of readdirSync(folder).filter(isPart)) rmSync(join(folder, file));
    return ok(undefined);
  } catch (error) {
    return fail(diskFailure("the model cannot be deleted", error));
  }
}
