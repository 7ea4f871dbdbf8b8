import { fail, ok, type Result } from "../generation/result.ts";
import type { VocabularyData } from "../tokenizer/tokenizer.ts";
import { enums, none, structs } from "./abi.gen.ts";
import type { CompileFailure, Grammar } from "./engine.ts";
import { type Library, statuses } from "./library.ts";
import { reportOf } from "./memory.ts";

/** A vocabulary on the native side: grammars are compiled for it, matchers and models use it. */
export type NativeVocabulary = {
  readonly library: Library;
  readonly handle: number;
  /** Tokens. */
  readonly count: number;
  /** u32 words of a mask. */
  readonly words: number;
  /** The rows of its mask arena, one for each matcher that can live at a time; native memory. */
  readonly maskRows: readonly Uint32Array<ArrayBuffer>[];
  compile(ir: Uint8Array<ArrayBuffer>): Result<Grammar, CompileFailure>;
  /** What was made from it keeps it alive on the native side; the rows are gone with the last of that. */
  [Symbol.dispose](): void;
};

export function openVocabulary(library: Library, data: VocabularyData): Result<NativeVocabulary, string> {
  const { calls } = library;
  const report = reportOf(structs.VocabularyReport);
  const { bytes, offsets, kinds, count } = data;
  const status = calls.tenon_vocabulary_create(bytes, bytes.length, offsets, kinds, count, report.bytes);
  if (status !== statuses.ok) return fail(library.errorText());
  const handle = report.get("handle");
  const words = report.get("words");
  const rows = report.get("matchers_max");
  const arena = library.view(report.get("masks"), rows * words * 4);
  return ok({
    library,
    handle,
    count,
    words,
    maskRows: Array.from({ length: rows }, (_, row) => new Uint32Array(arena, row * words * 4, words)),
    compile: (ir) => compile(library, handle, ir),
    [Symbol.dispose]: () => {
      calls.tenon_vocabulary_destroy(handle);
    },
  });
}

function compile(library: Library, vocabulary: number, ir: Uint8Array<ArrayBuffer>): Result<Grammar, CompileFailure> {
  const report = reportOf(structs.GrammarReport);
  const status = library.calls.tenon_grammar_create(vocabulary, ir, ir.length, report.bytes);
  if (status !== statuses.ok) {
    const message = library.errorText();
    if (status !== statuses.refused) {
      const kind = status === statuses.too_many || status === statuses.out_of_memory ? "limit" : "invalid";
      return fail({ kind, message, origin: undefined });
    }
    const origin = report.get("origin");
    return fail({ kind: refusalKind(report.get("refusal")), message, origin: origin === none ? undefined : origin });
  }
  const handle = report.get("handle");
  return ok({
    handle,
    costMin: report.get("cost_min"),
    [Symbol.dispose]: () => {
      library.calls.tenon_grammar_destroy(handle);
    },
  });
}

function refusalKind(number: number): CompileFailure["kind"] {
  const { unsatisfiable, limit } = enums.RefusalKind;
  return number === unsatisfiable ? "unsatisfiable" : number === limit ? "limit" : "invalid";
}
