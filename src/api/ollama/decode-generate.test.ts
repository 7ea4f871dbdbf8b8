import { expect, test } from "bun:test";
import { bodyOf } from "../body-fixture.ts";
import type { Asked } from "./decode-chat.ts";
import { service } from "./decode-fixture.ts";
import { decodeGenerate } from "./decode-generate.ts";

function decode(fields: object): Asked {
  const decoded = decodeGenerate(bodyOf(fields), "r", service);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.failure));
  return decoded.value;
}

function refusal(fields: object): string {
  const decoded = decodeGenerate(bodyOf({ prompt: "x", ...fields }), "r", service);
  if (decoded.ok || decoded.failure.kind !== "invalid") throw new Error("taken");
  return `${decoded.failure.param}: ${decoded.failure.message}`;
}

test("a prompt is a turn of the user's, after the rules", () => {
  const { request } = decode({ prompt: "Hi", system: "Be kind.", options: { num_predict: 3 } });
  expect(request).toMatchObject({
    messages: [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hi" },
    ],
    tools: [],
    tokensMax: 3,
    keepTokens: true,
  });
  expect(request && ("prompt" in request || "before" in request || "template" in request)).toBe(false);
});

test("a context comes first, and a template is the request's own", () => {
  const { request } = decode({ model: "mario", prompt: "Hi", context: [1, 2], template: "x" });
  expect(request).toMatchObject({
    model: "mario",
    before: [1, 2],
    messages: [{ role: "user", content: "Hi" }],
    template: "x",
  });
});

test("raw is the text as it stands", () => {
  expect(decode({ raw: true, prompt: " Hi <|im_end|>" }).request).toMatchObject({
    messages: [],
    prompt: " Hi <|im_end|>",
  });
  for (const field of [{ template: "x" }, { system: "x" }, { context: [1] }]) {
    expect(refusal({ raw: true, ...field })).toBe("raw: raw mode does not support template, system, or context");
  }
  expect(decode({ raw: true, prompt: "Hi", system: "", context: [] }).request).toMatchObject({ prompt: "Hi" });
});

test("what asks for nothing loads", () => {
  for (const fields of [{}, { prompt: "" }, { prompt: null }, { prompt: "", system: "x", context: [1] }]) {
    expect(decode(fields).request).toBeUndefined();
  }
});

test.each([
  [{ suffix: "}" }, "suffix: 'suffix' is not supported: the model has no tokens for filling in the middle"],
  [{ images: ["aGk="] }, "images: image input is not supported"],
  [{ prompt: " " }, "prompt: Request must include"],
  [{ context: ["a"] }, "context[0]: "],
  [{ context: [-1] }, "context[0]: "],
  [{ context: 1 }, "context: "],
  [{ prompt: 1 }, "prompt: "],
  [{ format: "yaml" }, "format: invalid format"],
] satisfies readonly (readonly [object, string])[])("%j is refused", (fields, expected) => {
  expect(refusal(fields)).toStartWith(expected);
});

test("an empty suffix and no images are none", () => {
  expect(decode({ prompt: "x", suffix: "", images: [] }).request).toBeDefined();
});
