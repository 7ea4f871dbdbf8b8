import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defaultPolicy } from "../generation/policy.ts";
import { encodeIr } from "../grammar/encode.ts";
import { irBuilder } from "../grammar/ir.ts";
import { lowerSchema } from "../grammar/json-schema/lower.ts";
import { jsonStyle, schemaOptions } from "../grammar/policy.ts";
import { modelsFolder } from "../models/catalog.ts";
import { readGguf } from "../models/gguf.ts";
import { loadTokenizer } from "../tokenizer/load.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Engine } from "./engine.ts";
import { openEngine } from "./native.ts";
import { openTestLibrary, run, until, unwrap } from "./native-fixture.ts";
import { type NativeVocabulary, openVocabulary } from "./vocabulary.ts";

const path = join(modelsFolder(process.env), "SmolLM2-135M-Instruct.Q4_1.gguf");
const present = existsSync(path);
if (!present) console.warn(`skipped: there is no ${path}`);

let tokenizer: Tokenizer;
let vocabulary: NativeVocabulary;
let engine: Engine;
beforeAll(async () => {
  if (!present) return;
  const card = unwrap(readGguf(path));
  tokenizer = unwrap(loadTokenizer(card));
  vocabulary = unwrap(openVocabulary(openTestLibrary(), tokenizer.vocabulary));
  engine = unwrap(await openEngine({ vocabulary, model: { kind: "file", manifest: card.manifest }, contextMax: 2048 }));
});
afterAll(() => {
  engine?.[Symbol.dispose]();
  vocabulary?.[Symbol.dispose]();
});

const prompt = (text: string) =>
  tokenizer.encode(`<|im_start|>user\n${text}<|im_end|>\n<|im_start|>assistant\n`, { special: true });

test.if(present)("a real model answers", async () => {
  const tokens = prompt("What is the capital of France? Answer in one word.");
  const { bytes, finish } = await run(engine, { tokens, temperature: 0, stopTokens: tokenizer.stopTokens });
  expect(new TextDecoder().decode(bytes)).toContain("Paris");
  expect(finish.reason).toBe("stop_token");
});

test.if(present)("its text is the same in a batch as alone, and its memory comes back", async () => {
  const questions = ["Count to ten.", "Name three colours.", "What is rain?", "Write a short poem about the sea."];
  const requests = questions.map((text, seed) => ({ tokens: prompt(text), temperature: 0.8, tokensMax: 24, seed }));
  const alone: Uint8Array[] = [];
  for (const request of requests) alone.push((await run(engine, request)).bytes);
  const together = await Promise.all(requests.map((request) => run(engine, request)));
  expect(together.map(({ bytes }) => bytes)).toEqual(alone);
  await until(() => engine.stats().running === 0);
  expect(engine.stats()).toMatchObject({ running: 0, queued: 0, cacheBytes: 0 });
});

test.if(present)(
  "its text is the same with drafts as without",
  async () => {
    const builder = irBuilder();
    const schema = JSON.stringify({
      type: "object",
      properties: {
        title: { type: "string", maxLength: 20 },
        kind: { enum: ["poem", "story"] },
        length: { type: "integer" },
      },
      required: ["title", "kind", "length"],
    });
    const options = { ...schemaOptions(defaultPolicy, "schema"), objectsOnly: true, originFirst: 0 };
    const { value } = unwrap(lowerSchema(builder, schema, options));
    const root = builder.node({ kind: "json", value, style: jsonStyle(defaultPolicy) });
    using grammar = unwrap(engine.compile(encodeIr(builder.finish(root))));
    for (let seed = 0; seed < 4; seed++) {
      const request = {
        tokens: prompt("Describe a text about the sea."),
        grammar,
        temperature: 0.8,
        tokensMax: 80,
        seed,
      };
      const drafted = await run(engine, request);
      const single = await run(engine, { ...request, drafts: false });
      expect(new TextDecoder().decode(drafted.bytes)).toBe(new TextDecoder().decode(single.bytes));
      expect(drafted.finish.timings.completionTokens).toBe(single.finish.timings.completionTokens);
    }
  },
  60_000,
);

test.if(present)("a vocabulary of another size is refused", async () => {
  const { bytes, offsets, kinds } = tokenizer.vocabulary;
  const count = tokenizer.vocabulary.count - 1;
  const cut = {
    bytes: bytes.slice(0, offsets[count]),
    offsets: offsets.slice(0, count + 1),
    kinds: kinds.slice(0, count),
  };
  using other = unwrap(openVocabulary(vocabulary.library, { ...cut, count }));
  const card = unwrap(readGguf(path));
  const opened = await openEngine({ vocabulary: other, model: { kind: "file", manifest: card.manifest } });
  expect(opened).toEqual({ ok: false, failure: "the vocabulary has 49151 tokens, the model 49152" });
});
