/** Drives zig-out/bin/bench-model (zig/model/bench.zig), which runs a model without server and scheduler around it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findZig } from "../scripts/setup/zig.ts";
import { root } from "../scripts/setup.ts";
import type { ModelCard } from "../src/models/card.ts";
import { findModel, modelsFolder } from "../src/models/catalog.ts";
import { readGguf } from "../src/models/gguf.ts";

export type NativeModel = {
  readonly card: ModelCard;
  /** Runs one command of bench-model and gives its JSON; `input` becomes a file whose name is the last argument. `manifest` is laid over the model's. */
  run(
    command: string,
    options: {
      readonly arguments?: readonly string[];
      readonly input?: unknown;
      readonly manifest?: Partial<ModelCard["manifest"]>;
    },
  ): Promise<string>;
  [Symbol.dispose](): void;
};

/** `name`: a file or a model's name, as `-m` of the server takes it. */
export function openNativeModel(name: string, threads: number): NativeModel {
  const found = findModel(name, modelsFolder(process.env));
  if (!found.ok) throw new Error(found.failure.message);
  const read = readGguf(found.value.path);
  if (!read.ok) throw new Error(read.failure.message);
  const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
  const manifestPath = join(folder, "manifest.json");
  return {
    card: read.value,
    async run(command, { arguments: rest = [], input, manifest }) {
      await Bun.write(manifestPath, JSON.stringify({ ...read.value.manifest, ...manifest }));
      const words = [program, manifestPath, String(threads), command, ...rest];
      if (input !== undefined) {
        const inputPath = join(folder, "input.json");
        await Bun.write(inputPath, JSON.stringify(input));
        words.push(inputPath);
      }
      return outputOf(words);
    },
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const program = join(root, "zig-out", "bin", process.platform === "win32" ? "bench-model.exe" : "bench-model");

/** Once, before the first `run`: minutes when the kernels have changed. */
export async function buildNativeModel(): Promise<void> {
  process.stderr.write("building bench-model\n");
  await outputOf([await findZig(root), "build", "bench-model"]);
}

/** Standard output of a program that must succeed. */
export async function outputOf(words: readonly string[]): Promise<string> {
  const child = Bun.spawn([...words], { cwd: root, stdout: "pipe", stderr: "pipe" });
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${errors.trim()}`);
  return output;
}
