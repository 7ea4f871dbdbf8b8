import type { GgufFile, GgufNumbers } from "./gguf-file.ts";
import { emptyTextTable, type TextTable } from "./text-table.ts";

/**
 * Typed look-ups in a file's metadata. What is missing or of the wrong type is remembered in `problem` and answered
 * with a neutral value, so that a reader can take all its values first and look for a problem once.
 */
export type Keys = {
  readonly problem: string | undefined;
  has(key: string): boolean;
  text(key: string, otherwise?: string): string;
  flag(key: string, otherwise: boolean): boolean;
  /** Any finite number. */
  number(key: string, otherwise?: number): number;
  /** A whole number ≥ 0. An array counts where all its elements are equal (files with a value for each layer). */
  count(key: string, otherwise?: number): number;
  /** A token id, or undefined where there is none. */
  token(key: string, vocabulary: number, otherwise?: number): number | undefined;
  texts(key: string): TextTable;
  numbers(key: string): GgufNumbers;
  refuse(problem: string): void;
};

export function keysOf(file: GgufFile): Keys {
  let problem: string | undefined;
  const refuse = (text: string) => {
    problem ??= text;
  };
  const missing = (key: string) => refuse(`has no ${key}`);
  const wrong = (key: string, expected: string) => refuse(`has a ${key} that is not ${expected}`);

  const number = (key: string, otherwise?: number): number => {
    const value = file.metadata.get(key);
    if (value === undefined && otherwise === undefined) missing(key);
    if (value === undefined) return otherwise ?? 0;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    wrong(key, "a number");
    return 0;
  };

  return {
    get problem() {
      return problem;
    },
    has: (key) => file.metadata.has(key),
    text(key, otherwise) {
      const value = file.metadata.get(key);
      if (typeof value === "string") return value;
      if (value !== undefined) wrong(key, "a text");
      else if (otherwise === undefined) missing(key);
      return otherwise ?? "";
    },
    flag(key, otherwise) {
      const value = file.metadata.get(key);
      if (typeof value === "boolean") return value;
      if (value !== undefined) wrong(key, "a flag");
      return otherwise;
    },
    number,
    count(key, otherwise) {
      const value = file.metadata.get(key);
      if (ArrayBuffer.isView(value)) {
        const first = value[0];
        if (first !== undefined && Number.isSafeInteger(first) && first >= 0 && value.every((one) => one === first)) {
          return first;
        }
        refuse(`has different values for its layers in ${key}, which is not supported`);
        return 0;
      }
      const whole = number(key, otherwise);
      if (Number.isSafeInteger(whole) && whole >= 0) return whole;
      wrong(key, "a whole number");
      return 0;
    },
    token(key, vocabulary, otherwise) {
      const value = file.metadata.get(key) ?? otherwise;
      if (value === undefined) return undefined;
      if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < vocabulary) return value;
      // Converters write 0xffffffff for "none".
      if (value !== 0xffffffff && value !== otherwise) wrong(key, "a token of its vocabulary");
      return undefined;
    },
    texts(key) {
      const value = file.metadata.get(key);
      if (typeof value === "object" && "starts" in value) return value;
      if (value === undefined) missing(key);
      else wrong(key, "an array of texts");
      return emptyTextTable;
    },
    numbers(key) {
      const value = file.metadata.get(key);
      if (ArrayBuffer.isView(value)) return value;
      if (value === undefined) missing(key);
      else wrong(key, "an array of numbers");
      return new Uint8Array(0);
    },
    refuse,
  };
}
