import type { ChannelName } from "../grammar/ir.ts";
import { utf8Decoder } from "./utf8.ts";

/**
 * The one JSON writer of every dialect: a call's channel bytes → the text of its arguments object, as it grows. A dialect either
 * writes the whole object as JSON, which passes as it is, or keys and values one by one, each value text (to be escaped)
 * or JSON (verbatim).
 */
export class ArgumentWriter {
  #state: "empty" | "verbatim" | "key" | "text" | "json" | "between" = "empty";
  #key = "";
  #decoder = utf8Decoder();
  /** Of a verbatim object: nesting and strings, to know whether it is complete. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Letters of `None` that are still to come. */
  #noneLeft = 0;

  /** What the bytes of one channel add to the object's text. */
  write(channel: ChannelName, bytes: Uint8Array): string {
    switch (channel) {
      case "argument_key":
        return this.#writeKey(bytes);
      case "argument_text": {
        const open = this.#state === "key" ? `${this.#beginValue("text")}"` : "";
        return open + escaped(this.#decode(bytes));
      }
      case "argument_json":
        if (this.#state === "empty" || this.#state === "verbatim") return this.#writeVerbatim(bytes);
        return (this.#state === "key" ? this.#beginValue("json") : "") + this.#decode(bytes);
      case "value_end":
        return this.#endValue();
      default:
        return "";
    }
  }

  /**
   * Whether what was written is a whole object but for the brace that `end` adds. Where keys come one by one, or not at all, only
   * `closed` tells, the knowledge that the call's own end was written.
   */
  isComplete(closed: boolean): boolean {
    if (this.#state === "verbatim") return this.#depth === 0;
    return closed && (this.#state === "empty" || this.#state === "between");
  }

  /** What is still missing of a complete object. A call without any argument bytes has the empty one. */
  end(): string {
    switch (this.#state) {
      case "verbatim":
        return "";
      case "empty":
        return "{}";
      default:
        return `${this.#endValue()}}`;
    }
  }

  #writeKey(bytes: Uint8Array): string {
    if (this.#state === "key") {
      this.#key += this.#decode(bytes);
      return "";
    }
    const before = this.#state === "empty" ? "{" : `${this.#endValue()},`;
    this.#state = "key";
    this.#key = this.#decode(bytes);
    return before;
  }

  #beginValue(state: "text" | "json"): string {
    const key = this.#key + this.#flush();
    this.#state = state;
    return `${JSON.stringify(key)}:`;
  }

  #endValue(): string {
    let text = "";
    // A value without a byte can only be an empty text.
    if (this.#state === "key") text = `${this.#beginValue("text")}"`;
    if (this.#state === "text") text += `${escaped(this.#flush())}"`;
    if (this.#state === "json") text += this.#flush();
    if (this.#state === "text" || this.#state === "json") this.#state = "between";
    return text;
  }

  #writeVerbatim(bytes: Uint8Array): string {
    this.#state = "verbatim";
    let text = "";
    for (const character of this.#decode(bytes)) {
      text += this.#inString ? character : this.#asJson(character);
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (character === "\\") this.#escaped = true;
        else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === "{" || character === "[") this.#depth++;
      else if (character === "}" || character === "]") this.#depth--;
    }
    return text;
  }

  /** Outside of strings: a tolerant reading takes `True`, `False` and `None` as models write them that know Python. */
  #asJson(character: string): string {
    if (this.#noneLeft > 0) return this.#noneLeft-- === 3 ? "u" : "l";
    if (character === "N") this.#noneLeft = 3;
    return "TFN".includes(character) ? character.toLowerCase() : character;
  }

  #decode(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  /** What is left of a code point that never ended. */
  #flush(): string {
    return this.#decoder.decode();
  }
}

/** Text as the inside of a JSON string. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
