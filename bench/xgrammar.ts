import type { Verdict } from "./llguidance.ts";
import { openPythonWorker } from "./python-worker.ts";

export type Xgrammar = AsyncDisposable & {
  measure(
    schema: string,
    instances: readonly (readonly number[])[],
  ): Promise<{ readonly error: string } | { readonly verdicts: readonly Verdict[] }>;
};

export const xgrammarVersion = "0.2.9";

/** XGrammar over a tokenizer.json of byte-level BPE. It compiles some schemas for minutes: those count as not compiled. */
export async function openXgrammar(tokenizer: string): Promise<Xgrammar> {
  const worker = await openPythonWorker({
    script: "xgrammar_worker.py",
    args: [tokenizer],
    name: `xgrammar-${xgrammarVersion}`,
    packages: [
      `xgrammar==${xgrammarVersion}`,
      "apache-tvm-ffi==0.1.15.post2",
      "pydantic==2.14.3",
      "pydantic-core==2.50.4",
      "annotated-types==0.8.0",
      "typing-extensions==4.16.0",
      "typing-inspection==0.4.5",
    ],
    flag: "this bench",
    answerMsMax: 20_000,
  });
  return {
    async measure(schema, instances) {
      const answer = await worker.ask({ schema, instances });
      return answer === undefined ? { error: "it died, or took too long" } : JSON.parse(answer);
    },
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}
