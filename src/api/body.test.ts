import { expect, test } from "bun:test";
import { bodyBytesMax, bodyDepthMax } from "../limits.ts";
import { readJson } from "./body.ts";

const post = (body: string | Uint8Array | ReadableStream | undefined) =>
  readJson(new Request("http://localhost/", { method: "POST", ...(body === undefined ? {} : { body }) }));

test("the value and the text it was read from, whatever the content type", async () => {
  expect(await post('\uFEFF{"2":1,"1":1.50}')).toEqual({
    ok: true,
    value: { value: { "1": 1.5, "2": 1 }, text: '{"2":1,"1":1.50}' },
  });
});

test.each([
  [undefined, "The request body is empty; it must be JSON."],
  [" \n", "The request body is empty; it must be JSON."],
  [Uint8Array.of(0x22, 0xff, 0x22), "The request body is not valid UTF-8."],
  ["[".repeat(bodyDepthMax + 1), `The request body is nested deeper than ${bodyDepthMax} levels.`],
  ["{,}", "The request body is not valid JSON. JSON Parse error: Expected '}'"],
])("%p is refused", async (body, message) => {
  expect(await post(body)).toEqual({ ok: false, failure: { kind: "body_invalid", message } });
});

test("brackets inside strings do not nest", async () => {
  const text = JSON.stringify(`"\\${"[{".repeat(bodyDepthMax)}`);
  expect(await post(text)).toMatchObject({ ok: true, value: { text } });
});

test("a body over the limit is refused, with and without a declared length", async () => {
  const tooLarge = { ok: false, failure: { kind: "body_too_large", bytesMax: bodyBytesMax } } as const;
  const piece = new Uint8Array(bodyBytesMax / 4).fill(0x20);
  const chunked = (count: number) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let sent = 0; sent < count; sent++) controller.enqueue(piece);
        controller.close();
      },
    });
  expect(await post(chunked(5))).toEqual(tooLarge);
  expect(await post(chunked(4))).toMatchObject({ ok: false, failure: { kind: "body_invalid" } });
  const headers = { "content-length": String(5 * piece.length) };
  const declared = new Request("http://localhost/", { method: "POST", body: chunked(5), headers });
  expect(await readJson(declared)).toEqual(tooLarge);
});
