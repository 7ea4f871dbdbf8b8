import type { GrammarSource } from "../generation/grammar-source.ts";
import { fail, type Result } from "../generation/result.ts";
import type { IrBuilder, NodeId } from "./ir.ts";
import type { Refusal } from "./json-schema/schema.ts";

/** A grammar → the node that writes what fits it. A place inside the grammar is the refusal's `pointer`, its rule or construct the `keyword`. */
export function lowerGrammar(_builder: IrBuilder, source: GrammarSource): Result<NodeId, Refusal> {
  return fail({ pointer: "", keyword: source.syntax, reason: "is not supported" });
}
