/**
 * The proof's own proof: errors put into the engine, one at a time, in a copy of its sources. Each has to be caught by the oracle.
 * Exits with 1 where one is not, or where the proof finds fault with the engine as it is.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineCommand } from "citty";
import { findZig } from "../scripts/setup/zig.ts";
import { engineMutations, type Mutation, mutatedText } from "../tests/fixtures/engine-mutations.ts";
import { wholeNumber } from "./arguments.ts";
import { rounded } from "./statistics.ts";

export const mutations = defineCommand({
  meta: { name: "mutations", description: "Put errors into copies of the engine, which the proof has to find" },
  args: {
    states: { type: "string", description: "States that the proof may compare", default: "8000", valueHint: "N" },
    seed: { type: "string", description: "Of the proof", default: "1", valueHint: "N" },
  },
  async run({ args }) {
    const startMs = performance.now();
    const size = { states: wholeNumber("states", args.states), seed: wholeNumber("seed", args.seed) };
    const zig = await findZig(root);
    const copy = mkdtempSync(join(tmpdir(), "tenon-mutations-"));
    try {
      for (const name of ["zig", "kernels", "build.zig"])
        cpSync(join(root, name), join(copy, name), { recursive: true });
      const unchanged = await prove(zig, copy, size);
      const results: (Proven & { readonly what: string })[] = [];
      for (const mutation of engineMutations) {
        const { what } = mutation;
        results.push({ what, ...(await withMutation(mutation, copy, () => prove(zig, copy, size))) });
        process.stderr.write(`${results.at(-1)?.caught ?? "not caught"}: ${what}\n`);
      }
      const seconds = rounded((performance.now() - startMs) / 1000);
      process.stdout.write(
        `${JSON.stringify({ bench: "mutations", ...size, seconds, unchanged, results }, null, 2)}\n`,
      );
      if (unchanged.caught !== undefined || results.some(({ caught }) => caught === undefined)) process.exitCode = 1;
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  },
});

type Proven = {
  /** How it was: masks that are not those of the oracle, an assertion of the engine's own, or no end. */
  readonly caught: "oracle" | "crash" | "hang" | undefined;
  readonly example: unknown;
};

const root = join(import.meta.dir, "..");

async function withMutation<T>(mutation: Mutation, copy: string, then: () => Promise<T>): Promise<T> {
  const path = join(copy, "zig", mutation.path);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, mutatedText(mutation, text));
  try {
    return await then();
  } finally {
    writeFileSync(path, text);
  }
}

/** Builds the copy and holds its masks to the oracle; in a process of its own, which may die of it. */
async function prove(zig: string, copy: string, { states, seed }: { readonly states: number; readonly seed: number }) {
  const build = Bun.spawn([zig, "build", "-Dquick-library", "--cache-dir", join(root, ".zig-cache")], {
    cwd: copy,
    stderr: "pipe",
  });
  if ((await build.exited) !== 0) throw new Error(`a mutation does not compile:\n${await build.stderr.text()}`);
  const library = join(copy, "zig-out", "lib", `libtenon.${process.platform === "darwin" ? "dylib" : "so"}`);
  const flags = ["--states", String(states), "--walks", "0", "--closing", "0", "--seed", String(seed)];
  const proof = Bun.spawn([process.execPath, join(root, "bench", "main.ts"), "proof", ...flags], {
    env: { ...Bun.env, TENON_LIBRARY: library },
    stderr: "pipe",
    timeout: proofMsMax,
    killSignal: "SIGKILL",
  });
  const [said, complained] = await Promise.all([proof.stdout.text(), proof.stderr.text(), proof.exited]);
  return provenOf(proof, said, complained);
}

function provenOf(proof: Bun.Subprocess, said: string, complained: string): Proven {
  if (proof.signalCode === "SIGKILL") return { caught: "hang", example: undefined };
  if (said === "") return { caught: "crash", example: complained.split("\n")[0] };
  const [example] = JSON.parse(said).masks.disagreements;
  return { caught: example === undefined ? undefined : "oracle", example };
}

const proofMsMax = 900_000;
