import { type TString, Type } from "@sinclair/typebox";

type TextOrTokens = string | readonly number[];

/** One text, one list of tokens, or many of either: how prompts and inputs come. `text` says what a text has to be. */
export function textsOrTokens(text: TString, countMax: number) {
  const tokens = Type.Array(Type.Integer({ minimum: 0, maximum: 0xffff_ffff }), { minItems: 1 });
  const many = Type.Array(Type.Union([text, tokens]), { minItems: 1, maxItems: countMax });
  const one = text.minLength === undefined ? "a string" : "a non-empty string";
  return Type.Union([text, tokens, many], {
    description: `${one}, an array of tokens, or an array of up to ${countMax} of either`,
  });
}

/** Each of them, in order. */
export function eachOf(given: string | readonly (number | TextOrTokens)[]): (string | Uint32Array<ArrayBuffer>)[] {
  if (typeof given === "string") return [given];
  const tokens = given.filter((each) => typeof each === "number");
  if (tokens.length > 0) return [Uint32Array.from(tokens)];
  return given.flatMap((each) => {
    if (typeof each === "number") return [];
    return [typeof each === "string" ? each : Uint32Array.from(each)];
  });
}
