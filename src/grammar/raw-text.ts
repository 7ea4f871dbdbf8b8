import type { Embedding } from "./embedding.ts";
import type { Marker, NodeId } from "./ir.ts";
import type { Language, Languages } from "./regex/language.ts";

/**
 * Raw text up to its first terminator, as tagged formats write arguments: none of `until` is completed in it, as text or as token, and
 * control tokens are masked. `within` holds it to a regular language besides, such as a pattern, a length or some texts.
 */
export function rawText(
  { builder, languages }: Pick<Embedding, "builder" | "languages">,
  until: readonly Marker[],
  within?: Language,
): NodeId {
  if (within === undefined) return builder.node({ kind: "text", until, barred: [], controls: false });
  const { all } = languages;
  const ended = languages.union(until.map(({ bytes }) => languages.concat([all, textOf(languages, bytes), all])));
  const language = languages.intersection([within, languages.complement(ended)]);
  return builder.node({ kind: "regex", regex: languages.emit(builder, language) });
}

function textOf(languages: Languages, bytes: Uint8Array): Language {
  return languages.literal(new TextDecoder().decode(bytes));
}
