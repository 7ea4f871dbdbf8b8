import { afterAll, beforeAll, expect, test } from "bun:test";
import type { NativeVocabulary } from "../src/engine/vocabulary.ts";
import { type Ir, type IrBuilder, irBuilder, type NodeId } from "../src/grammar/ir.ts";
import { rawText } from "../src/grammar/raw-text.ts";
import { Languages } from "../src/grammar/regex/language.ts";
import { engineRun, openGrammarVocabulary } from "./fixtures/grammar-run.ts";
import { accepts, channelRuns, type OutputSymbol, symbolsOf, tokenSymbol } from "./oracle/ir-acceptor.ts";

/** What formats of tool calls are made of beside JSON, each by itself, through the engine and the acceptor. */

let vocabulary: NativeVocabulary;
beforeAll(() => {
  vocabulary = openGrammarVocabulary();
});
afterAll(() => vocabulary[Symbol.dispose]());

const utf8 = new TextEncoder();

/** `⟨5⟩` is token 5. */
function output(text: string): OutputSymbol[] {
  return text
    .split(/(⟨\d+⟩)/)
    .flatMap((part) => (part.startsWith("⟨") ? [tokenSymbol(Number(part.slice(1, -1)))] : symbolsOf(part)));
}

function irOf(write: (builder: IrBuilder, pieces: ReturnType<typeof piecesOf>) => NodeId): Ir {
  const builder = irBuilder();
  return builder.finish(write(builder, piecesOf(builder)));
}

function piecesOf(builder: IrBuilder) {
  return {
    bytes: (text: string) => builder.node({ kind: "bytes", bytes: utf8.encode(text) }),
    sequence: (...items: NodeId[]) => builder.node({ kind: "sequence", items }),
    choice: (...items: NodeId[]) => builder.node({ kind: "choice", items }),
    repeat: (item: NodeId, min: number, max?: number) => builder.node({ kind: "repeat", item, min, max }),
    marker: (token: number, text: string) => builder.node({ kind: "marker", token, bytes: utf8.encode(text) }),
  };
}

function check(ir: Ir, accepted: readonly string[], rejected: readonly string[]): void {
  const all = [...accepted, ...rejected];
  const runs = engineRun(vocabulary, ir, all.map(output));
  expect(all.filter((_, index) => runs[index]?.ends)).toEqual([...accepted]);
  expect(all.filter((text) => accepts(ir, output(text)))).toEqual([...accepted]);
}

test("a marker is its token or its text", () => {
  const ir = irOf((_, { marker, sequence }) => sequence(marker(3, "<a>"), marker(4, "</a>")));
  check(ir, ["<a></a>", "⟨3⟩⟨4⟩", "⟨3⟩</a>"], ["⟨4⟩⟨3⟩", "<a>", "⟨3⟩⟨3⟩"]);
});

const terminator = { token: 4, bytes: utf8.encode("</p>") };

test("raw text goes on until its first terminator, as token or as text", () => {
  const ir = irOf((builder, { sequence, marker }) =>
    sequence(rawText({ builder, languages: new Languages() }, [terminator]), marker(4, "</p>")),
  );
  check(ir, ["</p>", "a <b> </ é</p>", "<</p>", "x⟨4⟩"], ["a", "</p></p>", "a⟨4⟩⟨4⟩", "a⟨3⟩⟨4⟩", "</p>a</p>"]);
});

test("raw text within a pattern, a length or some texts", () => {
  const within = (language: (languages: Languages) => ReturnType<Languages["literal"]>) =>
    irOf((builder, { sequence, marker }) => {
      const languages = new Languages();
      return sequence(rawText({ builder, languages }, [terminator], language(languages)), marker(4, "</p>"));
    });
  const digits = within((of) => of.repeat(of.class([[0x30, 0x39]]), 1, undefined));
  check(digits, ["12</p>", "1⟨4⟩"], ["</p>", "1a</p>", "12"]);
  const short = within((of) => of.repeat(of.anyPoint, 2, 3));
  check(short, ["ab</p>", "é<😀⟨4⟩", "</<⟨4⟩"], ["a</p>", "abcd</p>", "</p></p>"]);
  const listed = within((of) => of.union(["on", "off", "</p>x"].map((text) => of.literal(text))));
  check(listed, ["on</p>", "off⟨4⟩"], ["of</p>", "</p>x</p>", "</p>"]);
});

test("a record takes its items in any order", () => {
  const ir = irOf((builder, { bytes, sequence, repeat }) => {
    const digit = (name: string) =>
      sequence(bytes(`${name}=`), builder.node({ kind: "texts", texts: ["1", "22"].map((text) => utf8.encode(text)) }));
    const items = [
      { node: digit("a"), required: true },
      { node: digit("b"), required: false },
      { node: digit("ab"), required: true },
    ];
    const separator = sequence(bytes(","), repeat(bytes(" "), 0, 1));
    return sequence(bytes("{"), builder.node({ kind: "record", items, separator }), bytes("}"));
  });
  check(
    ir,
    ["{a=1,ab=22}", "{ab=1, b=22,a=1}", "{b=1,a=1,ab=1}"],
    ["{}", "{a=1}", "{a=1,a=1,ab=1}", "{a=1,ab=1,}", "{a=1ab=1}", "{,a=1,ab=1}", "{b=1,ab=1}", "{a=1,ab=1,b=1,b=1}"],
  );
});

test("a record without separator and without demands may be empty, and has forty items as well as three", () => {
  const names = Array.from({ length: 40 }, (_, i) => String.fromCodePoint(0x61 + (i % 26)) + (i < 26 ? "0" : "1"));
  const ir = irOf((builder, { bytes }) => {
    const items = names.map((name, i) => ({ node: bytes(name), required: i === 39 }));
    return builder.node({ kind: "record", items, separator: undefined });
  });
  const runs = engineRun(vocabulary, ir, [names.toReversed().join(""), "n1", "a0n1", "", "a0", "n1n1"].map(output));
  expect(runs.map(({ ends }) => ends)).toEqual([true, true, true, false, false, false]);
});

test("repeats count, and rules contain themselves", () => {
  const counted = irOf((_, { bytes, repeat, sequence }) => sequence(repeat(bytes("ab"), 2, 3), bytes("!")));
  check(counted, ["abab!", "ababab!"], ["ab!", "abababab!", "aba!"]);
  const nested = irOf((builder, { bytes, sequence, choice }) => {
    const inner = builder.reserveNode();
    builder.setNode(inner, { kind: "choice", items: [sequence(bytes("("), inner, bytes(")")), choice(bytes("x"))] });
    return inner;
  });
  check(nested, ["x", "((x))"], ["(x", "()", "x)"]);
});

test("any token but some, and texts of a list", () => {
  const ir = irOf((builder, { sequence, repeat, bytes }) => {
    const any = builder.node({ kind: "any_token", except: [5] });
    const words = builder.node({ kind: "texts", texts: ["", "a", "ab", "b"].map((text) => utf8.encode(text)) });
    return sequence(repeat(any, 1, 2), builder.node({ kind: "token", token: 5 }), words, bytes("."));
  });
  check(ir, ["x⟨5⟩.", "⟨6⟩x⟨5⟩ab."], ["⟨5⟩.", "xyz⟨5⟩a.", "x⟨5⟩ba.", "x⟨5⟩a"]);
});

test("a channel says what bytes are for, and the first alternative counts", () => {
  const ir = irOf((builder, { bytes, sequence, repeat, choice }) => {
    const channel = (name: "markup" | "argument_key" | "argument_text" | "value_end", item: NodeId) =>
      builder.node({ kind: "channel", channel: name, item });
    const raw = builder.node({ kind: "text", until: [terminator], barred: [], controls: false });
    const parameter = sequence(
      channel("markup", bytes("<p=")),
      channel("argument_key", choice(bytes("a"), bytes("ab"))),
      channel("markup", bytes(">")),
      channel("argument_text", raw),
      channel("value_end", bytes("</p>")),
    );
    return repeat(sequence(parameter, choice(channel("markup", bytes("\n")), sequence())), 0);
  });
  expect(channelRuns(ir, output("<p=ab>x\n</p>\n<p=a></p>"))).toEqual([
    ["markup", "<p="],
    ["argument_key", "ab"],
    ["markup", ">"],
    ["argument_text", "x\n"],
    ["value_end", "</p>"],
    ["markup", "\n<p="],
    ["argument_key", "a"],
    ["markup", ">"],
    ["value_end", "</p>"],
  ]);
  check(ir, ["", "<p=a>é</p>"], ["<p=b></p>", "<p=a>"]);
});
