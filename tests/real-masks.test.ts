import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { lower } from "../bench/mask-run.ts";
import { must } from "../bench/samples.ts";
import { specPolicy } from "../src/generation/policy.ts";
import { encodeIr } from "../src/grammar/encode.ts";
import { grammarIr } from "./fixtures/grammar.ts";
import { seededRandom } from "./fixtures/random.ts";
import { patternSchema } from "./fixtures/random-patterns.ts";
import { compareMasks, realVocabulary } from "./fixtures/single-tokens.ts";

test("masks of random patterns over a real vocabulary are the tokens that are allowed one by one", () => {
  const random = seededRandom();
  using real = realVocabulary("llama3_1");
  let masks = 0;
  for (let round = 0; round < 60; round++) {
    const schema = JSON.stringify(patternSchema(random));
    const encoded = lower(schema, specPolicy);
    // Some match nothing.
    if (typeof encoded === "string") continue;
    const spare = round % 3 === 0 ? random(12) : undefined;
    try {
      masks += compareMasks(random, real, encoded, { tokensMax: 10, spare });
    } catch (cause) {
      throw new Error(schema, { cause });
    }
  }
  expect(masks).toBeGreaterThan(100);
}, 120_000);

const folder = `${import.meta.dir}/grammars`;
const grammars = readdirSync(folder).filter((name) => !name.endsWith(".json"));

test.each(grammars)(
  "masks of %s over a real vocabulary are the tokens that are allowed one by one",
  (name) => {
    const random = seededRandom();
    using real = realVocabulary("llama3_1");
    const syntax = name.endsWith(".lark") ? "lark" : "gbnf";
    const encoded = encodeIr(must(grammarIr({ syntax, text: readFileSync(`${folder}/${name}`, "utf8") })));
    let masks = 0;
    for (const spare of [undefined, random(20), undefined]) {
      masks += compareMasks(random, real, encoded, { tokensMax: 15, spare });
    }
    expect(masks).toBeGreaterThan(3);
  },
  60_000,
);
