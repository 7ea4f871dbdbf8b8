import { bare, type IrBuilder } from "../grammar/ir.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { CallFrame } from "./dialect.ts";
import { type Framer, framer } from "./frame.ts";
import { looseObject } from "./loose-json.ts";
import type { Tags } from "./thoughts.ts";

/**
 * The same pieces for reading what nobody held to them: any whitespace, keys in any order, and text in which a marker may stand that begins
 * no call. A dialect that says its frame in these yields a grammar that takes every answer, and prefers to read calls in it.
 */
export function tolerantFramer(builder: IrBuilder, tokenizer: Tokenizer): Framer & { asText(marker: string): number } {
  const strict = framer(builder, tokenizer);
  const { sequence, choice, repeat, channel, markup, markerNode, text, thought, spaces } = strict;

  const space = channel("markup", spaces);
  const gap = () => space;

  /** A marker that begins no call. It is told by its bytes even where it is a token that text does not show. */
  const asText = (marker: string) => channel("text", markerNode(marker));

  const freeText: Framer["freeText"] = (markers, { tags }) => {
    const until = text("text", [...markers, ...(tags === undefined ? [] : [tags.open])]);
    const between = [...thoughts(tags), ...markers.map(asText)];
    return between.length === 0 ? until : sequence(until, repeat(sequence(choice(...between), until), 0));
  };
  const thoughts = (tags: Tags | undefined) => (tags === undefined ? [] : [thought(tags)]);

  const callObject: Framer["callObject"] = ({ tools, style }, { key, aside = [] }) => {
    const member = (name: string) => sequence(markup(`"${name}"`), space, markup(":"), space);
    const separator = sequence(space, markup(","), space);
    const string = builder.value({ cases: [bare.string], origin: 0 });
    const others = aside.map((name) => {
      const value = builder.node({ kind: "json", value: string, style });
      return { node: sequence(member(name), channel("markup", value)), required: false };
    });
    const given = (value: Callable["value"]) =>
      value === undefined ? looseObject(builder, tokenizer, style) : builder.node({ kind: "json", value, style });
    const named = ({ names, value }: Callable) => {
      const texts = names.map((name) => utf8.encode(name));
      const name = channel("call_name", builder.node({ kind: "texts", texts }));
      const json = channel("argument_json", given(value));
      const items = [sequence(member("name"), markup('"'), name, markup('"')), sequence(member(key), json)];
      const required = items.map((node) => ({ node, required: true }));
      return builder.node({ kind: "record", items: [...required, ...others], separator });
    };
    return sequence(markup("{"), space, choice(...callables(tools).map(named)), space, markup("}"));
  };

  return { ...strict, gap, asText, freeText, callObject };
}

/** `value`: of the arguments; undefined: any object. */
type Callable = { readonly names: readonly string[]; readonly value: number | undefined };

/** Tools that take the same arguments are one. */
function callables(tools: CallFrame["tools"]): readonly Callable[] {
  const groups = Map.groupBy(tools, (tool) => {
    // Raw input says nothing about where it ends, so its tools are always held to their frame.
    if ("input" in tool) throw new Error("a tool with raw input was to be read, and not held to its frame");
    return tool.open === true ? undefined : tool.arguments;
  });
  return [...groups].map(([value, group]) => ({ names: group.map(({ name }) => name), value }));
}

const utf8 = new TextEncoder();
