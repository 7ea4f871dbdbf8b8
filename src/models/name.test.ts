import { expect, test } from "bun:test";
import { canonicalName, type ModelName, parseModelName, resolveFile } from "./name.ts";

function parsed(text: string): ModelName {
  const name = parseModelName(text);
  if (!name.ok) throw new Error(JSON.stringify(name.failure));
  return name.value;
}

test.each([
  ["Mario", { path: [], name: "Mario", tag: "latest" }, "mario"],
  ["mario:v2", { path: [], name: "mario", tag: "v2" }, "mario:v2"],
  ["mario:LATEST", { path: [], name: "mario", tag: "LATEST" }, "mario"],
  [
    "hf.co/Own/Qwen3-GGUF:Q8_0",
    { path: ["hf.co", "Own"], name: "Qwen3-GGUF", tag: "Q8_0" },
    "hf.co/own/qwen3-gguf:q8_0",
  ],
])("%s", (text, name, canonical) => {
  expect(parsed(text)).toEqual(name);
  expect(canonicalName(parsed(text))).toBe(canonical);
});

test.each([
  "",
  ":v1",
  "a:",
  "a:b:c",
  "../a",
  "a/../b",
  "..",
  "a..b",
  "/a",
  "a//b",
  "a/b/c/d",
  "a\\b",
  "a b",
  "a\0",
  "%2e%2e/a",
  ".hidden",
  "a".repeat(200),
])("%j is no name", (text) => {
  expect(parseModelName(text)).toMatchObject({ ok: false, failure: { kind: "invalid", param: "model" } });
});

const ids = ["Qwen3-0.6B-Q4_K_M", "Qwen3-0.6B-Q8_0", "SmolLM2-135M-Instruct.Q4_1"];

test.each([
  ["smollm2-135m-instruct.q4_1", ids[2]],
  ["SmolLM2-135M-Instruct:Q4_1", ids[2]],
  ["smollm2", ids[2]],
  ["smollm2:135m", ids[2]],
  ["smollm2:latest", ids[2]],
  ["smoll", undefined],
  ["hf.co/unsloth/Qwen3-0.6B-GGUF:Q8_0", ids[1]],
  ["qwen3:0.6b-q8_0", ids[1]],
  // Both go on like it: the preferred one does, too.
  ["qwen3", ids[0]],
  ["qwen4", undefined],
] satisfies readonly (readonly [string, string | undefined])[])("%s means %s", (text, id) => {
  expect(resolveFile(parsed(text), ids, "Qwen3-0.6B-Q4_K_M")).toBe(id);
});

test("two files that go on alike are no answer", () => {
  expect(resolveFile(parsed("qwen3"), ids, "")).toBeUndefined();
});
