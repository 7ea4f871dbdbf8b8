import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { postBytewise } from "./fixtures/byte-socket.ts";
import { bytewise, splits, startChat } from "./fixtures/chat.ts";
import { anthropic } from "./fixtures/golden/anthropic.ts";
import { ollamaChats, ollamaTexts } from "./fixtures/golden/ollama.ts";
import { chats, completions } from "./fixtures/golden/openai.ts";
import { responses } from "./fixtures/golden/responses.ts";
import { type GoldenCase, type GoldenShape, kinds, type WireAnswer } from "./fixtures/golden/shape.ts";

/**
 * What stands on the wire in every shape, byte for byte: one file a case, with the answer and then the stream. What differs from run to run
 * is replaced by words. TENON_GOLDEN=write writes the files anew; what changed in them is then for a reviewer to see.
 */
const shapes = [chats, completions, responses, anthropic, ollamaChats, ollamaTexts];
const rows = shapes.flatMap((shape) =>
  Object.entries(shape.cases).map(([name, golden]) => [`${shape.name} ${name}`, shape, name, golden] as const),
);

const servers: ReturnType<typeof startChat>[] = [];
afterAll(() => Promise.all(servers.map(({ server }) => server.stop(0))));

function serve(shape: GoldenShape, script: GoldenCase["script"]): URL {
  const chat = startChat(() => script, shape.options);
  servers.push(chat);
  return chat.server.url;
}

async function post(url: URL, body: object): Promise<WireAnswer> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  return {
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    text: await response.text(),
  };
}

function transcriptOf(shape: GoldenShape, name: string): string {
  return readFileSync(join(import.meta.dir, "golden", shape.name, `${name}.txt`), "utf8");
}

test.each(shapes)("$name has a case of every kind, and no file without one", (shape) => {
  for (const kind of kinds) expect(Object.keys(shape.cases)).toContain(shape.cells[kind]);
  const files = readdirSync(join(import.meta.dir, "golden", shape.name));
  expect(files.toSorted()).toEqual(
    Object.keys(shape.cases)
      .map((name) => `${name}.txt`)
      .toSorted(),
  );
});

describe.each(rows)("%s", (_, shape, name, golden) => {
  const { path, script, body } = golden;
  const streamBody = { ...body, ...shape.stream };

  test("as it stands on the wire, and the vendor's document agrees", async () => {
    const url = new URL(path, serve(shape, script));
    const whole = await post(url, body);
    const stream = await post(url, streamBody);
    expect([...shape.faults(path, whole), ...shape.faults(path, stream)]).toEqual([]);
    const transcript = `${shape.normal(whole.text)}\n\n${shape.normal(stream.text)}`;
    if (process.env["TENON_GOLDEN"] === "write") {
      writeFileSync(join(import.meta.dir, "golden", shape.name, `${name}.txt`), transcript);
    }
    expect(transcript).toBe(transcriptOf(shape, name));
  });

  test("is the same where the request arrives byte by byte", async () => {
    const url = new URL(path, serve(shape, script));
    const answers = [];
    for (const asked of [body, streamBody]) answers.push(await postBytewise(url, JSON.stringify(asked)));
    expect(answers.map(shape.normal).join("\n\n")).toBe(transcriptOf(shape, name));
  });

  test("is the same however one piece of the engine's comes as two", async () => {
    const scripts = splits(script);
    const left = scripts.flatMap((each) => [each, each]);
    const chat = startChat(() => left.shift() ?? script, shape.options);
    servers.push(chat);
    const options = { url: chat.server.url, fetch };
    const read = async (how: "whole" | "streamed") =>
      shape[how](options, golden).then((answer) => tokenless(shape.normal(JSON.stringify(answer))), String);
    const told = { whole: new Set<string>(), streamed: new Set<string>() };
    for (const _ of scripts) {
      told.whole.add(await read("whole"));
      told.streamed.add(await read("streamed"));
    }
    expect(told.whole.size).toBeLessThanOrEqual(1);
    expect(told.streamed.size).toBeLessThanOrEqual(1);
  });

  const fails = name === "failure" || name === "refused";

  test(`the vendor's client reads ${fails ? "the error" : "the same from the stream"}, whatever the bytes come in`, async () => {
    for (const answer of [script, bytewise(script)]) {
      const url = serve(shape, answer);
      const read = async (how: "whole" | "streamed", fetch: typeof globalThis.fetch) =>
        JSON.parse(shape.normal(JSON.stringify(await shape[how]({ url, fetch }, golden))));
      if (fails) {
        const message = messageIn(shape.normal((await post(new URL(path, url), body)).text));
        await expect(read("whole", fetch)).rejects.toThrow(message);
        for (const wire of [fetch, bytewiseFetch]) await expect(read("streamed", wire)).rejects.toThrow(message);
        continue;
      }
      const whole = await read("whole", fetch);
      expect(await read("whole", bytewiseFetch)).toEqual(whole);
      for (const wire of [fetch, bytewiseFetch]) expect(await read("streamed", wire)).toEqual(whole);
    }
  });
});

/** A piece of a thought is counted as a token, which these are not. */
function tokenless(text: string): string {
  return text.replace(/"(reasoning|thinking)_tokens":\d+/g, '"$1_tokens":0');
}

/** The sentence of an error body in any shape. */
function messageIn(text: string): string {
  const { error }: { readonly error: string | { readonly message: string } } = JSON.parse(text);
  return typeof error === "string" ? error : error.message;
}

/** A fetch whose answers arrive one byte after the other. */
const bytewiseFetch: typeof fetch = Object.assign(
  async (...asked: Parameters<typeof fetch>) => {
    const response = await fetch(...asked);
    const bytes = (await response.bytes()).values();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = bytes.next();
        if (next.done === true) controller.close();
        else controller.enqueue(Uint8Array.of(next.value));
      },
    });
    return new Response(body, response);
  },
  { preconnect: fetch.preconnect },
);
