import { expect, test } from "bun:test";
import { failureOf, requestOf } from "./decode-fixture.ts";

const strictly = (parameters: object) => ({
  tools: [{ type: "function", function: { name: "f", strict: true, parameters } }],
});
const closed = { type: "object", additionalProperties: false };

test.each([
  [{ type: "array" }, "", "type", "the root must be of the type 'object'"],
  [{ anyOf: [] }, "", "anyOf", "the root must not use 'anyOf'"],
  [{ type: "object" }, "", "additionalProperties", "'additionalProperties' must be supplied and false"],
  [{ ...closed, properties: { a: {} } }, "", "required", "'required' must include every key of 'properties', 'a' too"],
  [
    { ...closed, properties: { "a/b": { oneOf: [] } }, required: ["a/b"] },
    "/properties/a~1b",
    "oneOf",
    "'oneOf' is not permitted",
  ],
  [
    { ...closed, properties: { a: { type: "array", items: { type: ["object", "null"] } } }, required: ["a"] },
    "/properties/a/items",
    "additionalProperties",
    "'additionalProperties' must be supplied and false",
  ],
])("strict: true and %j is refused at %p", (schema, pointer, keyword, rule) => {
  const where = pointer === "" ? "at its root" : `at '${pointer}'`;
  expect(failureOf(strictly(schema))).toEqual({
    kind: "constraint",
    message: `Invalid schema for function 'f': with 'strict' set, ${rule}; this one breaks that ${where}.`,
    param: "tools[0].function.parameters",
    pointer,
    keyword,
  });
  const format = { type: "json_schema", json_schema: { name: "n", strict: true, schema } };
  expect(failureOf({ response_format: format })).toMatchObject({
    param: "response_format.json_schema.schema",
    pointer,
  });
});

test("what strict allows is taken", () => {
  const node = { ...closed, properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } }, required: ["next"] };
  expect(requestOf(strictly(node)).tools).toMatchObject([{ strict: true }]);
});
