import { expect, test } from "bun:test";
import { ndjsonLine, ndjsonResponse } from "./ndjson.ts";

test("lines leave as they come, each with its end", async () => {
  async function* lines() {
    yield ndjsonLine({ text: "a\nb" });
    yield ndjsonLine({ done: true });
  }
  const response = ndjsonResponse(lines(), { headers: { "x-tenon-constraint": "none" }, onCancel: () => {} });
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  expect(response.headers.get("x-tenon-constraint")).toBe("none");
  expect(await response.text()).toBe('{"text":"a\\nb"}\n{"done":true}\n');
});

test("a client that leaves ends the lines", async () => {
  const gone = Promise.withResolvers<void>();
  let ended = false;
  async function* lines() {
    try {
      yield ndjsonLine(1);
      await gone.promise;
    } finally {
      ended = true;
    }
  }
  const response = ndjsonResponse(lines(), { headers: {}, onCancel: () => gone.resolve() });
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect(ended).toBe(true);
});
