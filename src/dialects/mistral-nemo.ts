import type { Dialect } from "./dialect.ts";
import { framer } from "./frame.ts";

const open = "[TOOL_CALLS]";

/** Mistral's tokenizers v3 to v7: `[TOOL_CALLS][{"name": "f", "arguments": {…}}, …]` ends the answer. History adds an id to each call. */
export const mistralNemo: Dialect = {
  name: "mistral_nemo",
  markers: [open],
  callsMax: Number.POSITIVE_INFINITY,

  encodings({ id, name, arguments: given }) {
    const call = `{"name": ${JSON.stringify(name)}, "arguments": ${given}`;
    const calls = [`[${call}, "id": ${JSON.stringify(id)}}]`, `[${call}}]`];
    return calls.flatMap((array) => [open + array, `${open} ${array}`]);
  },

  isNamedBy(template) {
    return template.includes(open) && !template.includes("[ARGS]");
  },

  calls(builder, frame) {
    const { sequence, markup, optional, marker, joined, callObject } = framer(builder, frame.tokenizer);
    const space = optional(" ");
    const calls = joined(callObject(frame, "arguments"), sequence(markup(","), space), frame.callsMax);
    return sequence(marker(open), space, markup("["), calls, markup("]"));
  },

  auto(builder, frame) {
    const { sequence, repeat, freeText } = framer(builder, frame.tokenizer);
    return sequence(freeText([open]), repeat(mistralNemo.calls(builder, frame), 0, 1));
  },

  none(builder, tokenizer) {
    return framer(builder, tokenizer).freeText([open]);
  },
};
