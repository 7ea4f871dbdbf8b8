import { expect, test } from "bun:test";
import { unsupportedPart } from "./unsupported-part.ts";

test.each([
  ["image_url", "image input is not supported", "unsupported_value"],
  ["smell", "unsupported content[].type", "invalid_value"],
  // Names that every object has are no kinds of parts.
  ["constructor", "unsupported content[].type", "invalid_value"],
  ["__proto__", "unsupported content[].type", "invalid_value"],
])("a part of the type %p is refused", (type, message, code) => {
  const failure = { kind: "invalid", message, param: "messages[0].content[1].type", code } as const;
  expect(unsupportedPart(type, new Map([["image_url", "image"]]), "messages[0].content[1]")).toEqual(failure);
});
