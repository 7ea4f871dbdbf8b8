import { expect, test } from "bun:test";
import { scriptedEngine } from "../engine/scripted.ts";
import type { Failure } from "../generation/failure.ts";
import type { GrammarSource } from "../generation/grammar-source.ts";
import { requestWith } from "../generation/request-fixture.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { compileHereGrammarCharactersMax } from "../limits.ts";
import { byteTokenizer } from "../tokenizer/bytes.ts";
import { compileRequest } from "./compile.ts";
import type { Model } from "./model.ts";

const refused: Failure = { kind: "constraint", message: "no", pointer: "", keyword: "type" };
const prompt = { text: "", tokens: new Uint32Array() };

/** Compiles a request whose constraint comes out so; whether the other thread was asked. */
async function compiled(failure: Failure | undefined, fields: Parameters<typeof requestWith>[0] = {}) {
  let asked = 0;
  const rest = { constraint: "none", relaxed: [], stopTokens: [] } as const;
  const model: Model = {
    id: "m",
    engine: scriptedEngine({
      vocabularyCount: 256,
      contextMax: 64,
      costMin: 1,
      script: () => ({ events: [], finish: "complete" }),
    }),
    tokenizer: byteTokenizer,
    render: () => ok(prompt),
    constrain: () => (failure === undefined ? ok({ ...rest, ir: undefined, failureOf: () => refused }) : fail(failure)),
    async elsewhere(): Promise<Result<never, Failure>> {
      asked++;
      return fail(refused);
    },
    processors: [],
  };
  const result = await compileRequest(model, requestWith(fields), prompt, new AbortController().signal);
  return { ok: result.ok, asked };
}

test("the other thread is asked only where there was no verdict in little time", async () => {
  expect(await compiled(undefined)).toEqual({ ok: true, asked: 0 });
  expect(await compiled(refused)).toEqual({ ok: false, asked: 0 });
  expect(await compiled({ ...refused, exhausted: true })).toEqual({ ok: false, asked: 1 });
});

test("what takes long to read for its length is not read here", async () => {
  const grammar = (source: GrammarSource) => ({ answer: { kind: "grammar", source, param: "grammar" } }) as const;
  const long = "a".repeat(compileHereGrammarCharactersMax + 1);
  for (const syntax of ["gbnf", "lark", "regex", "structural_tag"] as const) {
    expect(await compiled(undefined, grammar({ syntax, text: long }))).toEqual({ ok: false, asked: 1 });
    expect(await compiled(undefined, grammar({ syntax, text: "a" }))).toEqual({ ok: true, asked: 0 });
  }
  expect(await compiled(undefined, grammar({ syntax: "choice", texts: [long] }))).toEqual({ ok: true, asked: 0 });
});
