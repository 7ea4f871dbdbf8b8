import { afterAll, beforeAll, expect, test } from "bun:test";
import { decodeChat } from "../src/api/openai/decode.ts";
import { decodeService } from "../src/api/service-fixture.ts";
import { compileRequest } from "../src/generate/compile.ts";
import type { Result } from "../src/generation/result.ts";
import { compileHereCharactersMax, constraintCharactersMax } from "../src/limits.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (vocabulary === undefined) console.warn("skipped: there is no default model");

let tenon: Awaited<ReturnType<typeof startTenon>>;
beforeAll(async () => {
  if (vocabulary !== undefined)
    tenon = await startTenon(["--model", "noise", "--vocabulary", vocabulary, "--noise-shape", "peaked"]);
});
afterAll(() => tenon?.stop(0));

const ask = async (schema: unknown, more: object = {}) => {
  const response = await fetch(new URL("/v1/chat/completions", tenon.server.url), {
    method: "POST",
    body: JSON.stringify({
      messages: [{ role: "user", content: "go" }],
      seed: 5,
      response_format: jsonSchema(schema),
      ...more,
    }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
};

function jsonSchema(schema: unknown) {
  return { type: "json_schema", json_schema: { name: "answer", schema } };
}

function unwrap<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}

/** A schema of about so many characters, of which little is left to choose. */
function schemaOf(characters: number) {
  const values = Array.from({ length: Math.ceil(characters / 24) }, (_, i) => `a value with number ${i}`);
  return { type: "object", properties: { one: { enum: values } }, required: ["one"], additionalProperties: false };
}

test.if(vocabulary !== undefined)("a large schema is compiled elsewhere, and enforced as any other", async () => {
  const schema = schemaOf(20 * compileHereCharactersMax);
  const answers = await Promise.all([ask(schema), ask(schemaOf(200)), ask(schema)]);
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    expect(JSON.parse(body.choices[0].message.content).one).toMatch(/^a value with number \d+$/);
  }
  // A seed says the same wherever its grammar came from.
  expect(answers[0].body.choices[0].message.content).toBe(answers[2].body.choices[0].message.content);
  const { running, grammars } = tenon.loaded.model.engine.stats();
  expect({ running, grammars }).toEqual({ running: 0, grammars: 0 });
});

test.if(vocabulary !== undefined)("what it refuses is refused as any other", async () => {
  const wrong = { ...schemaOf(2 * compileHereCharactersMax), minProperties: -1 };
  const small = { ...schemaOf(10), minProperties: -1 };
  const [large, little] = await Promise.all([ask(wrong), ask(small)]);
  expect(large.status).toBe(400);
  expect(large.body).toEqual(little.body);
  expect(large.body.error.message).toContain("minProperties");
  const nothing = await ask({ ...schemaOf(2 * compileHereCharactersMax), properties: { one: false } });
  expect(nothing.status).toBe(400);
});

test.if(vocabulary !== undefined)("nobody waits for what a client that left has asked for", async () => {
  const { model } = tenon.loaded;
  const body = { messages: [{ role: "user", content: "go" }], response_format: jsonSchema(schemaOf(900_000)) };
  const { request } = unwrap(
    decodeChat({ value: body, text: JSON.stringify(body) }, { id: "t", service: decodeService }),
  );
  const prompt = unwrap(model.render(request));
  const leaving = Array.from({ length: 20 }, () => new AbortController());
  const left = leaving.map(({ signal }) => compileRequest(model, request, prompt, signal));
  for (const controller of leaving) controller.abort();
  for (const result of await Promise.all(left)) {
    expect(result).toEqual({ ok: false, failure: { kind: "cancelled" } });
  }
  // What was begun for the first of them is given back before the next one is.
  unwrap(await compileRequest(model, request, prompt, new AbortController().signal)).grammar?.[Symbol.dispose]();
  expect(model.engine.stats().grammars).toBe(0);
});

test.if(vocabulary !== undefined)(
  "hard work of little text is done elsewhere, and its verdict is as any other",
  async () => {
    const grammar = `start: %json ${JSON.stringify(overlapping)}`;
    const { status, body } = await ask(undefined, { response_format: undefined, guided_grammar: grammar });
    expect(status).toBe(400);
    expect(body.error.message).toContain("too large to enforce");
    const words = Array.from({ length: 600 }, (_, i) => `w${i}`).join("|");
    const long = {
      type: "object",
      properties: { one: { type: "string", pattern: `^(${words})$` } },
      required: ["one"],
    };
    expect((await ask({ ...long, additionalProperties: false })).status).toBe(200);
  },
);

/** Of which every combination of ways differs. */
const overlapping = {
  allOf: Array.from({ length: 12 }, (_, i) => ({
    anyOf: [{ required: [`a${i}`] }, { properties: { [`b${i}`]: { type: "integer" } } }, { minProperties: i }],
  })),
};

test.if(vocabulary !== undefined)("the schemas of one request have a bound together", async () => {
  const { status, body } = await ask(schemaOf(constraintCharactersMax));
  expect(status).toBe(400);
  expect(body.error.message).toContain("characters together");
});
