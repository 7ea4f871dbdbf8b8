/**
 * The one intermediate form between every front end (JSON Schema, dialects, later GBNF, Lark, regex) and the native
 * mask engine. Plain data: nodes and values refer to each other by index, so recursion is a cycle of indices.
 * encode.ts writes it as bytes; zig/grammar reads those and nothing else.
 */
export type Ir = {
  readonly nodes: readonly Node[];
  readonly values: readonly Value[];
  readonly regexes: readonly Regex[];
  readonly root: NodeId;
};

export type NodeId = number;
export type ValueId = number;
export type RegexId = number;

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
   * without a marker tells its calls from text by how an answer begins. `tokensMax` bounds the tokens that begin in it, after the one in
   * which it begins itself; a character may be finished beyond them.
   */
  | {
      readonly kind: "text";
      readonly until: readonly Marker[];
      readonly barred: readonly Uint8Array[];
      readonly controls: boolean;
      readonly tokensMax?: number | undefined;
    }
  | { readonly kind: "json"; readonly value: ValueId; readonly style: JsonStyle }
  /** UTF-8 text that the regex matches as a whole. */
  | { readonly kind: "regex"; readonly regex: RegexId }
  /** One of these byte strings; kept as one minimal automaton, so that there may be many. */
  | { readonly kind: "texts"; readonly texts: readonly Uint8Array[] }
  /** Any one token of the vocabulary but these and those that are never produced, by itself, whatever its bytes. */
  | { readonly kind: "any_token"; readonly except: readonly number[] }
  /** Items in any order, each at most once and those required exactly once, the separator between two. No item can be empty. */
  | {
      readonly kind: "record";
      readonly items: readonly { readonly node: NodeId; readonly required: boolean }[];
      readonly separator: NodeId | undefined;
    };

/**
 * A regular language over code points, always matched as a whole; search and anchors are written out by the front end. An operand
 * comes before what uses it, so there are no cycles. Surrogates (U+D800–DFFF) are no code points here.
 */
export type Regex =
  /** One code point out of ascending, disjoint ranges, both ends inclusive; without any range nothing matches. */
  | { readonly kind: "class"; readonly ranges: readonly (readonly [first: number, last: number])[] }
  /** Without items: the empty text. */
  | { readonly kind: "concat"; readonly items: readonly RegexId[] }
  | { readonly kind: "union"; readonly items: readonly RegexId[] }
  | { readonly kind: "intersection"; readonly items: readonly RegexId[] }
  | { readonly kind: "complement"; readonly item: RegexId }
  | { readonly kind: "repeat"; readonly item: RegexId; readonly min: number; readonly max: number | undefined };

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
      /** The value is a whole multiple of this positive decimal … */
      readonly multipleOf: string | undefined;
      /** … of none of these … */
      readonly multipleOfNone: readonly string[];
      /** … and differs, by value, from each of these. */
      readonly except: readonly string[];
    }
  /** Lengths in code points of the decoded text, and all of it matched by `regex`. `among` lists the only texts allowed, decoded. */
  | {
      readonly type: "string";
      readonly lengthMin: number;
      readonly lengthMax: number | undefined;
      readonly among: readonly string[] | undefined;
      readonly regex: RegexId | undefined;
    }
  /** Item i fits prefix[i], or `rest` beyond it. `unique`: no two items are the same value; only where every item is a scalar. */
  | {
      readonly type: "array";
      readonly prefix: readonly Options[];
      readonly rest: Options;
      readonly itemsMin: number;
      readonly itemsMax: number | undefined;
      readonly counters: readonly Counter[];
      readonly unique: boolean;
    }
  /**
   * `properties` in source order, keys distinct. Every other key belongs to a class of `others` that matches it; where several do, each is
   * a possibility. `ordered`: declared keys in source order (optional ones may be left out), then the others. Members are counted all
   * together, and by `counters`, which have no `max` here. A class matches infinitely many keys: the front end declares those of a finite one.
   */
  | {
      readonly type: "object";
      readonly properties: readonly Property[];
      readonly others: readonly KeyClass[];
      readonly ordered: boolean;
      readonly membersMin: number;
      readonly membersMax: number | undefined;
      readonly counters: readonly Counter[];
    };

export type Bound = { readonly decimal: string; readonly exclusive: boolean };
/** What may stand in one place: one of these. None: the place has to stay empty (a key absent, the array ended). */
export type Options = readonly Option[];
/** `counts`: the counters of its array or object that it adds one to, a sum of 1 << index. */
export type Option = { readonly value: ValueId; readonly counts: number };
/** How often something has to have been counted when the array or object closes: `contains`, or a demand that some member must meet. */
export type Counter = { readonly min: number; readonly max: number | undefined };
export type Property = { readonly key: string; readonly options: Options; readonly required: boolean };
/** Keys that the regex matches as a whole; without it, all of them. */
export type KeyClass = { readonly keys: RegexId | undefined; readonly options: Options };

/** The cases without any demand; spread them and add what is demanded. Arrays and objects are empty until something may stand in them. */
export const bare = {
  number: {
    type: "number",
    integer: false,
    plain: false,
    low: undefined,
    high: undefined,
    multipleOf: undefined,
    multipleOfNone: [],
    except: [],
  },
  string: { type: "string", lengthMin: 0, lengthMax: undefined, among: undefined, regex: undefined },
  array: { type: "array", prefix: [], rest: [], itemsMin: 0, itemsMax: undefined, counters: [], unique: false },
  object: {
    type: "object",
    properties: [],
    others: [],
    ordered: false,
    membersMin: 0,
    membersMax: undefined,
    counters: [],
  },
} as const satisfies { readonly [T in Case["type"]]?: Case & { readonly type: T } };

/** Options for a place that fits one value and counts nothing; no value, no option. */
export function only(value: ValueId | undefined): Options {
  return value === undefined ? [] : [{ value, counts: 0 }];
}

/**
 * Collects nodes, values and regexes. Nodes and values can be reserved before they are known, which is how recursion is written. Equal
 * regexes are one.
 */
export type IrBuilder = {
  node(node: Node): NodeId;
  reserveNode(): NodeId;
  setNode(id: NodeId, node: Node): void;
  value(value: Value): ValueId;
  reserveValue(): ValueId;
  setValue(id: ValueId, value: Value): void;
  regex(regex: Regex): RegexId;
  finish(root: NodeId): Ir;
};

export function irBuilder(): IrBuilder {
  const nodes: (Node | undefined)[] = [];
  const values: (Value | undefined)[] = [];
  const regexes: Regex[] = [];
  const regexIds = new Map<string, RegexId>();
  return {
    node: (node) => nodes.push(node) - 1,
    reserveNode: () => nodes.push(undefined) - 1,
    setNode: (id, node) => {
      nodes[id] = node;
    },
    value: (value) => values.push(value) - 1,
    reserveValue: () => values.push(undefined) - 1,
    setValue: (id, value) => {
      values[id] = value;
    },
    regex: (regex) => {
      const key = regexKey(regex);
      const known = regexIds.get(key);
      if (known !== undefined) return known;
      const id = regexes.push(regex) - 1;
      regexIds.set(key, id);
      return id;
    },
    finish: (root) => ({ nodes: allSet(nodes, "node"), values: allSet(values, "value"), regexes, root }),
  };
}

function regexKey(regex: Regex): string {
  switch (regex.kind) {
    case "class":
      return `[${regex.ranges.join(";")}`;
    case "concat":
    case "union":
    case "intersection":
      return `${regex.kind}${regex.items.join()}`;
    case "complement":
      return `~${regex.item}`;
    case "repeat":
      return `*${regex.item},${regex.min},${regex.max}`;
    default:
      return regex satisfies never;
  }
}

function allSet<T>(list: readonly (T | undefined)[], what: string): readonly T[] {
  return list.map((item, id) => {
    if (item === undefined) throw new Error(`${what} ${id} was reserved and never set`);
    return item;
  });
}
