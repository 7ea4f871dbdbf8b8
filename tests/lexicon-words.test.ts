import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Chat, script, startChat } from "./fixtures/chat.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";

/** An answer that is held to a lexicon says in every shape which of its entries the words are. */

const lexicon = { words: ["naïve", "ice cream", "ice"], fold: true };
const words = [
  { text: "NAIVE", entry: "naïve" },
  { text: "ice cream", entry: "ice cream" },
  { text: "Ice", entry: "ice" },
];
const messages = [{ role: "user", content: "Hi" }];
const lines = (text: string) => text.split("\n").filter((line) => line.startsWith("{"));
const data = (text: string) => text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [line.slice(6)] : []));
const parsed = (text = "null") => JSON.parse(text);
/** Where each shape says it, without stream and with one. */
const shapes = [
  [
    "/v1/chat/completions",
    { messages },
    (text: string) => parsed(text).choices[0],
    (text: string) => parsed(data(text).at(-1)).choices[0],
  ],
  [
    "/v1/completions",
    { prompt: "Hi" },
    (text: string) => parsed(text).choices[0],
    (text: string) => parsed(data(text).at(-1)).choices[0],
  ],
  ["/v1/responses", { input: "Hi" }, parsed, (text: string) => parsed(data(text).at(-1)).response],
  ["/v1/messages", { messages, max_tokens: 50 }, parsed, (text: string) => parsed(data(text).at(-2)).delta],
  ["/api/chat", { messages }, parsed, (text: string) => parsed(lines(text).at(-1))],
  ["/api/generate", { prompt: "Hi" }, parsed, (text: string) => parsed(lines(text).at(-1))],
] as const;

let chat: Chat;
let said = "";
beforeAll(() => {
  chat = startChat(() => script([["text", said]], "complete"));
});
afterAll(() => chat.server.stop(0));

const post = async (url: URL, body: object) =>
  (await fetch(url, { method: "POST", body: JSON.stringify(body) })).text();

test.each(shapes)("%s", async (path, body, whole, last) => {
  const url = new URL(path, chat.server.url);
  said = "NAIVE, ice cream – Ice";
  const asked = { ...body, tenon_lexicon: lexicon };
  expect(whole(await post(url, { ...asked, stream: false }))).toMatchObject({ tenon_lexicon: words });
  expect(last(await post(url, { ...asked, stream: true }))).toMatchObject({ tenon_lexicon: words });
  // What is no output of it, as one that a stop string cut, and what is held to nothing have no entries.
  said = "NAIVE, ic";
  for (const held of [asked, body]) {
    for (const stream of [false, true]) expect(await post(url, { ...held, stream })).not.toContain("tenon_lexicon");
  }
});

const vocabulary = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");
if (vocabulary === undefined) console.warn("skipped: there is no default model");

describe.if(vocabulary !== undefined)("over the engine", () => {
  test("every answer under a folding lexicon consists of entries, and says which", async () => {
    const tenon = await startTenon(["--model", "noise", "--vocabulary", vocabulary ?? "", "--noise-shape", "flat"]);
    try {
      for (let seed = 0; seed < 20; seed++) {
        const body = { messages, tenon_lexicon: lexicon, seed, max_tokens: 30 };
        const { message, tenon_lexicon } = parsed(await post(new URL("/v1/chat/completions", tenon.server.url), body))
          .choices[0];
        const told: { readonly text: string; readonly entry: string }[] = tenon_lexicon;
        expect(told.every(({ entry }) => lexicon.words.includes(entry))).toBe(true);
        const between = told.reduce(
          (rest: string, { text }) => rest.slice(rest.indexOf(text) + text.length),
          message.content,
        );
        expect(between).not.toMatch(/\p{L}/u);
      }
    } finally {
      await tenon.stop(0);
    }
  });
});
