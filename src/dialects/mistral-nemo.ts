import type { NodeId } from "../grammar/ir.ts";
import type { CallFrame, Dialect } from "./dialect.ts";
import { type Framer, framer } from "./frame.ts";
import { tolerantFramer } from "./tolerant.ts";

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
    const pieces = framer(builder, frame.tokenizer);
    const { sequence, choice, repeat, markup } = pieces;
    const json = frame.tools.filter((tool) => "arguments" in tool);
    const raw = frame.tools.filter((tool) => "input" in tool);
    const ends: NodeId[] = [];
    if (json.length > 0) ends.push(sequence(objects(pieces, { ...frame, tools: json }), markup("]")));
    if (raw.length > 0) {
      const item = sequence(object(pieces, { ...frame, tools: json }), separator(pieces));
      const before = json.length > 0 ? [repeat(item, 0, frame.callsMax - 1)] : [];
      ends.push(sequence(...before, object(pieces, { ...frame, tools: raw })));
    }
    return sequence(begin(pieces), choice(...ends));
  },

  auto(builder, frame) {
    const { sequence, repeat, freeText } = framer(builder, frame.tokenizer);
    return sequence(freeText([open], frame), repeat(mistralNemo.calls(builder, frame), 0, 1));
  },

  tolerant(builder, frame) {
    const pieces = tolerantFramer(builder, frame.tokenizer);
    const { sequence, choice, repeat, markup, gap, freeText } = pieces;
    const text = freeText([open], frame);
    // The end of the answer may stand for the array's.
    const end = choice(sequence(markup("]"), text), sequence());
    return sequence(text, repeat(sequence(begin(pieces), objects(pieces, frame), gap(), end), 0, 1));
  },

  none(builder, frame) {
    return framer(builder, frame.tokenizer).freeText([open], frame);
  },
};

function begin({ sequence, marker, gap, markup }: Framer) {
  return sequence(marker(open), gap(" "), markup("["), gap());
}

function objects(pieces: Framer, frame: CallFrame) {
  return pieces.joined(object(pieces, frame), separator(pieces), frame.callsMax);
}

function object(pieces: Framer, frame: CallFrame) {
  return pieces.callObject(frame, { key: "arguments", beforeInput: "]", aside: ["id"] });
}

function separator({ sequence, gap, markup }: Framer) {
  return sequence(gap(), markup(","), gap(" "));
}
