import { join } from "node:path";

/** A file of this project, by its path from the root, with `/` between the parts. */
export type Source = { readonly path: string; readonly text: string };

/** The sources that match, tests included, generated files not. */
export async function sources(...patterns: readonly string[]): Promise<readonly Source[]> {
  const found: Source[] = [];
  for (const pattern of patterns)
    for await (const path of new Bun.Glob(pattern).scan({ cwd: root }))
      if (!path.includes(".gen.")) found.push({ path, text: await Bun.file(join(root, path)).text() });
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The number of the line, from 1, in which this offset of the text lies. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

export const root = join(import.meta.dir, "..", "..");
