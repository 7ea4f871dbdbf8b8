import { fail, ok, type Result } from "../../generation/result.ts";
import { separatorCharactersMax } from "../../limits.ts";
import type { IrBuilder, NodeId } from "../ir.ts";
import type { Refusal } from "../json-schema/schema.ts";
import { variants } from "./skeleton.ts";

/** Words of a list; `fold` accepts their `variants` as well. */
export type Lexicon = { readonly words: readonly string[]; readonly fold: boolean };

/**
 * Words of the list with separators between them, and maybe one before the first and after the last, so that an output may end as
 * soon as a word is complete. A separator is a few of `separatorCharacters`; a word may hold some, too.
 */
export function lowerLexicon(builder: IrBuilder, { words, fold }: Lexicon): Result<NodeId, Refusal> {
  const broken = words.findIndex((word) => word === "" || !word.isWellFormed());
  if (broken >= 0)
    return fail({ pointer: `/${broken}`, keyword: "", reason: "is no word: it is empty, or half a surrogate pair" });
  if (words.length === 0) return fail({ pointer: "", keyword: "", reason: "has no words" });
  const texts = fold ? new Set(words.flatMap((word) => [...variants(word)])) : new Set(words);
  const word = builder.node({ kind: "texts", texts: [...texts].map((text) => utf8.encode(text)) });
  const separator = builder.node({ kind: "texts", texts: [...separatorCharacters].map((text) => utf8.encode(text)) });
  const some = (min: number) => builder.node({ kind: "repeat", item: separator, min, max: separatorCharactersMax });
  const further = builder.node({ kind: "sequence", items: [some(1), word] });
  const more = builder.node({ kind: "repeat", item: further, min: 0, max: undefined });
  return ok(builder.node({ kind: "sequence", items: [some(0), word, more, some(0)] }));
}

/** White space, ASCII punctuation, and the quotes and dashes of typography; each one UTF-16 unit. */
export const separatorCharacters = " \t\n\r!\"'(),-./:;?[]{}«»‐‑–—‘’‚“”„…¡¿、。";

const utf8 = new TextEncoder();
