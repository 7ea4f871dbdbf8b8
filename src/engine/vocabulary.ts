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
  /** `workUnits`: what it may take before it is refused by its limit; undefined for the most there is. */
  compile(ir: Uint8Array<ArrayBuffer>, workUnits?: number): Result<Grammar, CompileFailure>;
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
    compile: (ir, workUnits) => compile(library, handle, ir, workUnits),
    [Symbol.dispose]: () => {
      calls.tenon_vocabulary_destroy(handle);
    },
  });
}

/** Compiles for the vocabulary behind a handle. Any thread may: what it compiles belongs to the process. */
export function compile(
  library: Library,
  vocabulary: number,
  ir: Uint8Array<ArrayBuffer>,
  workUnits = 0,
): Result<Grammar, CompileFailure> {
  const report = reportOf(structs.GrammarReport);
  const status = library.calls.tenon_grammar_create(vocabulary, ir, ir.length, workUnits, report.bytes);
  if (status !== statuses.ok) {
    const message = library.errorText();
    if (status !== statuses.refused) {
      const kind = status === statuses.too_many || status === statuses.out_of_memory ? "limit" : "invalid";
      return fail({ kind, message, origin: undefined });
    }
    const origin = report.get("origin");
    return fail({ kind: refusalKind(report.get("refusal")), message, origin: origin === none ? undefined : origin });
  }
  return ok(grammarBehind(library, report.get("handle"), report.get("cost_min")));
}

/** What was compiled, by its handle. */
export function grammarBehind(library: Library, handle: number, costMin: number): Grammar {
  return {
    handle,
    costMin,
    [Symbol.dispose]: () => {
      library.calls.tenon_grammar_destroy(handle);
    },
  };
}

function refusalKind(number: number): CompileFailure["kind"] {
  const { unsatisfiable, limit } = enums.RefusalKind;
  return number === unsatisfiable ? "unsatisfiable" : number === limit ? "limit" : "invalid";
}
