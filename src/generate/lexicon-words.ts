import { setImmediate } from "node:timers/promises";
import type { Event } from "../generation/event.ts";
import type { GrammarSource } from "../generation/grammar-source.ts";
import { readLexicon } from "../grammar/lexicon/reading.ts";

/** The same events, of which the last one says which entries of the lexicon the answer's words are, where the text is a whole output of it. */
export async function* withLexiconWords(
  events: AsyncIterable<Event>,
  lexicon: Extract<GrammarSource, { syntax: "lexicon" }>,
): AsyncGenerator<Event, void> {
  let text = "";
  for await (const event of events) {
    if (event.kind === "text") text += event.text;
    if (event.kind !== "finish" || text === "") {
      yield event;
      continue;
    }
    const reading = readLexicon(lexicon, text);
    let step = reading.next();
    while (step.done !== true) {
      await setImmediate();
      step = reading.next();
    }
    yield step.value === undefined ? event : { ...event, words: step.value };
  }
}
