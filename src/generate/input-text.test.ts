import { expect, test } from "bun:test";
import { hostileTexts } from "../../tests/fixtures/hostile-texts.ts";
import { InputText } from "./input-text.ts";

/** Every spelling that JSON has for a text, character by character. */
const spellings: readonly ((text: string) => string)[] = [
  (text) => JSON.stringify({ input: text }),
  (text) => `{ "input" : ${JSON.stringify(text)} }`,
  (text) => `{"\\u0069nput":"${[...text].map(escaped).join("")}"}`,
];

function escaped(character: string): string {
  return Array.from(character.split(""), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

test.each(["", "plain", 'a "quote", a \\ and\na newline\t', "Grüße 🌍", "}{", "\u0000", ...hostileTexts])(
  "%j",
  (text) => {
    for (const spelled of spellings) {
      const json = spelled(text);
      expect(new InputText().write(json)).toBe(text);
      const reader = new InputText();
      const pieces = [...json].map((character) => reader.write(character));
      expect(pieces.join("")).toBe(text);
      expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    }
  },
);
