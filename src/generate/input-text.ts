/** The text inside `{"input": "…"}`, as it grows; pieces are whole code points. */
export class InputText {
  /** Quotes so far: the third opens the text, the fourth ends it. */
  #quotes = 0;
  /** An escape that is not complete. */
  #escape = "";
  /** The first half of a surrogate pair, whose second has its own escape. */
  #half = "";

  /** What further characters of the object's text add. */
  write(json: string): string {
    let text = "";
    for (const character of json) {
      if (this.#escape !== "") {
        this.#escape += character;
        text += this.#unescaped();
      } else if (character === "\\") this.#escape = character;
      else if (character === '"') this.#quotes++;
      else if (this.#quotes === 3) text += character;
    }
    return text;
  }

  #unescaped(): string {
    const sequence = this.#escape;
    if (sequence.length < (sequence[1] === "u" ? 6 : 2)) return "";
    this.#escape = "";
    if (this.#quotes !== 3) return "";
    const text = this.#half + String(JSON.parse(`"${sequence}"`));
    this.#half = text.isWellFormed() ? "" : text;
    return this.#half === "" ? text : "";
  }
}
