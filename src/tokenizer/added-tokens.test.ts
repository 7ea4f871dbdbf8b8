import { expect, test } from "bun:test";
import { partitionBy } from "./added-tokens.ts";

const token = (
  id: number,
  text: string,
  more: { special?: boolean; stripLeft?: boolean; stripRight?: boolean } = {},
) => ({
  id,
  text,
  special: more.special ?? false,
  stripLeft: more.stripLeft ?? false,
  stripRight: more.stripRight ?? false,
});

const partition = partitionBy([
  token(1, "<a>"),
  token(2, "<a><b>"),
  token(3, "<end>", { special: true }),
  token(4, "  "),
  token(5, "    "),
  token(6, "<l>", { stripLeft: true }),
  token(7, "<r>", { stripRight: true }),
  token(8, "🙂"),
]);

const cases: readonly [text: string, special: boolean, sections: readonly (string | number)[]][] = [
  ["", true, []],
  ["plain", true, ["plain"]],
  ["<a>", true, [1]],
  ["<a><b>", true, [2]],
  ["<a><c><a>", true, [1, "<c>", 1]],
  ["<<a>>", true, ["<", 1, ">"]],
  ["<a", true, ["<a"]],
  ["x<end>y", true, ["x", 3, "y"]],
  ["x<end>y", false, ["x<end>y"]],
  ["<end><a>", false, ["<end>", 1]],
  ["       ", true, [5, 4, " "]],
  ["x <l> y", true, ["x", 6, " y"]],
  ["x <r> y", true, ["x ", 7, "y"]],
  [" <l>", true, [6]],
  ["<r>  ", true, [7]],
  ["a🙂b\ud83d", true, ["a", 8, "b\ud83d"]],
];

for (const [text, special, sections] of cases) {
  test(JSON.stringify(text), () => {
    expect(partition(text, special).map((section) => ("token" in section ? section.token : section.text))).toEqual([
      ...sections,
    ]);
  });
}
