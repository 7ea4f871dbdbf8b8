/**
 * The one intermediate form between every front end (JSON Schema, dialects, later GBNF, Lark, regex) and the native
 * mask engine. Plain data: nodes and values refer to each other by index, so recursion is a cycle of indices.
 * encode.ts writes it as bytes; zig/grammar reads those and nothing else.
 */
export type Ir = {
  readonly nodes: readonly Node[];
  readonly values: readonly Value[];
  readonly root: NodeId;
};

export type NodeId = number;
export type ValueId = number;

/** What a byte of output is for. The numbers are part of the ABI. */
export const channels = {
  text: 0,
  reasoning: 1,
  call_name: 2,
  argument_key: 3,
  /** Raw text still to be escaped as JSON. */
  argument_text: 4,
  /** JSON, verbatim. */
  argument_json: 5,
  value_end: 6,
  custom_input: 7,
  markup: 8,
} as const;
export type ChannelName = keyof typeof channels;

/** A byte string that may also be one token of this vocabulary; either spelling is the marker. */
export type Marker = { readonly token: number | undefined; readonly bytes: Uint8Array };

/**
 * Where two alternatives lead to the same state with different channels, the first in order wins; leaving a `text`
 * or `repeat` comes before staying in it.
 */
export type Node =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Exactly this token, whatever its bytes. */
  | { readonly kind: "token"; readonly token: number }
  | ({ readonly kind: "marker" } & Marker)
  | { readonly kind: "sequence"; readonly items: readonly NodeId[] }
  | { readonly kind: "choice"; readonly items: readonly NodeId[] }
  | { readonly kind: "repeat"; readonly item: NodeId; readonly min: number; readonly max: number | undefined }
  | { readonly kind: "channel"; readonly channel: ChannelName; readonly item: NodeId }
  /**
   * Any bytes in which none of `until` is completed, as token or as text. `controls` lets control tokens pass (they have
   * no bytes here): an answer that is not constrained yet. Without it the text is UTF-8 and control tokens are masked.
   * Nor may the text begin with one of `barred`: the byte that would complete one at the very start is masked. A dialect
   * without a marker tells its calls from text by how an answer begins.
   */
  | {
      readonly kind: "text";
      readonly until: readonly Marker[];
      readonly barred: readonly Uint8Array[];
      readonly controls: boolean;
    }
  | { readonly kind: "json"; readonly value: ValueId; readonly style: JsonStyle };

export type JsonStyle = {
  /** One space after `,` and `:` costs nothing. */
  readonly freeSpace: boolean;
  /** Characters of any other whitespace in this value; undefined is unbounded. */
  readonly whitespaceMax: number | undefined;
  /** canonical: one spelling for keys, fixed texts and integers; spec: every spelling JSON allows. */
  readonly spelling: "canonical" | "spec";
};

/** A disjunction of cases; without any case nothing fits. */
export type Value = {
  readonly cases: readonly Case[];
  /** The place in the source that the value came from, for reports: an index into the front end's own table. */
  readonly origin: number;
};

export type Case =
  | { readonly type: "null" }
  | { readonly type: "true" }
  | { readonly type: "false" }
  /** Bounds are exact decimals in JSON's notation without exponent; low = high is one value in all its forms. */
  | {
      readonly type: "number";
      readonly integer: boolean;
      /** In plain digits only, whatever the spelling: draft 4 calls nothing else an integer. Goes with `integer`. */
      readonly plain: boolean;
      readonly low: Bound | undefined;
      readonly high: Bound | undefined;
    }
  /** Lengths in code points of the decoded text. `among` lists the only texts allowed, decoded. */
  | {
      readonly type: "string";
      readonly lengthMin: number;
      readonly lengthMax: number | undefined;
      readonly among: readonly string[] | undefined;
    }
  /** Item i fits prefix[i], or `rest` beyond it; without `rest` there are no more items. */
  | {
      readonly type: "array";
      readonly prefix: readonly ValueId[];
      readonly rest: ValueId | undefined;
      readonly itemsMin: number;
      readonly itemsMax: number | undefined;
    }
  /**
   * `properties` in source order, keys distinct. Other keys fit `rest`; without it there are none. `ordered`: declared keys in
   * source order (optional ones may be left out), then the others. A declared key that must be absent has `value: undefined`.
   */
  | {
      readonly type: "object";
      readonly properties: readonly Property[];
      readonly rest: ValueId | undefined;
      readonly ordered: boolean;
    };

export type Bound = { readonly decimal: string; readonly exclusive: boolean };
export type Property = { readonly key: string; readonly value: ValueId | undefined; readonly required: boolean };

/** Collects nodes and values. Values can be reserved before they are known, which is how recursion is written. */
export type IrBuilder = {
  node(node: Node): NodeId;
  reserveValue(): ValueId;
  setValue(id: ValueId, value: Value): void;
  value(value: Value): ValueId;
  finish(root: NodeId): Ir;
};

export function irBuilder(): IrBuilder {
  const nodes: Node[] = [];
  const values: (Value | undefined)[] = [];
  return {
    node: (node) => nodes.push(node) - 1,
    reserveValue: () => values.push(undefined) - 1,
    setValue: (id, value) => {
      values[id] = value;
    },
    value: (value) => values.push(value) - 1,
    finish: (root) => ({
      nodes,
      values: values.map((value, id) => {
        if (value === undefined) throw new Error(`value ${id} was reserved and never set`);
        return value;
      }),
      root,
    }),
  };
}
