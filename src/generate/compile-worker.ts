/** The thread on which large constraints are compiled; started by compile-elsewhere.ts. */
import { constrain } from "../dialects/constrain.ts";
import { dialects } from "../dialects/detect.ts";
import { openLibrary } from "../engine/library.ts";
import { compile } from "../engine/vocabulary.ts";
import { ok, type Result } from "../generation/result.ts";
import { finish } from "./compile.ts";
import type { Answered, Asked, Setting } from "./compile-elsewhere.ts";
import { openDocuments } from "./documents.ts";
import { readSource } from "./source.ts";

declare const self: Worker;

let answer: Promise<(asked: Asked) => Answered["result"]> | undefined;

self.onmessage = async ({ data }: MessageEvent<{ readonly setting: Setting } | Asked>) => {
  if ("setting" in data) {
    answer = prepare(data.setting);
    return;
  }
  let result: Answered["result"];
  try {
    if (answer === undefined) throw new Error("asked before the setting came");
    result = (await answer)(data);
  } catch (error) {
    // A bug is the request's, which must hear of it.
    result = {
      ok: false,
      failure: { kind: "engine", message: error instanceof Error ? error.message : String(error) },
    };
  }
  self.postMessage({ result } satisfies Answered);
};

/** The library is the process's own, so the vocabulary's handle means here what it means there. */
async function prepare(setting: Setting): Promise<(asked: Asked) => Answered["result"]> {
  const { vocabulary, options } = setting;
  const source = must(await readSource(setting.model, setting.home));
  const library = must(openLibrary(setting.library));
  const documents = must(openDocuments(setting.documents));
  const dialect = dialects.find(({ name }) => name === setting.dialect);
  if (dialect === undefined) throw new Error(`there is no dialect ${setting.dialect}`);
  return ({ request, thoughts }) => {
    const constrained = constrain(request, { ...options, documents, dialect, tokenizer: source.tokenizer, thoughts });
    const compiled = finish(constrained, { compile: (ir) => compile(library, vocabulary, ir) });
    if (!compiled.ok) return compiled;
    const { grammar, ...rest } = compiled.value;
    return ok({ ...rest, grammar: grammar && { handle: grammar.handle, costMin: grammar.costMin } });
  };
}

function must<T>(result: Result<T, string>): T {
  if (result.ok) return result.value;
  throw new Error(result.failure);
}
