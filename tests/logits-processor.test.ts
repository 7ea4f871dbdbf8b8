import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { modelPath, startTenon } from "./fixtures/running.ts";

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (vocabulary === undefined) console.log("skipped: logits processors are tested on the vocabulary of SmolLM2");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-processor-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the noise model with a processor, of which this is the body. */
async function startWith(body: string) {
  const path = join(folder, `${Bun.hash(body)}.ts`);
  await Bun.write(
    path,
    `export default (logits: Float32Array, mask: Uint32Array, tokens: Uint32Array): void => {\n${body}\n};\n`,
  );
  return startTenon(["-m", "noise", "--vocabulary", vocabulary ?? "", "--logits-processor", path]);
}

async function ask(tenon: Awaited<ReturnType<typeof startWith>>, fields: object) {
  const body = JSON.stringify({ messages: [{ role: "user", content: "Hi" }], temperature: 0, ...fields });
  const response = await fetch(new URL("/v1/chat/completions", tenon.server.url), { method: "POST", body });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

test.skipIf(vocabulary === undefined)("what a processor writes into the logits is what comes out", async () => {
  const tenon = await startWith("const last = logits.length - 1; logits.fill(-100); logits[last] = 100;");
  const { tokenizer } = tenon.loaded.model;
  const word = tokenizer.vocabulary.count - 1;
  const text = new TextDecoder().decode(tokenizer.decode([word, word, word], { special: false }));
  expect(text).not.toBe("");
  const { body } = await ask(tenon, { max_tokens: 3 });
  expect(body.choices[0]).toMatchObject({ message: { content: text }, finish_reason: "length" });
  await tenon.stop(0);
});

test.skipIf(vocabulary === undefined)(
  "it sees the prompt and what was written, and cannot allow what the grammar forbids",
  async () => {
    const tenon = await startWith("mask.fill(0xffffffff); logits[tokens.at(-1) ?? 0] = 1000;");
    const { body } = await ask(tenon, { max_tokens: 30, response_format: { type: "json_object" } });
    expect(JSON.parse(body.choices[0].message.content)).toBeObject();
    await tenon.stop(0);
  },
);

test.skipIf(vocabulary === undefined)("one that throws fails its request and no other", async () => {
  const tenon = await startWith('if (tokens.length > 40) throw new Error("no more");');
  const { status, body } = await ask(tenon, { max_tokens: 200 });
  expect([status, body]).toMatchObject([500, { error: { type: "server_error" } }]);
  expect(tenon.logged.map(([, event]) => event)).toContain("bug");
  expect(await ask(tenon, { max_tokens: 1 })).toMatchObject({ status: 200 });
  const { engine } = tenon.loaded.model;
  while (engine.stats().running > 0) await new Promise((resolve) => setImmediate(resolve));
  await tenon.stop(0);
});
