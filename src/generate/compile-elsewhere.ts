import type { ModelChoice } from "../config.ts";
import type { ConstrainContext } from "../dialects/constrain.ts";
import type { Thoughts } from "../dialects/thoughts.ts";
import { grammarBehind, type NativeVocabulary } from "../engine/vocabulary.ts";
import type { Failure } from "../generation/failure.ts";
import type { Request } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import type { SchemaDocument } from "../generation/schema-document.ts";
import type { Compiled } from "./compile.ts";

/** What the other thread has to know before it is asked; plain data. */
export type Setting = {
  readonly library: string;
  /** Handle of the vocabulary that grammars are compiled for. */
  readonly vocabulary: number;
  readonly model: ModelChoice;
  readonly home: string;
  readonly dialect: string;
  readonly options: Pick<ConstrainContext, "callsMax" | "toolStrict" | "relaxTools">;
  readonly documents: readonly SchemaDocument[];
};

/** One constraint to compile. The next one is asked when this is answered. */
export type Asked = { readonly request: Request; readonly thoughts: Thoughts | undefined };
export type Answered = {
  readonly result: Result<
    Omit<Compiled, "grammar"> & { readonly grammar: { readonly handle: number; readonly costMin: number } | undefined },
    Failure
  >;
};

export type Elsewhere = Disposable & {
  /** Once the signal is given it is "cancelled", and not begun where it was not yet. */
  compile(request: Request, thoughts: Thoughts | undefined, signal: AbortSignal): Promise<Result<Compiled, Failure>>;
};

/** In the executable all modules are one file, and the worker is an entry of its own. */
const isBundled = import.meta.file !== "compile-elsewhere.ts";
const workerPath = isBundled ? "./generate/compile-worker.ts" : new URL("./compile-worker.ts", import.meta.url);

type Job = Asked & { readonly answer: (result: Result<Compiled, Failure>) => void };

/** Compiles on a thread of its own, one constraint after the other. The thread starts with the first one. */
export function compileElsewhere(
  vocabulary: NativeVocabulary,
  setting: Omit<Setting, "library" | "vocabulary">,
): Elsewhere {
  const { library, handle } = vocabulary;
  const queue: Job[] = [];
  /** What the thread is at; its answer may be that nobody waits any more. */
  let running: Job | undefined;
  let worker: Worker | undefined;

  function start(): Worker {
    const started = new Worker(workerPath);
    started.unref();
    started.onmessage = ({ data }: MessageEvent<Answered>) => {
      const job = running;
      running = undefined;
      next();
      const { result } = data;
      if (!result.ok) return job?.answer(result);
      const { grammar, ...rest } = result.value;
      const compiled = grammar && grammarBehind(library, grammar.handle, grammar.costMin);
      job?.answer(ok({ ...rest, grammar: compiled }));
    };
    // A thread that dies takes its request along; the next one gets a new thread.
    started.onerror = ({ message }) => {
      worker = undefined;
      const job = running;
      running = undefined;
      job?.answer(fail({ kind: "engine", message: `The compiling thread died: ${message}` }));
      next();
    };
    started.postMessage({ setting: { ...setting, library: library.path, vocabulary: handle } satisfies Setting });
    return started;
  }

  function next(): void {
    if (running !== undefined) return;
    running = queue.shift();
    if (running === undefined) return;
    worker ??= start();
    const { request, thoughts } = running;
    worker.postMessage({ request, thoughts } satisfies Asked);
  }

  return {
    compile(request, thoughts, signal) {
      if (signal.aborted) return Promise.resolve(fail({ kind: "cancelled" }));
      const { promise, resolve } = Promise.withResolvers<Result<Compiled, Failure>>();
      const settle = (result: Result<Compiled, Failure>) => {
        signal.removeEventListener("abort", cancel);
        // What was begun for somebody who has left is given back.
        if (signal.aborted && result.ok) result.value.grammar?.[Symbol.dispose]();
        resolve(signal.aborted ? fail({ kind: "cancelled" }) : result);
      };
      // The conversation is not needed for it, and may be long.
      const job = { request: { ...request, messages: [] }, thoughts, answer: settle };
      const cancel = () => {
        const at = queue.indexOf(job);
        if (at >= 0) queue.splice(at, 1);
        resolve(fail({ kind: "cancelled" }));
      };
      signal.addEventListener("abort", cancel, { once: true });
      queue.push(job);
      next();
      return promise;
    },
    [Symbol.dispose]() {
      worker?.terminate();
    },
  };
}
