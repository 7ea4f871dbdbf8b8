/**
 * How much of real documents has to come anyway, and whether a draft of it is what the tokenizer writes: each valid instance under the
 * default policy, its keys in the schema's order, token by token.
 */
import { defineCommand } from "citty";
import { type Compiled, compile, Vocabulary } from "../src/constraint.ts";
import { openTokenizer, readSamples } from "./samples.ts";
import { rounded } from "./statistics.ts";

export const drafts = defineCommand({
  meta: {
    name: "drafts",
    description: "Measure how many tokens have to follow, and whether drafts of them are the usual ones",
  },
  args: {
    data: { type: "string", description: "JSON lines, gzipped or not", required: true, valueHint: "FILE" },
    vocabulary: { type: "string", description: "A tokenizer.json or a GGUF file", required: true, valueHint: "FILE" },
    every: { type: "string", description: "Take only every Nth schema", default: "1", valueHint: "N" },
  },
  run({ args }) {
    using vocabulary = Vocabulary.of(openTokenizer(args.vocabulary));
    const counts = { schemas: 0, instances: 0, tokens: 0, drafted: 0, equal: 0 };
    for (const { schema, instances } of readSamples(args.data, Number(args.every))) {
      const compiled = compile(vocabulary, { kind: "json_schema", schema, policy: { order: "any" } });
      if (!compiled.ok) continue;
      using grammar = compiled.value;
      counts.schemas++;
      for (const { text, valid } of instances) {
        if (!valid) continue;
        const tokens = vocabulary.tokenizer.encode(text, { special: false });
        const found = follow(grammar, tokens);
        if (found === undefined) continue;
        counts.instances++;
        counts.tokens += tokens.length;
        counts.drafted += found.drafted;
        counts.equal += found.equal;
      }
    }
    const shares = {
      draftedShare: rounded(counts.drafted / counts.tokens),
      equalShare: rounded(counts.equal / counts.drafted),
    };
    process.stdout.write(`${JSON.stringify({ bench: "drafts", ...counts, ...shares }, null, 2)}\n`);
  },
});

/** Undefined where the policy does not allow the instance, such as one with undeclared keys. */
function follow(grammar: Compiled, tokens: Uint32Array) {
  using matcher = grammar.matcher();
  let drafted = 0;
  let equal = 0;
  for (let at = 0; at < tokens.length; ) {
    const draft = matcher.draft();
    let same = 0;
    while (same < draft.length && draft[same] === tokens[at + same]) same++;
    drafted += draft.length;
    equal += same;
    for (const token of tokens.subarray(at, at + Math.max(1, same))) if (!matcher.accept(token)) return undefined;
    at += Math.max(1, same);
  }
  return { drafted, equal };
}
