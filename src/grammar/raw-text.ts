import { everyCodePoint } from "./code-points.ts";
import type { IrBuilder, Marker, NodeId, RegexId } from "./ir.ts";

/**
 * Raw text up to its first terminator, as tagged formats write arguments: none of `until` is completed in it, as text or as token, and
 * control tokens are masked. `within` holds it to a regular language besides, such as a pattern, a length or some texts.
 */
export function rawText(builder: IrBuilder, until: readonly Marker[], within?: RegexId): NodeId {
  if (within === undefined) return builder.node({ kind: "text", until, barred: [], controls: false });
  const any = builder.regex({ kind: "repeat", item: anyOf(builder), min: 0, max: undefined });
  const ended = until.map(({ bytes }) => builder.regex({ kind: "concat", items: [any, textOf(builder, bytes), any] }));
  const endless = ended.map((item) => builder.regex({ kind: "complement", item }));
  return builder.node({ kind: "regex", regex: builder.regex({ kind: "intersection", items: [within, ...endless] }) });
}

/** Any text of so many code points. */
export function textOfLength(builder: IrBuilder, min: number, max: number | undefined): RegexId {
  return builder.regex({ kind: "repeat", item: anyOf(builder), min, max });
}

function anyOf(builder: IrBuilder): RegexId {
  return builder.regex({ kind: "class", ranges: everyCodePoint });
}

function textOf(builder: IrBuilder, bytes: Uint8Array): RegexId {
  const characters = [...new TextDecoder().decode(bytes)].map((character) => {
    const point = character.codePointAt(0) ?? 0;
    return builder.regex({ kind: "class", ranges: [[point, point]] });
  });
  return builder.regex({ kind: "concat", items: characters });
}
