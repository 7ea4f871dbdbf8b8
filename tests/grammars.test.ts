import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { unwrap } from "../src/engine/native-fixture.ts";
import type { NativeVocabulary } from "../src/engine/vocabulary.ts";
import type { GrammarSource } from "../src/generation/grammar-source.ts";
import type { Ir } from "../src/grammar/ir.ts";
import { grammarIr, schemaIr } from "./fixtures/grammar.ts";
import { engineRun, openGrammarVocabulary } from "./fixtures/grammar-run.ts";
import { sharedData } from "./fixtures/shared.ts";
import { accepts, type OutputSymbol, symbolsOf, tokenSymbol } from "./oracle/ir-acceptor.ts";

let vocabulary: NativeVocabulary;
beforeAll(() => {
  vocabulary = openGrammarVocabulary();
});
afterAll(() => vocabulary[Symbol.dispose]());

type Strings = { readonly accept: readonly Output[]; readonly reject: readonly Output[] };
/** Text, or text and tokens by number in turn. */
type Output = string | readonly (string | { readonly token: number })[];

/** The acceptor tries everything: longer strings take it minutes. */
const acceptedSymbolsMax = 24;

function check(source: GrammarSource, strings: Strings): void {
  checkIr(unwrap(grammarIr(source)), strings);
}

/** The engine on every string, through its masks, symbol by symbol; the acceptor on the short ones. */
function checkIr(ir: Ir, { accept, reject }: Strings): void {
  const all = [...accept, ...reject];
  const outputs = all.map(symbolsOfOutput);
  const runs = engineRun(vocabulary, ir, outputs);
  const shown = (keep: (index: number) => boolean) => all.filter((_, index) => keep(index));
  expect(shown((index) => runs[index]?.ends === true)).toEqual([...accept]);
  for (const [index, output] of outputs.entries()) {
    if (output.length > acceptedSymbolsMax) continue;
    expect([all[index], accepts(ir, output)]).toEqual([all[index], index < accept.length]);
  }
}

function symbolsOfOutput(output: Output): OutputSymbol[] {
  if (typeof output === "string") return symbolsOf(output);
  return output.flatMap((part) => (typeof part === "string" ? symbolsOf(part) : [tokenSymbol(part.token)]));
}

const folder = join(import.meta.dir, "grammars");
describe("grammars of our own", () => {
  const files = readdirSync(folder).filter((name) => !name.endsWith(".json"));
  test.each(files)("%s", (name) => {
    const [stem = "", syntax] = name.split(".");
    const strings: Strings = JSON.parse(readFileSync(join(folder, `${stem}.json`), "utf8"));
    const text = readFileSync(join(folder, name), "utf8");
    check({ syntax: syntax === "lark" ? "lark" : "gbnf", text }, strings);
  });
});

const shared = sharedData("gbnf");
describe.skipIf(shared === undefined)("llama.cpp's (skipped where the shared data is absent)", () => {
  const path = shared ?? "";
  const names = shared === undefined ? [] : readdirSync(path).filter((name) => name.endsWith(".gbnf"));
  test.each(names)("%s", (name) => {
    check(
      { syntax: "gbnf", text: readFileSync(join(path, name), "utf8") },
      samples[name] ?? { accept: [], reject: [] },
    );
  });

  type Case = Strings & { readonly name: string; readonly gbnf?: string; readonly json_schema?: string };
  const cases: readonly Case[] = shared === undefined ? [] : JSON.parse(readFileSync(join(path, "cases.json"), "utf8"));
  const texts = cases.flatMap(({ gbnf, ...rest }) => (gbnf === undefined ? [] : [{ gbnf, ...rest }]));
  test.each(texts)("case: $name", ({ gbnf, accept, reject }) => {
    check({ syntax: "gbnf", text: gbnf }, { accept, reject });
  });

  const schemas = cases.flatMap((item) => (item.json_schema === undefined ? [] : [item]));
  test.each(schemas)("case under the policy of answers: $name", ({ name, json_schema = "", accept, reject }) => {
    const moved = decidedOtherwise[name] ?? {};
    const all = [...accept, ...reject];
    const isAccepted = (text: Output) =>
      (typeof text === "string" && moved[text] !== undefined) !== accept.includes(text);
    expect(Object.keys(moved).filter((text) => !all.includes(text))).toEqual([]);
    checkIr(unwrap(schemaIr(json_schema)), {
      accept: all.filter(isAccepted),
      reject: all.filter((text) => !isAccepted(text)),
    });
  });
});

/** Where the specification says otherwise than llama.cpp's cases, and why. */
const decidedOtherwise: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "min 0": { "100000000000000000000000000000000": "JSON has no limit of 16 digits; ours is 40" },
  "min 2": { "12345678900000000": "JSON has no limit of 16 digits; ours is 40" },
  "empty schema (object)": {
    "[]": "the empty schema accepts any value",
    null: "the empty schema accepts any value",
    '""': "the empty schema accepts any value",
    true: "the empty schema accepts any value",
  },
  "min+max items": { "1": "without a type, keywords of arrays say nothing of numbers" },
};

/** What each of llama.cpp's files takes and does not. */
const samples: Readonly<Record<string, Strings>> = {
  "arithmetic.gbnf": {
    accept: ["1+2=3\n", "( a1 *2 ) =x\n(1) =1\n"],
    reject: ["1+2=3", "1+=3\n", "=1\n", "(1=1\n", ""],
  },
  "c.gbnf": {
    accept: ["", "int f(){}", "int f(int x){return x;}", "char g(){x = 1;//c\n}"],
    reject: ["int f()", "f(){}", "int f(){return;}", "int f(){x=;}"],
  },
  "chess.gbnf": {
    accept: ["1. e4 e5\n2. Nf3 Nc6\n", "1. d4 Nf6\n2. c4 e6\n3. O-O-O+ exd5=Q#\n"],
    reject: ["1. e4 e5\n", "2. e4 e5\n2. d4 d5\n", "1. e9 e5\n2. d4 d5\n", "1. e4 e5\n2. Nf3 Nc6"],
  },
  "english.gbnf": {
    accept: ["Hello, world!", "a\tb\n[c]"],
    reject: ["", " a", "a  b", "é", "a "],
  },
  "japanese.gbnf": {
    accept: ["こんにちは", "日本語 カタカナ、"],
    reject: ["", "a", "こ  こ", "🗾"],
  },
  "json.gbnf": {
    accept: ["{}", '{"a": [1, true], "b": {"c": "\\u00e9"}} ', '{\n "x":-1.5e+1}'],
    reject: ["[]", "", '{"a"}', '{"a": 01}', '{"a": "\n"}', '{"a": 1,}'],
  },
  "json_arr.gbnf": {
    accept: ["[\n]", '[\n1,\n"a"]', "[\n{}]"],
    reject: ["[]", "{}", "[\n1, 2]", "[\n1"],
  },
  "list.gbnf": {
    accept: ["- a\n", "- é\n- b c\n"],
    reject: ["", "- \n", "a\n", "- a", "- a\u2028\n"],
  },
};
