import type { Result } from "../generation/result.ts";
import type { IrBuilder, NodeId } from "./ir.ts";
import type { Refusal } from "./json-schema/schema.ts";
import type { Languages } from "./regex/language.ts";

/** What the front ends of grammars need to write what is not theirs. */
export type Embedding = {
  readonly builder: IrBuilder;
  /** What the regular parts are made with. */
  readonly languages: Languages;
  /** The tokens of a text in which special tokens are read as such. */
  readonly tokensOf: (text: string) => ArrayLike<number>;
  /** Tokens of the vocabulary. */
  readonly tokenCount: number;
  /** The control token of exactly this text. */
  readonly controlToken: (text: string) => number | undefined;
  /** The node of a JSON Schema, given as its own text; `order` of keys where the policy leaves it open. */
  readonly json: (schema: string, order?: "any" | "schema") => Result<NodeId, Refusal>;
};
