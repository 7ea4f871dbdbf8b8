import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sharedData } from "../../tests/fixtures/shared.ts";
import { hermes } from "../dialects/hermes.ts";
import type { Content, Message } from "../generation/request.ts";
import { requestWith } from "../generation/request-fixture.ts";
import { withoutLateSystem } from "./late-system.ts";
import { renderText } from "./render.ts";
import { chatTemplate } from "./template.ts";

const system = (content: Content): Message => ({ role: "system", content });
const user = (content: Content): Message => ({ role: "user", content });
const assistant: Message = { role: "assistant", content: "a", reasoning: undefined, calls: [] };
const result: Message = { role: "tool", content: "r", callId: "c", name: undefined };
const part = (text: string) => ({ type: "text", text }) as const;

test.each<[name: string, messages: readonly Message[], shown: readonly Message[]]>([
  ["nothing to do", [system("s"), user("u"), assistant], [system("s"), user("u"), assistant]],
  ["several at the start", [system("s"), system("t"), user("u")], [system("s\n\nt"), user("u")]],
  ["before a user's", [user("u"), assistant, system("s"), user("v")], [user("u"), assistant, user("s\n\nv")]],
  ["two before a user's", [assistant, system("s"), system("t"), user("v")], [assistant, user("s\n\nt\n\nv")]],
  ["at the end", [user("u"), system("s"), system("t")], [user("u\n\ns\n\nt")]],
  ["between a user's and an answer", [user("u"), system("s"), assistant], [user("u\n\ns"), assistant]],
  ["after a result", [result, system("s"), system("t"), assistant], [result, user("s\n\nt"), assistant]],
  [
    "parts",
    [assistant, system([part("s"), part("t")]), user("v")],
    [assistant, user([part("s"), part("t"), part("v")])],
  ],
])("%s", (_, messages, shown) => {
  expect(withoutLateSystem(messages)).toEqual(shown);
});

const folder = sharedData("chat-templates");
describe.skipIf(folder === undefined)("templates of real models lose no system message", () => {
  const files = folder === undefined ? [] : readdirSync(folder).filter((file) => file.endsWith(".jinja"));
  // This one wants variables that nobody gives, and renders nothing at all.
  test.each(files.filter((file) => !file.startsWith("fireworks-ai-llama-3-firefunction")))("%s", (file) => {
    const template = chatTemplate(readFileSync(join(folder ?? "", file), "utf8"), { bos: "<s>", eos: "</s>" });
    if (!template.ok) throw new Error(template.failure);
    const messages = [system("FIRST"), user("SECOND"), assistant, system("THIRD"), user("FOURTH"), system("FIFTH")];
    const rendered = renderText({ template: template.value, dialect: hermes }, requestWith({ messages }), new Date(0));
    if (!rendered.ok) throw new Error(JSON.stringify(rendered.failure));
    const words = ["FIRST", "SECOND", "THIRD", "FOURTH", "FIFTH"];
    // Some gather them all at the start, as their models learned it.
    expect(words.filter((word) => !rendered.value.includes(word))).toEqual([]);
  });
});
