import type { Run } from "./mask-run.ts";
import { rounded } from "./statistics.ts";

type Entry = { readonly id: string; readonly us: number; readonly what: string };

/** Which schemas the longest times belong to: the compilation and the slowest mask of each. */
export class Slowest {
  readonly #size: number;
  #compiled: readonly Entry[] = [];
  #masked: readonly Entry[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  add(id: string, { compileUs, maskUs }: Exclude<Run, { refusal: string }>): void {
    if (this.#size === 0) return;
    const index = maskUs.reduce((most, us, at) => (us > (maskUs[most] ?? 0) ? at : most), 0);
    this.#compiled = this.#with(this.#compiled, { id, us: compileUs, what: "compile" });
    this.#masked = this.#with(this.#masked, { id, us: maskUs[index] ?? 0, what: `mask ${index}` });
  }

  /** A line for each: schema, what was slow about it, microseconds. */
  report(): string {
    return [...this.#compiled, ...this.#masked]
      .map(({ id, us, what }) => `slow ${id} ${what}: ${rounded(us)}\n`)
      .join("");
  }

  #with(entries: readonly Entry[], entry: Entry): readonly Entry[] {
    return [...entries, entry].sort((a, b) => b.us - a.us).slice(0, this.#size);
  }
}
