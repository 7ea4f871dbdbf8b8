import { expect, test } from "bun:test";
import { ndjsonLine, ndjsonResponse } from "./ndjson.ts";
import { sseData, sseResponse } from "./sse.ts";

// Every character at which Python's str.splitlines() ends a line.
const lineEnds = ["\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"];
const said = { text: `a${lineEnds.join("b")}c` };

async function* one(frame: string) {
  yield frame;
}

test.each([
  ["events", sseResponse(one(sseData(said)), { pingMs: 1000, headers: {}, onCancel() {} }), "data: "],
  ["lines", ndjsonResponse(one(ndjsonLine(said)), { headers: {}, onCancel() {} }), ""],
])("what is said ends no line of a stream: %s", async (_, response, prefix) => {
  const [line = "", ...rest] = (await response.text()).split(new RegExp(lineEnds.join("|")));
  expect(rest.join("")).toBe("");
  expect(JSON.parse(line.slice(prefix.length))).toEqual(said);
});
