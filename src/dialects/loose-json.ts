import { bare, type IrBuilder, type JsonStyle, type NodeId } from "../grammar/ir.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { framer } from "./frame.ts";

/**
 * Any object as models write it by themselves: Python's names of true, false and null may stand for JSON's, which whoever writes the
 * arguments out puts right.
 */
export function looseObject(builder: IrBuilder, tokenizer: Tokenizer, style: JsonStyle): NodeId {
  const { sequence, repeat, bytes, spaces } = framer(builder, tokenizer);
  const json = (...cases: Parameters<IrBuilder["value"]>[0]["cases"]) =>
    builder.node({ kind: "json", value: builder.value({ cases, origin: 0 }), style });
  const value = builder.reserveNode();
  const list = (open: string, item: NodeId, close: string) => {
    const others = repeat(sequence(spaces, bytes(","), spaces, item), 0);
    return sequence(bytes(open), spaces, repeat(sequence(item, others, spaces), 0, 1), bytes(close));
  };
  const member = sequence(json(bare.string), spaces, bytes(":"), spaces, value);
  const object = list("{", member, "}");
  const scalar = json({ type: "null" }, { type: "true" }, { type: "false" }, bare.number, bare.string);
  const python = ["True", "False", "None"].map(bytes);
  builder.setNode(value, { kind: "choice", items: [scalar, ...python, list("[", value, "]"), object] });
  return object;
}
