import { parseArgs } from "node:util";
import { renderUsage } from "citty";
import { fail, ok, type Result } from "../generation/result.ts";

/** What `tenon check` was asked. */
export type CheckOptions = {
  readonly file: string;
  /** Undefined: by the file's ending. */
  readonly kind: CheckKind | undefined;
  readonly instance: string | undefined;
  /** A tokenizer.json or a GGUF file; undefined stands for single bytes. */
  readonly vocabulary: string | undefined;
  /** A folder with the schemas that references may lead to. */
  readonly documents: string | undefined;
  /** Read schemas as the specification has them instead of as answers get them. */
  readonly spec: boolean;
};

export const checkKinds = ["json_schema", "gbnf", "lark", "regex", "choice", "lexicon", "structural_tag"] as const;
export type CheckKind = (typeof checkKinds)[number];

export type CheckCommand =
  | { readonly kind: "check"; readonly options: CheckOptions }
  | { readonly kind: "print"; readonly text: string };

/** Reads the words after `check`. The failure is a sentence for the user. */
export async function readCheck(argv: readonly string[]): Promise<Result<CheckCommand, string>> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(argv);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  if (values.help === true) return ok({ kind: "print", text: await usage() });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0)
    return fail("check takes one FILE, a schema or a grammar; --help says more.");
  const kind = checkKinds.find((known) => known === values.kind);
  if (values.kind !== undefined && kind === undefined) {
    return fail(`--kind takes ${checkKinds.join(", ")}, not '${values.kind}'.`);
  }
  const { instance, vocabulary, documents, spec = false } = values;
  return ok({ kind: "check", options: { file, kind, instance, vocabulary, documents, spec } });
}

function parse(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      kind: { type: "string" },
      instance: { type: "string" },
      vocabulary: { type: "string" },
      documents: { type: "string" },
      spec: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
}

function usage(): Promise<string> {
  return renderUsage({
    meta: {
      name: "tenon check",
      description: "Compile a schema or grammar and say what is enforced, annotated, refused or could be relaxed",
    },
    args: {
      file: { type: "positional", description: "A schema (.json) or a grammar (.gbnf, .lark)", required: true },
      kind: { type: "string", valueHint: checkKinds.join("|"), description: "What the file is (by its ending)" },
      instance: { type: "string", valueHint: "FILE", description: "Say where this text stops being valid" },
      vocabulary: { type: "string", valueHint: "FILE", description: "A tokenizer.json or a GGUF file (single bytes)" },
      documents: {
        type: "string",
        valueHint: "DIR",
        description: "Folder of the JSON Schemas that references may lead to (none)",
      },
      spec: { type: "boolean", description: "Read schemas as the specification has them (as answers get them)" },
    },
  });
}
