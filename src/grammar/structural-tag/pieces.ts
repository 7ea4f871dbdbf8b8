import type { Embedding } from "../embedding.ts";
import type { Marker, NodeId } from "../ir.ts";
import { rawText } from "../raw-text.ts";

/** How a tag begins or ends. */
export type Edge =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "token"; readonly token: number };

/** The nodes that formats are made of. */
export function piecesOf({ builder, languages, controlToken }: Embedding) {
  const sequence = (...items: NodeId[]) => builder.node({ kind: "sequence", items });
  const choice = (items: readonly NodeId[]) => builder.node({ kind: "choice", items });
  const repeat = (item: NodeId, min: number, max?: number) => builder.node({ kind: "repeat", item, min, max });
  const bytes = (text: string) => builder.node({ kind: "bytes", bytes: utf8.encode(text) });
  const token = (id: number) => builder.node({ kind: "token", token: id });
  const anyToken = (except: readonly number[]) => builder.node({ kind: "any_token", except: [...new Set(except)] });

  /** A text that may also be written as the control token of that text, where there is one. */
  const markerOf = (text: string): Marker => ({ token: controlToken(text), bytes: utf8.encode(text) });
  const marker = (text: string) => {
    const found = markerOf(text);
    return found.token === undefined ? bytes(text) : builder.node({ kind: "marker", ...found });
  };
  const edge = (item: Edge) => (item.kind === "text" ? marker(item.text) : token(item.token));

  const freeText = (until: readonly string[], charactersMax?: number) => {
    const within = charactersMax === undefined ? undefined : languages.repeat(languages.anyPoint, 0, charactersMax);
    return rawText({ builder, languages }, [...new Set(until)].map(markerOf), within);
  };

  /** `item` once or, `many`, again and again, with free text around it; where one is needed, nothing stands before it. */
  const among = (free: NodeId, item: NodeId, needed: boolean, many: boolean) => {
    if (!many) return needed ? item : sequence(free, repeat(item, 0, 1));
    const more = repeat(sequence(item, free), 0);
    return needed ? sequence(item, free, more) : sequence(free, more);
  };

  return { sequence, choice, repeat, bytes, token, anyToken, marker, edge, freeText, among };
}

const utf8 = new TextEncoder();
