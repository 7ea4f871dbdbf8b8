import type { Tool } from "../generation/request.ts";
import type { IrBuilder, NodeId, ValueId } from "../grammar/ir.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";

/** How one family of models writes tool calls, said once: its grammar, its markers and its history. */
export type Dialect = {
  readonly name: "hermes" | "mistral_nemo" | "llama3_json";
  /** What may not be completed in text when no call is allowed, and where a call begins under auto. */
  markers(tokenizer: Tokenizer): readonly string[];
  /** The node of 1…callsMax calls to `tools`, with channels; nothing before the first or after the last. */
  calls(builder: IrBuilder, frame: CallFrame): NodeId;
  /** The node of a whole answer in which text may stand before, between and after calls, as the format allows. */
  auto(builder: IrBuilder, frame: CallFrame): NodeId;
  /** The node of text in which no call can begin. */
  none(builder: IrBuilder, tokenizer: Tokenizer, tools: readonly Tool[]): NodeId;
};

export type CallFrame = {
  readonly tokenizer: Tokenizer;
  /** The offered tools, each with the compiled value of its arguments. */
  readonly tools: readonly { readonly name: string; readonly arguments: ValueId }[];
  readonly callsMax: number;
};
