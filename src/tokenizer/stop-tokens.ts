import type { SpecialTokens } from "../models/card.ts";
import { bytesAt, type TextTable } from "../models/text-table.ts";

/**
 * The tokens that end a turn or a text: those that the file declares, and those with a name that means it in the
 * formats in use, since many files declare one of several. `isControl` tells whether the file marks a token as one.
 */
export function stopTokensOf(
  special: SpecialTokens,
  tokens: TextTable,
  isControl: (token: number) => boolean,
): readonly number[] {
  const stops = new Set([special.eos, special.eot, special.eom].filter((id) => id !== undefined));
  const named = idsOf(tokens, [...certainNames, ...controlNames]);
  for (const name of certainNames) stops.add(named.get(name) ?? -1);
  for (const name of controlNames) {
    const id = named.get(name) ?? -1;
    if (id >= 0 && isControl(id)) stops.add(id);
  }
  // In Harmony a message ends with <|end|>, and the turn goes on.
  if (named.has("<|return|>") && named.has("<|call|>")) stops.delete(named.get("<|end|>") ?? -1);
  stops.delete(-1);
  return [...stops].sort((a, b) => a - b);
}

/** Nothing but ends of turns and texts is called so; files that mark them as ordinary tokens do it by mistake. */
const certainNames = [
  "<|im_end|>",
  "<|eot_id|>",
  "<|eom_id|>",
  "<|end|>",
  "<|return|>",
  "<|call|>",
  "<end_of_turn>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "<|end_of_turn|>",
  "<turn|>",
  "<｜end▁of▁sentence｜>",
  "<end_of_utterance>",
] as const;

/** As ordinary tokens these may be text: `</s>` is a tag of HTML, and Gemma has it as such. */
const controlNames = ["</s>", "<eos>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|fim_pad|>"] as const;

/** The tokens with exactly these texts. One pass over the bytes, without a string for each token. */
function idsOf(tokens: TextTable, names: readonly string[]): ReadonlyMap<string, number> {
  const wanted = names.map((name) => ({ name, bytes: Buffer.from(name) }));
  const lengths = new Set(wanted.map(({ bytes }) => bytes.length));
  const found = new Map<string, number>();
  for (let id = 0; id < tokens.count; id++) {
    const length = (tokens.ends[id] ?? 0) - (tokens.starts[id] ?? 0);
    const first = tokens.bytes[tokens.starts[id] ?? 0];
    if ((first !== 0x3c && first !== 0x5b && first !== 0x5f) || !lengths.has(length)) continue;
    const text = bytesAt(tokens, id);
    const match = wanted.find(({ bytes }) => bytes.length === length && bytes.equals(text));
    if (match !== undefined && !found.has(match.name)) found.set(match.name, id);
  }
  return found;
}
