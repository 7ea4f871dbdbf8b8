import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { findPython } from "../scripts/setup/python.ts";

/** What llguidance made of one schema and its instances; times are those of llguidance_worker.py. */
export type Outcome =
  | { readonly error: string }
  | {
      readonly compileUs: number;
      readonly maskUs: readonly number[];
      /** For each instance: tokens accepted, and whether the output may end after all of them. */
      readonly verdicts: readonly { readonly tokens: number; readonly end: boolean }[];
    };

export type Llguidance = AsyncDisposable & {
  /** Answers come one at a time, in order. */
  measure(schema: string, instances: readonly (readonly number[])[]): Promise<Outcome>;
};

export const llguidanceVersion = "1.9.1";

/** Installs llguidance from Python's package index into a folder of its own, once, and starts it over a tokenizer.json. */
export async function openLlguidance(tokenizer: string, repeat: number): Promise<Llguidance> {
  const folder = join(import.meta.dir, "..", ".tools", `llguidance-${llguidanceVersion}`);
  if (!existsSync(folder)) {
    const python = await findPython("leave --llguidance out");
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await python.installTo(`llguidance==${llguidanceVersion}`, unfinished);
    await rename(unfinished, folder);
  }
  const process = Bun.spawn(["python3", join(import.meta.dir, "llguidance_worker.py"), tokenizer, String(repeat)], {
    stdin: "pipe",
    stderr: "inherit",
    env: { ...Bun.env, PYTHONPATH: folder },
  });
  const lines = linesOf(process.stdout);
  const next = async () => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error("llguidance_worker.py ended");
    return value;
  };
  await next();
  return {
    async measure(schema, instances) {
      process.stdin.write(`${JSON.stringify({ schema, instances })}\n`);
      await process.stdin.flush();
      const outcome: Outcome = JSON.parse(await next());
      return outcome;
    },
    async [Symbol.asyncDispose]() {
      process.stdin.end();
      await process.exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
