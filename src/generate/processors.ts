import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, ok, type Result } from "../generation/result.ts";

/**
 * Changes what may be said next, in place: `logits` (f32, one a token) and `mask` (bit t & 31 of word t >> 5 allows token t) are the
 * engine's own memory, valid during the call. `tokens` is the prompt and all that was generated. A processor
 * can narrow the mask; what the grammar forbids stays forbidden.
 */
export type LogitsProcessor = (logits: Float32Array, mask: Uint32Array, tokens: Uint32Array) => void;

/** The default exports of TypeScript modules. The failure is a sentence for the user. */
export async function loadProcessors(paths: readonly string[]): Promise<Result<readonly LogitsProcessor[], string>> {
  const processors: LogitsProcessor[] = [];
  for (const path of paths) {
    let module: { readonly default?: unknown };
    try {
      module = await import(pathToFileURL(resolve(path)).href);
    } catch (error) {
      return fail(`The logits processor ${path} cannot be loaded: ${error instanceof Error ? error.message : error}`);
    }
    if (!isProcessor(module.default))
      return fail(`The logits processor ${path} does not export a function by default.`);
    processors.push(module.default);
  }
  return ok(processors);
}

function isProcessor(value: unknown): value is LogitsProcessor {
  return typeof value === "function";
}
