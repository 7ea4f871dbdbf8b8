import type { NodeId } from "../grammar/ir.ts";
import type { CallFrame, Dialect } from "./dialect.ts";
import { framer } from "./frame.ts";

const open = "[TOOL_CALLS]";

/** Mistral's tokenizers v3 to v7: `[TOOL_CALLS][{"name": "f", "arguments": {…}}, …]` ends the answer. History adds an id to each call. Raw input is ours: it follows the array `[…, {"name": "f"}]` and ends with the answer. */
export const mistralNemo: Dialect = {
  name: "mistral_nemo",
  markers: [open],
  callsMax: Number.POSITIVE_INFINITY,

  encodings({ id, name, arguments: given }) {
    const call = `{"name": ${JSON.stringify(name)}, "arguments": ${given}`;
    const calls = [`[${call}, "id": ${JSON.stringify(id)}}]`, `[${call}}]`];
    return calls.flatMap((array) => [open + array, `${open} ${array}`]);
  },

  customCall(name, input) {
    return `${open}[{"name": ${JSON.stringify(name)}}]\n${input}`;
  },

  isNamedBy(template) {
    return template.includes(open) && !template.includes("[ARGS]");
  },

  calls(builder, frame) {
    const { sequence, choice, repeat, markup, optional, marker, joined, callObject } = framer(builder, frame.tokenizer);
    const space = optional(" ");
    const separator = sequence(markup(","), space);
    const json = frame.tools.filter((tool) => "arguments" in tool);
    const raw = frame.tools.filter((tool) => "input" in tool);
    const object = (tools: CallFrame["tools"]) => callObject({ ...frame, tools }, "arguments", "]");
    const ends: NodeId[] = [];
    if (json.length > 0) ends.push(sequence(joined(object(json), separator, frame.callsMax), markup("]")));
    if (raw.length > 0) {
      const before = json.length > 0 ? [repeat(sequence(object(json), separator), 0, frame.callsMax - 1)] : [];
      ends.push(sequence(...before, object(raw)));
    }
    return sequence(marker(open), space, markup("["), choice(...ends));
  },

  auto(builder, frame) {
    const { sequence, repeat, freeText } = framer(builder, frame.tokenizer);
    return sequence(freeText([open], frame), repeat(mistralNemo.calls(builder, frame), 0, 1));
  },

  none(builder, frame) {
    return framer(builder, frame.tokenizer).freeText([open], frame);
  },
};
