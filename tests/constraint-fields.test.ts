import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { modelPath, startTenon } from "./fixtures/running.ts";

type Body = {
  readonly choices: readonly { readonly message?: { readonly content: string }; readonly text?: string }[];
};

/** Every name under which an answer can be held to something, over the default model at a high temperature: as chats and as completions. */

const path = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (path === undefined) console.log("skipped: constraints over the real engine need the default model");
setDefaultTimeout(120_000);

const schema = { type: "object", properties: { n: { type: "integer", minimum: 1, maximum: 9 } }, required: ["n"] };
const isNine = (text: string) => /^\{"n":[1-9]\}$/.test(JSON.stringify(JSON.parse(text)));
const gbnf = 'root ::= [a-c]{3,5} "-" ("x" | "y")';
const lark = 'start: /[a-c]{3,5}/ "-" ("x" | "y")\n';
const tag = { type: "structural_tag", format: { type: "regex", pattern: "[a-c]{3,5}-(x|y)" } };
const isGbnf = (text: string) => /^[a-c]{3,5}-[xy]$/.test(text);
const isJson = (text: string) => JSON.parse(text) !== undefined;
const isObject = (text: string) => /^\{/.test(JSON.stringify(JSON.parse(text)));
const isChoice = (text: string) => ["red", "dark red", "grün"].includes(text);
const choice = ["red", "dark red", "grün"];
/** What stands between words is the lexicon's own. */
const isWords = (text: string) =>
  (text.match(/\p{L}+/gu) ?? []).every((word) => ["rot", "grün", "blau"].includes(word));

const cases: readonly (readonly [fields: object, fits: (text: string) => boolean])[] = [
  [{ response_format: { type: "json_schema", json_schema: { name: "n", schema } } }, isNine],
  [{ response_format: { type: "json_object", schema } }, isNine],
  [{ response_format: { type: "json_object" } }, isObject],
  [{ response_format: { type: "grammar", grammar: gbnf } }, isGbnf],
  [{ json_schema: schema }, isNine],
  [{ grammar: gbnf }, isGbnf],
  [{ ebnf: gbnf }, isGbnf],
  [{ regex: "[a-c]{3,5}-(x|y)" }, isGbnf],
  [{ choice }, isChoice],
  [{ guided_json: schema }, isNine],
  [{ guided_json: JSON.stringify(schema) }, isNine],
  [{ guided_choice: choice }, isChoice],
  [{ guided_regex: "[a-c]{3,5}-(x|y)" }, isGbnf],
  [{ guided_grammar: gbnf }, isGbnf],
  [{ guided_grammar: lark }, isGbnf],
  [{ structured_outputs: { json: schema } }, isNine],
  [{ structured_outputs: { choice } }, isChoice],
  [{ structured_outputs: { regex: "[a-c]{3,5}-(x|y)" } }, isGbnf],
  [{ structured_outputs: { grammar: gbnf } }, isGbnf],
  [{ structured_outputs: { grammar: lark } }, isGbnf],
  [{ structured_outputs: { structural_tag: JSON.stringify(tag) } }, isGbnf],
  [{ response_format: tag }, isGbnf],
  [{ structured_outputs: { json_object: true } }, isObject],
  [{ extra_body: { guided_choice: choice } }, isChoice],
  [{ tenon_schema: schema }, isNine],
  [{ llamay_schema: schema }, isNine],
  [{ tenon_format: "json" }, isJson],
  [{ llamay_format: "json" }, isJson],
  [{ tenon_lexicon: ["rot", "grün", "blau"] }, isWords],
  [{ llamay_lexicon: { words: ["rot", "grün", "blau"] } }, isWords],
];

describe.skipIf(path === undefined)("the default model (skipped without its file)", () => {
  let tenon: Awaited<ReturnType<typeof startTenon>>;
  beforeAll(async () => {
    tenon = await startTenon(["-m", path ?? ""]);
  });
  afterAll(() => tenon?.stop(0));

  async function ask(route: string, body: object): Promise<{ constraint: string | null; body: Body }> {
    const response = await fetch(new URL(route, tenon.server.url), { method: "POST", body: JSON.stringify(body) });
    return { constraint: response.headers.get("x-tenon-constraint"), body: JSON.parse(await response.text()) };
  }

  test.each(cases)("%j", async (fields, fits) => {
    const asked = { ...fields, temperature: 1.8, seed: 3, max_tokens: 40 };
    const chat = await ask("/v1/chat/completions", { messages: [{ role: "user", content: "Go on." }], ...asked });
    const completion = await ask("/v1/completions", { prompt: "Once", ...asked });
    expect([chat.constraint, completion.constraint]).toEqual(["enforced", "enforced"]);
    expect(chat.body).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    expect(completion.body).toMatchObject({ choices: [{ finish_reason: "stop" }] });
    const texts = [chat.body.choices[0]?.message?.content ?? "", completion.body.choices[0]?.text ?? ""];
    expect(texts.filter((text) => !fits(text))).toEqual([]);
  });
});
