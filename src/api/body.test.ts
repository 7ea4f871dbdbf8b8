import { expect, test } from "bun:test";
import { bodyDepthMax } from "../limits.ts";
import { readJson } from "./body.ts";

const post = (body: string | Uint8Array | undefined) =>
  readJson(new Request("http://localhost/", { method: "POST", ...(body === undefined ? {} : { body }) }));

test("the value and the text it was read from, whatever the content type", async () => {
  expect(await post('\uFEFF{"2":1,"1":1.50}')).toEqual({
    ok: true,
    value: { value: { "1": 1.5, "2": 1 }, text: '{"2":1,"1":1.50}' },
  });
});

test.each([
  [Uint8Array.of(0x22, 0xff, 0x22), "The request body is not valid UTF-8."],
  ["[".repeat(bodyDepthMax + 1), `The request body is nested deeper than ${bodyDepthMax} levels.`],
  ["{,}", "The request body is not valid JSON. JSON Parse error: Expected '}'"],
])("%p is refused", async (body, message) => {
  expect(await post(body)).toEqual({ ok: false, failure: { kind: "body_invalid", message } });
});

test.each([undefined, "", " \n"])("%p is empty, and refused", async (body) => {
  const message = "The request body is empty; it must be JSON.";
  expect(await post(body)).toEqual({ ok: false, failure: { kind: "body_invalid", message, empty: true } });
});

test("brackets inside strings do not nest", async () => {
  const text = JSON.stringify(`"\\${"[{".repeat(bodyDepthMax)}`);
  expect(await post(text)).toMatchObject({ ok: true, value: { text } });
});
