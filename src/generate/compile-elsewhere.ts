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

/** One constraint to compile. */
export type Asked = { readonly id: number; readonly request: Request; readonly thoughts: Thoughts | undefined };
export type Answered = {
  readonly id: number;
  readonly result: Result<
    Omit<Compiled, "grammar"> & { readonly grammar: { readonly handle: number; readonly costMin: number } | undefined },
    Failure
  >;
};

export type Elsewhere = Disposable & {
  compile(request: Request, thoughts: Thoughts | undefined): Promise<Result<Compiled, Failure>>;
};

/** In the executable all modules are one file, and the worker is an entry of its own. */
const isBundled = import.meta.file !== "compile-elsewhere.ts";
const workerPath = isBundled ? "./generate/compile-worker.ts" : new URL("./compile-worker.ts", import.meta.url);

/** Compiles on a thread of its own, one constraint after the other. The thread starts with the first one. */
export function compileElsewhere(
  vocabulary: NativeVocabulary,
  setting: Omit<Setting, "library" | "vocabulary">,
): Elsewhere {
  const { library, handle } = vocabulary;
  const waiting = new Map<number, (result: Result<Compiled, Failure>) => void>();
  let worker: Worker | undefined;
  let ids = 0;

  function start(): Worker {
    const started = new Worker(workerPath);
    started.unref();
    started.onmessage = ({ data }: MessageEvent<Answered>) => {
      const { id, result } = data;
      const answer = waiting.get(id);
      waiting.delete(id);
      if (!result.ok) return answer?.(result);
      const { grammar, ...rest } = result.value;
      const compiled = grammar && grammarBehind(library, grammar.handle, grammar.costMin);
      if (answer === undefined) return compiled?.[Symbol.dispose]();
      answer(ok({ ...rest, grammar: compiled }));
    };
    // A thread that dies takes its requests along; the next one gets a new thread.
    started.onerror = ({ message }) => {
      worker = undefined;
      const answers = [...waiting.values()];
      waiting.clear();
      for (const answer of answers) answer(fail({ kind: "engine", message: `The compiling thread died: ${message}` }));
    };
    started.postMessage({ setting: { ...setting, library: library.path, vocabulary: handle } satisfies Setting });
    return started;
  }

  return {
    compile(request, thoughts) {
      worker ??= start();
      const id = ids++;
      const { promise, resolve } = Promise.withResolvers<Result<Compiled, Failure>>();
      waiting.set(id, resolve);
      // The conversation is not needed for it, and may be long.
      worker.postMessage({ id, request: { ...request, messages: [] }, thoughts } satisfies Asked);
      return promise;
    },
    [Symbol.dispose]() {
      worker?.terminate();
    },
  };
}
