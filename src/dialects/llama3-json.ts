import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Dialect } from "./dialect.ts";
import { framer } from "./frame.ts";
import { tolerantFramer } from "./tolerant.ts";

/** Announces a call, where the vocabulary has it; most calls come without. */
const tag = "<|python_tag|>";

/**
 * Llama 3.1 to 3.3: the answer is `{"name": "f", "parameters": {…}}` and nothing else, one call at most, since the template takes no
 * more. There is no marker: an answer is a call if, after spaces, it begins like a call of an offered tool.
 */
export const llama3Json: Dialect = {
  name: "llama3_json",
  markers: [],
  callsMax: 1,

  encodings({ name, arguments: given }) {
    const object = `{"name": ${JSON.stringify(name)}, "parameters": ${given}}`;
    return [object, tag + object];
  },

  customCall(name, input) {
    return `{"name": ${JSON.stringify(name)}}\n${input}`;
  },

  isNamedBy(template) {
    return (
      template.includes("<|start_header_id|>") &&
      template.includes("parameters") &&
      /Environment: ipython|"name": function name/.test(template)
    );
  },

  calls(builder, frame) {
    const { sequence, repeat, marker, callObject } = framer(builder, frame.tokenizer);
    const object = callObject(frame, { key: "parameters" });
    return hasTag(frame.tokenizer) ? sequence(repeat(marker(tag), 0, 1), object) : object;
  },

  auto(builder, frame) {
    const { tokenizer, tools, tags } = frame;
    const { sequence, choice, repeat, channel, spaces, marker, gap, callObject } = framer(builder, tokenizer);
    const object = callObject(frame, { key: "parameters" });
    const text = textOnly(builder, { tokenizer, tags, names: tools.map(({ name }) => name) });
    const announced = sequence(marker(tag), gap(" "), object);
    return choice(
      sequence(channel("markup", spaces), object),
      hasTag(tokenizer) ? sequence(text, repeat(announced, 0, 1)) : text,
    );
  },

  tolerant(builder, frame) {
    const { tokenizer } = frame;
    const { sequence, choice, repeat, channel, spaces, marker, gap, freeText, callObject } = tolerantFramer(
      builder,
      tokenizer,
    );
    const text = freeText(hasTag(tokenizer) ? [tag] : [], frame);
    const rest = sequence(callObject(frame, { key: "parameters" }), text);
    const announced = sequence(marker(tag), gap(" "), rest);
    return choice(
      sequence(channel("markup", spaces), rest),
      hasTag(tokenizer) ? sequence(text, repeat(announced, 0, 1)) : text,
    );
  },

  none: textOnly,
};

/** Spaces, then text that begins with none, so that nothing but the spaces can stand before a barred beginning. */
function textOnly(...[builder, { tokenizer, tags, names }]: Parameters<Dialect["none"]>) {
  const { sequence, channel, spaces, freeText } = framer(builder, tokenizer);
  const beginnings = names.flatMap(callBeginnings);
  return sequence(
    channel("text", spaces),
    freeText(hasTag(tokenizer) ? [tag] : [], { barred: [" ", "\n", "\r", "\t", ...beginnings], tags }),
  );
}

/** Every spelling of a call up to the end of its name that the grammar of calls allows. */
function callBeginnings(name: string): readonly string[] {
  return ["{", "{ "].flatMap((brace) =>
    ['"name":', '"name" :'].flatMap((key) => [`${brace}${key}"${name}"`, `${brace}${key} "${name}"`]),
  );
}

function hasTag(tokenizer: Tokenizer): boolean {
  return tokenizer.idOf(tag) !== undefined;
}
