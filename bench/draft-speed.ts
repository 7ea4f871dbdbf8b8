/** What drafts save: the same schema-bound answers of a real model with and without them, in turns. */

import { defineCommand } from "citty";
import type { Engine, EngineRequest, Grammar } from "../src/engine/engine.ts";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { openEngine } from "../src/engine/native.ts";
import { openVocabulary } from "../src/engine/vocabulary.ts";
import { defaultPolicy } from "../src/generation/policy.ts";
import { defaultSampling } from "../src/generation/sampling.ts";
import { encodeIr } from "../src/grammar/encode.ts";
import { irBuilder } from "../src/grammar/ir.ts";
import { lowerSchema } from "../src/grammar/json-schema/lower.ts";
import { jsonStyle, schemaOptions } from "../src/grammar/policy.ts";
import { findModel, modelsFolder } from "../src/models/catalog.ts";
import { readGguf } from "../src/models/gguf.ts";
import { loadTokenizer } from "../src/tokenizer/load.ts";
import { must } from "./samples.ts";
import { median, rounded } from "./statistics.ts";

export const draftSpeed = defineCommand({
  meta: { name: "draft-speed", description: "Measure what drafts save of the time that a bound answer takes" },
  args: {
    model: {
      type: "string",
      description: "A model file",
      default: "SmolLM2-135M-Instruct.Q4_1.gguf",
      valueHint: "FILE",
    },
    rounds: { type: "string", description: "Answers each way", default: "10", valueHint: "N" },
  },
  async run({ args }) {
    const card = must(readGguf(must(findModel(args.model, modelsFolder(process.env))).path));
    const tokenizer = must(loadTokenizer(card));
    const library = must(openLibrary(process.env["TENON_LIBRARY"] || libraryPath()));
    const vocabulary = must(openVocabulary(library, tokenizer.vocabulary));
    const { manifest } = card;
    const engine = must(await openEngine({ vocabulary, model: { kind: "file", manifest }, contextMax: 2048 }));
    const tokens = tokenizer.encode(`${question}\n`, { special: true });
    const grammar = compile(engine);
    const withDrafts: number[] = [];
    const without: number[] = [];
    for (let seed = 0; seed < Number(args.rounds); seed++) {
      withDrafts.push(await msPerToken(engine, { tokens, grammar, seed, drafts: true }));
      without.push(await msPerToken(engine, { tokens, grammar, seed, drafts: false }));
    }
    const ratio = rounded(median(without) / median(withDrafts));
    const ms = { withDrafts: rounded(median(withDrafts)), without: rounded(median(without)) };
    process.stdout.write(
      `${JSON.stringify({ bench: "draft-speed", model: args.model, msPerToken: ms, ratio }, null, 2)}\n`,
    );
    process.exit(0);
  },
});

const question = "Open a business account for Ada Lovelace of Oslo, with a limit of 500. Answer in JSON.";
const schema = JSON.stringify({
  type: "object",
  properties: {
    user_name: { type: "string", maxLength: 16 },
    account_kind: { enum: ["personal", "business"] },
    monthly_limit: { type: "integer", minimum: 0, maximum: 1000 },
    shipping_address: {
      type: "object",
      properties: { street_name: { type: "string", maxLength: 16 }, house_number: { type: "integer", maximum: 1000 } },
      required: ["street_name", "house_number"],
    },
  },
  required: ["user_name", "account_kind", "monthly_limit", "shipping_address"],
});

function compile(engine: Engine): Grammar {
  const builder = irBuilder();
  const options = { ...schemaOptions(defaultPolicy, "schema"), objectsOnly: true, originFirst: 0 };
  const { value } = must(lowerSchema(builder, schema, options));
  const root = builder.node({ kind: "json", value, style: jsonStyle(defaultPolicy) });
  return must(engine.compile(encodeIr(builder.finish(root))));
}

async function msPerToken(
  engine: Engine,
  request: Pick<EngineRequest, "tokens" | "grammar" | "seed"> & { readonly drafts: boolean },
): Promise<number> {
  const generation = must(engine.submit({ ...sampling, ...request }));
  for await (const event of generation.events) {
    if (event.kind === "finish") return event.timings.completionMs / event.timings.completionTokens;
  }
  throw new Error("the events ended without a finish");
}

const sampling = {
  ...defaultSampling,
  temperature: 0.7,
  tokensMax: 160,
  stopTokens: [],
  logprobs: undefined,
  step: false,
} as const;
