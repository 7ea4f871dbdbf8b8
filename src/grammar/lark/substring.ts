import { fail, ok, type Result } from "../../generation/result.ts";
import { grammarCharactersMax } from "../../limits.ts";
import { readJson } from "../json-text.ts";

/** The pieces of `%regex {"substring_words": "…"}` and its like, whose language is any run of neighbours. */
export function substringPieces(text: string): Result<readonly string[], string> {
  const document = readJson(text, { charactersMax: grammarCharactersMax, depthMax: 4, duplicateKeys: "refuse" });
  if (!document.ok) return fail(`is followed by no JSON: ${document.failure.message}`);
  const { root } = document.value;
  const [name, value] = root.kind === "object" && root.entries.size === 1 ? ([...root.entries][0] ?? []) : [];
  if (name === "substring_chars" && value?.kind === "string") return ok([...value.value]);
  if (name === "substring_words" && value?.kind === "string")
    return ok(value.value.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []);
  if (name === "substring_chunks" && value?.kind === "array") {
    const chunks = value.items.map((item) => (item.kind === "string" ? item.value : undefined));
    if (chunks.every((chunk) => chunk !== undefined)) return ok(chunks);
  }
  return fail("takes an object with one of 'substring_chars', 'substring_words' and 'substring_chunks'");
}
