import type { ChannelName, IrBuilder, Marker, NodeId } from "../grammar/ir.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { CallableTool, CallFrame } from "./dialect.ts";
import type { Tags } from "./thoughts.ts";

/** The pieces that frames of calls are made of, in the terms of the IR: what a model may write that is held to them. */
export function framer(builder: IrBuilder, tokenizer: Tokenizer) {
  const sequence = (...items: NodeId[]) => builder.node({ kind: "sequence", items });
  const choice = (...items: NodeId[]) => builder.node({ kind: "choice", items });
  const repeat = (item: NodeId, min: number, max?: number) => builder.node({ kind: "repeat", item, min, max });
  const channel = (name: ChannelName, item: NodeId) => builder.node({ kind: "channel", channel: name, item });
  const bytes = (text: string) => builder.node({ kind: "bytes", bytes: utf8.encode(text) });
  const markup = (text: string) => channel("markup", bytes(text));
  const optional = (text: string) => channel("markup", repeat(bytes(text), 0, 1));
  /** Space in a frame: nothing, or as it is usually written. */
  const gap = (usual = "") => (usual === "" ? sequence() : optional(usual));
  /** Any that JSON lets stand. */
  const spaces = repeat(choice(...[" ", "\n", "\r", "\t"].map(bytes)), 0);
  const markerNode = (text: string) => builder.node({ kind: "marker", ...markerOf(tokenizer, text) });
  const marker = (text: string) => channel("markup", markerNode(text));

  /** Bytes as the model likes them, control tokens included. */
  const text = (name: ChannelName, markers: readonly string[], barred: readonly string[] = []) =>
    channel(
      name,
      builder.node({
        kind: "text",
        until: markers.map((marker) => markerOf(tokenizer, marker)),
        barred: barred.map((beginning) => utf8.encode(beginning)),
        controls: true,
      }),
    );

  /** Text in which no marker is completed and which does not begin as barred. There may be thoughts in it. */
  const freeText = (markers: readonly string[], { barred = [], tags }: TextOptions) => {
    if (tags === undefined) return text("text", markers, barred);
    const until = [...markers, tags.open];
    return sequence(text("text", until, barred), repeat(sequence(thought(tags), text("text", until)), 0));
  };

  /** A whole thought; newlines beside its tags are part of them. */
  const thought = (tags: Tags) => sequence(marker(tags.open), thoughtRest(tags));
  /** What is left of a thought that has begun. */
  const thoughtRest = (tags: Tags) =>
    sequence(openThought(tags), optional("\n"), marker(tags.close), firstOf("\n\n", "\n"));
  /** The same of one that never ends. */
  const openThought = (tags: Tags) => sequence(firstOf("\n"), text("reasoning", [tags.close]));
  /** The first of these, if any, that stands there. */
  const firstOf = (...texts: readonly string[]) => choice(...texts.map(markup), sequence());

  /** One or more of `item`, `separator` between them. */
  const joined = (item: NodeId, separator: NodeId, max: number) =>
    max === 1 ? item : sequence(item, repeat(sequence(separator, item), 0, max - 1));

  /**
   * `{"name": NAME, KEY: ARGUMENTS}`: an ordered sequence, at most one space where JSON lets one stand. Names are a trie, so that
   * many tools are one path through it, and each leads to its own arguments. Raw input cannot stand inside JSON: it follows
   * `{"name": NAME}`, `beforeInput`, and a newline.
   */
  const callObject = ({ tools, style }: Pick<CallFrame, "tools" | "style">, { key, beforeInput = "" }: ObjectKeys) => {
    const space = repeat(bytes(" "), 0, 1);
    const opening = channel("markup", spaced(["{", '"name"', ":", '"'], space));
    const between = channel("markup", sequence(bytes('"'), space, spaced([",", `"${key}"`, ":", ""], space)));
    const closing = channel("markup", sequence(space, bytes("}")));
    const leaf = (tool: CallableTool) => {
      if ("input" in tool) {
        const end = sequence(bytes('"'), space, bytes(`}${beforeInput}\n`));
        return sequence(channel("markup", end), channel("custom_input", tool.input));
      }
      const json = builder.node({ kind: "json", value: tool.arguments, style });
      return sequence(between, channel("argument_json", json), closing);
    };
    const leaves = tools.map((tool) => ({ bytes: utf8.encode(tool.name), next: leaf(tool) }));
    return sequence(opening, trie(leaves, 0));
  };

  /** Parts with an optional space after each but the last; an empty last part only takes the space. */
  const spaced = (parts: readonly string[], space: NodeId) =>
    sequence(...parts.flatMap((part, i) => (i === 0 ? [bytes(part)] : part === "" ? [space] : [space, bytes(part)])));

  const trie = (leaves: readonly Leaf[], depth: number): NodeId => {
    const groups = Map.groupBy(leaves, (leaf) => leaf.bytes[depth]);
    return choice(
      ...[...groups].map(([first, group]) => {
        const [leaf] = group;
        if (leaf === undefined) throw new Error("a group without leaves");
        // A name that ends here; names are distinct, so there is one.
        if (first === undefined) return leaf.next;
        const end = group.length === 1 ? leaf.bytes.length : commonEnd(group, depth);
        const edge = channel("call_name", builder.node({ kind: "bytes", bytes: leaf.bytes.slice(depth, end) }));
        return sequence(edge, group.length === 1 ? leaf.next : trie(group, end));
      }),
    );
  };

  return {
    ...{ sequence, choice, repeat, channel, bytes, markup, optional, gap, spaces, marker, markerNode, firstOf, joined },
    ...{ callObject, text, freeText, thought, thoughtRest, openThought },
  };
}

export type Framer = ReturnType<typeof framer>;

type ObjectKeys = {
  /** Of the arguments. */
  readonly key: string;
  readonly beforeInput?: string;
  /** Keys that a history adds, with texts: read where they stand, and never asked for. */
  readonly aside?: readonly string[];
};

type TextOptions = { readonly barred?: readonly string[]; readonly tags?: Tags | undefined };

type Leaf = { readonly bytes: Uint8Array; readonly next: NodeId };

/** The marker of a text: its token too, where the vocabulary has one. */
function markerOf(tokenizer: Tokenizer, text: string): Marker {
  return { token: tokenizer.idOf(text), bytes: utf8.encode(text) };
}

/** How far the names of a group are the same. */
function commonEnd(group: readonly Leaf[], depth: number): number {
  const [leaf] = group;
  let end = depth;
  while (
    leaf !== undefined &&
    end < leaf.bytes.length &&
    group.every((other) => other.bytes[end] === leaf.bytes[end])
  ) {
    end++;
  }
  return end;
}

const utf8 = new TextEncoder();
