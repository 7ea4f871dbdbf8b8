import type { IrBuilder, JsonStyle, NodeId, ValueId } from "../grammar/ir.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Tags } from "./thoughts.ts";

/** How one family of models writes tool calls, said once: its grammar with the channels, its markers and its history. */
export type Dialect = {
  readonly name: "hermes" | "mistral_nemo" | "llama3_json";
  /** Texts, or tokens of that text, with which a call begins; a format without one tells a call by how the answer begins. */
  readonly markers: readonly string[];
  /** Calls that one answer can carry. */
  readonly callsMax: number;
  /**
   * The texts in which a template may show one call of the history, canonical first. `call.arguments` is JSON text as templates
   * write it, with a space after `,` and `:`.
   */
  encodings(call: EncodedCall): readonly string[];
  /** A call that carries raw input, as the grammar has it written. No template knows how, so the history writes it itself. */
  customCall(name: string, input: string): string;
  /** Whether the source of a template that shows no call speaks of this format. */
  isNamedBy(template: string): boolean;
  /** The node of 1…callsMax calls; nothing before the first or after the last. */
  calls(builder: IrBuilder, frame: CallFrame): NodeId;
  /** The node of a whole answer, in which text may stand before, between and after calls as the format allows. */
  auto(builder: IrBuilder, frame: CallFrame): NodeId;
  /**
   * The node of a whole answer that nothing was held to: any bytes, of which all is text that is no call. Of the same frame as `auto`, as
   * models write it by themselves.
   */
  tolerant(builder: IrBuilder, frame: CallFrame): NodeId;
  /** The node of text in which no call of these tools can begin. */
  none(
    builder: IrBuilder,
    frame: Pick<CallFrame, "tokenizer" | "tags"> & { readonly names: readonly string[] },
  ): NodeId;
};

export type CallFrame = {
  readonly tokenizer: Tokenizer;
  /** The offered tools, at least one, each with the value of its arguments. Names are distinct, and the same inside JSON quotes. */
  readonly tools: readonly CallableTool[];
  /** Of the arguments. */
  readonly style: JsonStyle;
  readonly callsMax: number;
  /** Of thoughts in the text between calls. */
  readonly tags: Tags | undefined;
};

export type CallableTool =
  /** `open`: they are any object. */
  | { readonly name: string; readonly arguments: ValueId; readonly open?: true }
  /** Takes raw input: what this node accepts. */
  | { readonly name: string; readonly input: NodeId };

export type EncodedCall = { readonly id: string; readonly name: string; readonly arguments: string };
