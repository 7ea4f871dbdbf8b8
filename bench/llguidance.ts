import { openPythonWorker } from "./python-worker.ts";

/** What another engine made of one schema and its instances; times are those of llguidance_worker.py. */
export type Outcome =
  | { readonly error: string }
  | {
      readonly compileUs: number;
      readonly maskUs: readonly number[];
      readonly verdicts: readonly Verdict[];
    };

/** Of an instance: tokens accepted, and whether the output may end after all of them. */
export type Verdict = { readonly tokens: number; readonly end: boolean };

export type Llguidance = AsyncDisposable & {
  measure(schema: string, instances: readonly (readonly number[])[]): Promise<Outcome>;
};

export const llguidanceVersion = "1.9.1";

/** llguidance over a tokenizer.json. */
export async function openLlguidance(tokenizer: string, repeat: number): Promise<Llguidance> {
  const worker = await openPythonWorker({
    script: "llguidance_worker.py",
    args: [tokenizer, String(repeat)],
    name: `llguidance-${llguidanceVersion}`,
    packages: [`llguidance==${llguidanceVersion}`],
    flag: "--llguidance",
    answerMsMax: 600_000,
  });
  return {
    async measure(schema, instances) {
      const answer = await worker.ask({ schema, instances });
      const outcome: Outcome = answer === undefined ? { error: "it died, or took too long" } : JSON.parse(answer);
      return outcome;
    },
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}
