import { examine } from "./engine/examine.ts";
import { openLibrary } from "./engine/library.ts";
import { listModels } from "./models/catalog.ts";

/** What this machine can do, a line for each finding, and whether all of it works. A bad finding begins with FAIL. */
export function diagnose(library: string, models: string): { readonly text: string; readonly healthy: boolean } {
  const opened = openLibrary(library);
  const native = opened.ok ? examine(opened.value) : `FAIL  Native library: ${opened.failure}\n`;
  const ids = listModels(models).map(({ id }) => id);
  const text = `      Bun ${Bun.version} on ${process.platform} ${process.arch}\n${native}      Models in ${models}: ${ids.join(", ") || "none"}\n`;
  return { text, healthy: !/^FAIL/m.test(text) };
}
