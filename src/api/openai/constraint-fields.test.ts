import { expect, test } from "bun:test";
import { failureOf, requestOf } from "./decode-fixture.ts";

test.each([
  [{ grammar: "root ::= x" }, "grammar", { syntax: "gbnf", text: "root ::= x" }],
  [{ ebnf: "root ::= x" }, "ebnf", { syntax: "gbnf", text: "root ::= x" }],
  [{ regex: "a+" }, "regex", { syntax: "regex", text: "a+" }],
  [{ choice: ["a", "b"] }, "choice", { syntax: "choice", texts: ["a", "b"] }],
  [{ guided_regex: "a+" }, "guided_regex", { syntax: "regex", text: "a+" }],
  [{ guided_choice: ["a"] }, "guided_choice", { syntax: "choice", texts: ["a"] }],
  [{ guided_grammar: "root ::= x" }, "guided_grammar", { syntax: "gbnf", text: "root ::= x" }],
  [{ guided_grammar: "start: x" }, "guided_grammar", { syntax: "lark", text: "start: x" }],
  [{ structured_outputs: { regex: "a" } }, "structured_outputs.regex", { syntax: "regex", text: "a" }],
  [{ structured_outputs: { choice: ["a"] } }, "structured_outputs.choice", { syntax: "choice", texts: ["a"] }],
  [{ structured_outputs: { grammar: "start: x" } }, "structured_outputs.grammar", { syntax: "lark", text: "start: x" }],
  [
    { response_format: { type: "grammar", grammar: "root ::= x" } },
    "response_format.grammar",
    { syntax: "gbnf", text: "root ::= x" },
  ],
  [
    { response_format: { type: "structural_tag", format: {} } },
    "response_format",
    { syntax: "structural_tag", text: '{"type":"structural_tag","format":{}}' },
  ],
  [{ tenon_lexicon: ["a", "b"] }, "tenon_lexicon", { syntax: "lexicon", words: ["a", "b"], fold: false }],
  [{ llamay_lexicon: { words: ["a"], fold: true } }, "llamay_lexicon", { syntax: "lexicon", words: ["a"], fold: true }],
] as const)("%j is a grammar", (body, param, source) => {
  expect<unknown>(requestOf(body).answer).toEqual({ kind: "grammar", param, source });
});

test.each([
  [{ json_schema: { a: 1 } }, { kind: "json_schema", schema: '{"a":1}', param: "json_schema" }],
  [{ guided_json: '{"b": 2}' }, { kind: "json_schema", schema: '{"b": 2}', param: "guided_json" }],
  [
    { structured_outputs: { json: { c: 3 } } },
    { kind: "json_schema", schema: '{"c":3}', param: "structured_outputs.json" },
  ],
  [{ extra_body: { guided_json: { d: 4 } } }, { kind: "json_schema", schema: '{"d":4}', param: "guided_json" }],
  [{ structured_outputs: { json_object: true } }, { kind: "json_object" }],
  [{ tenon_schema: { e: 5 } }, { kind: "json_schema", schema: '{"e":5}', param: "tenon_schema" }],
  [{ llamay_schema: { e: 5 } }, { kind: "json_schema", schema: '{"e":5}', param: "llamay_schema" }],
  [{ tenon_format: "json" }, { kind: "json" }],
  [{ llamay_format: "json" }, { kind: "json" }],
  [{ grammar: "", tenon_lexicon: false }, { kind: "text" }],
])("%j is a format", (body, answer) => {
  expect<unknown>(requestOf(body).answer).toEqual(answer);
});

test.each([
  [
    { json_schema: {}, grammar: "x" },
    "grammar",
    "Cannot use both json_schema and grammar: two constraints cannot be composed.",
  ],
  [
    { response_format: { type: "json_object" }, tenon_format: "json" },
    "tenon_format",
    "Cannot use both response_format and tenon_format: two constraints cannot be composed.",
  ],
  [
    { tenon_lexicon: true },
    "tenon_lexicon",
    "'tenon_lexicon' names no words, and the server was started without --lexicon.",
  ],
] as const)("%j is refused", (body, param, message) => {
  expect(failureOf(body)).toMatchObject({ kind: "invalid", param, message });
});
