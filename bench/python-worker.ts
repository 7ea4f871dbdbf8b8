import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { findPython } from "../scripts/setup/python.ts";

/** A Python program that answers lines with lines, over packages in a folder of its own under .tools. */
export type PythonWorker = AsyncDisposable & {
  /** Answers come one at a time, in order; undefined where it died or took longer than it may, after which it starts anew. */
  ask(question: object): Promise<string | undefined>;
};

export type PythonProgram = {
  /** A file beside this one; it prints a line as soon as it is ready. */
  readonly script: string;
  readonly args: readonly string[];
  /** Of the folder: name and version of what it is about. */
  readonly name: string;
  /** All that it imports, with versions; nothing they depend on is added. */
  readonly packages: readonly string[];
  /** What to leave out where there is no Python. */
  readonly flag: string;
  readonly answerMsMax: number;
};

/** Installs the packages from Python's package index, once, and starts the program. */
export async function openPythonWorker(program: PythonProgram): Promise<PythonWorker> {
  const folder = join(import.meta.dir, "..", ".tools", program.name);
  if (!existsSync(folder)) {
    const python = await findPython(`leave ${program.flag} out`);
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await python.installTo(program.packages, unfinished);
    await rename(unfinished, folder);
  }
  let running: Running | undefined = await start(program, folder);
  return {
    async ask(question) {
      running ??= await start(program, folder);
      const answer = await running.ask(question);
      if (answer === undefined) {
        await running.stop();
        running = undefined;
      }
      return answer;
    },
    async [Symbol.asyncDispose]() {
      await running?.stop();
    },
  };
}

type Running = { ask(question: object): Promise<string | undefined>; stop(): Promise<void> };

async function start({ script, args, answerMsMax }: PythonProgram, folder: string): Promise<Running> {
  const process = Bun.spawn(["python3", join(import.meta.dir, script), ...args], {
    stdin: "pipe",
    stderr: "inherit",
    env: { ...Bun.env, PYTHONPATH: folder },
  });
  const lines = linesOf(process.stdout);
  if ((await lines.next()).done === true) throw new Error(`${script} ended before it was ready`);
  return {
    async ask(question) {
      const timer = setTimeout(() => process.kill("SIGKILL"), answerMsMax);
      try {
        process.stdin.write(`${JSON.stringify(question)}\n`);
        await process.stdin.flush();
        return (await lines.next()).value ?? undefined;
      } finally {
        clearTimeout(timer);
      }
    },
    async stop() {
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
