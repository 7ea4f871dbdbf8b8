import { formats } from "../tests/oracle/document-judge.ts";
import { openPythonWorker } from "./python-worker.ts";

/** The keywords that a document breaks, choices by those of their branches; undefined: it cannot judge this schema. */
export type PythonJudge = AsyncDisposable & {
  judge(schema: string, documents: readonly string[]): Promise<readonly (readonly string[])[] | undefined>;
};

const version = "4.26.0";

/** python-jsonschema with the packages that its formats take. */
export async function openPythonJudge(flag: string): Promise<PythonJudge> {
  const worker = await openPythonWorker({
    script: "jsonschema_worker.py",
    args: formats,
    name: `jsonschema-${version}`,
    packages: [
      `jsonschema==${version}`,
      "attrs==26.1.0",
      "jsonschema-specifications==2025.9.1",
      "referencing==0.37.0",
      "rpds-py==2026.9.1",
      "typing-extensions==4.16.0",
      "fqdn==1.6.0",
      "idna==3.20",
      "isoduration==20.11.0",
      "arrow==1.4.0",
      "python-dateutil==2.9.0.post0",
      "six==1.17.0",
      "tzdata==2026.6",
      "jsonpointer==3.12",
      "rfc3339-validator==0.1.4",
      "rfc3986-validator==0.1.1",
      "uri-template==1.3.0",
    ],
    flag,
    answerMsMax: 60_000,
  });
  return {
    async judge(schema, documents) {
      const answer = await worker.ask({ schema, documents });
      const found: Answer = answer === undefined ? { error: "" } : JSON.parse(answer);
      if ("error" in found) return undefined;
      return found.complaints.map((list) => list.map(([keyword]) => keyword));
    },
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

type Answer =
  | { readonly error: string }
  | { readonly complaints: readonly (readonly (readonly [keyword: string, place: string])[])[] };

/** Why python-jsonschema is wrong by the specification where it says that a document breaks these keywords, if it is. */
export function pythonExcuse(keywords: readonly string[]): string | undefined {
  const ofPatterns = keywords.length > 0 && keywords.every((keyword) => keyword === "pattern");
  return ofPatterns ? "its patterns are Python's, not ECMAScript's" : undefined;
}
