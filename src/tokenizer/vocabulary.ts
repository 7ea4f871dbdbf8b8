import { ggufTokenTypes } from "../models/card.ts";
import type { TextTable } from "../models/text-table.ts";
import { byteOfName, copyBytes, type Spelling, spelledBytes } from "./spelling.ts";
import { tokenKinds, type VocabularyData } from "./tokenizer.ts";

/**
 * The exact bytes and the kind of every token. `types` are GGUF's. A token without bytes would never end a text, so it
 * counts as unused; `control` lists further tokens that are reachable by id only, whatever their type.
 */
export function vocabularyOf(
  tokens: TextTable,
  types: Uint8Array,
  spelling: Spelling,
  control: ReadonlySet<number>,
): VocabularyData {
  const { count, bytes: source, starts, ends } = tokens;
  let sourceBytes = 0;
  for (let id = 0; id < count; id++) sourceBytes += (ends[id] ?? 0) - (starts[id] ?? 0);
  const bytes = new Uint8Array(sourceBytes);
  const offsets = new Uint32Array(count + 1);
  const kinds = new Uint8Array(count);
  let at = 0;
  for (let id = 0; id < count; id++) {
    const start = starts[id] ?? 0;
    const end = ends[id] ?? 0;
    const type = types[id];
    if (type === ggufTokenTypes.byte) {
      const byte = byteOfName(source, start, end);
      if (byte === undefined) at = copyBytes(source, start, end, bytes, at);
      else bytes[at++] = byte;
    } else if (
      type === ggufTokenTypes.normal ||
      (type === ggufTokenTypes.userDefined && spelling === "sentencepiece")
    ) {
      at = spelledBytes(spelling, source, start, end, bytes, at);
    } else at = copyBytes(source, start, end, bytes, at);
    offsets[id + 1] = at;
    kinds[id] = control.has(id) ? tokenKinds.control : kindOf(type, at - (offsets[id] ?? 0));
  }
  return { count, bytes: bytes.slice(0, at), offsets, kinds };
}

function kindOf(type: number | undefined, length: number): number {
  if (type === ggufTokenTypes.control || type === ggufTokenTypes.unknown) return tokenKinds.control;
  return type === ggufTokenTypes.unused || length === 0 ? tokenKinds.unused : tokenKinds.normal;
}
