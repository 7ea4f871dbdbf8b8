import { fail, ok, type Result } from "../generation/result.ts";
import type { IrBuilder, NodeId } from "./ir.ts";
import type { Refusal } from "./json-schema/schema.ts";

/** One of these texts, character for character. */
export function lowerChoice(builder: IrBuilder, texts: readonly string[]): Result<NodeId, Refusal> {
  if (texts.length === 0) return fail({ pointer: "", keyword: "", reason: "has no texts, so nothing fits it" });
  const broken = texts.findIndex((text) => !text.isWellFormed());
  if (broken >= 0) return fail({ pointer: `/${broken}`, keyword: "", reason: "has half a surrogate pair" });
  return ok(builder.node({ kind: "texts", texts: texts.map((text) => utf8.encode(text)) }));
}

const utf8 = new TextEncoder();
