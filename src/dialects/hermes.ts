import type { CallFrame, Dialect } from "./dialect.ts";
import { type Framer, framer } from "./frame.ts";
import { tolerantFramer } from "./tolerant.ts";

const open = "<tool_call>";
const close = "</tool_call>";

/** Hermes 2 and 3, Qwen 2.5 and 3 and many others: `<tool_call>␤{"name": "f", "arguments": {…}}␤</tool_call>`, one after another. Raw input is ours: it takes the line after `{"name": "f"}`. */
export const hermes: Dialect = {
  name: "hermes",
  markers: [open],
  callsMax: Number.POSITIVE_INFINITY,

  encodings({ name, arguments: given }) {
    const object = `{"name": ${JSON.stringify(name)}, "arguments": ${given}}`;
    return [`${open}\n${object}\n${close}`, `${open}${object}${close}`];
  },

  customCall(name, input) {
    return `${open}\n{"name": ${JSON.stringify(name)}}\n${input}\n${close}`;
  },

  isNamedBy(template) {
    return template.includes(open) && /"name"|tool_call\.name/.test(template) && !template.includes("<function=");
  },

  calls(builder, frame) {
    const { joined, optional } = framer(builder, frame.tokenizer);
    return joined(call(builder, frame), optional("\n"), frame.callsMax);
  },

  auto(builder, frame) {
    const { sequence, repeat, optional, firstOf, freeText } = framer(builder, frame.tokenizer);
    const text = freeText([open], frame);
    // The newlines around a call belong to its frame.
    const each = sequence(optional("\n"), call(builder, frame), firstOf("\n"), text);
    return sequence(text, repeat(each, 0, frame.callsMax));
  },

  tolerant(builder, frame) {
    const pieces = tolerantFramer(builder, frame.tokenizer);
    const { sequence, choice, repeat, optional, marker, asText, firstOf, freeText } = pieces;
    const text = freeText([open], frame);
    const closed = sequence(marker(close), firstOf("\n"), text);
    // Without its closer a call ends where the next one begins, or what looks like one, and where the answer ends.
    const end = choice(closed, sequence(), sequence(asText(open), text));
    return sequence(text, repeat(sequence(optional("\n"), unclosed(pieces, frame), end), 0, frame.callsMax));
  },

  none(builder, frame) {
    return framer(builder, frame.tokenizer).freeText([open], frame);
  },
};

function call(...[builder, frame]: Parameters<Dialect["calls"]>) {
  const pieces = framer(builder, frame.tokenizer);
  return pieces.sequence(unclosed(pieces, frame), pieces.marker(close));
}

function unclosed({ sequence, marker, gap, callObject }: Framer, frame: CallFrame) {
  return sequence(marker(open), gap("\n"), callObject(frame, { key: "arguments" }), gap("\n"));
}
