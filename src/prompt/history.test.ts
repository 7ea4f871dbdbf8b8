import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hermes } from "../dialects/hermes.ts";
import type { Message } from "../generation/request.ts";
import { templateMessages } from "./history.ts";
import { type ChatTemplate, chatTemplate } from "./template.ts";

/**
 * What Python's Jinja2 wrote for an answer with calls, in every published template: the end of a conversation that ends with it.
 * The file has a section for each template and a line for each kind of answer, as Python's repr.
 */
const shared = process.env["TENON_SHARED"] ?? join(import.meta.dir, "../../../shared");
const rendersPath = join(shared, "reference", "tool-format-renders.txt");
const templatePath = (name: string) => join(shared, "data", "chat-templates", name);
if (!existsSync(rendersPath)) console.log(`skipped: no ${rendersPath}`);

const call = (id: string, name: string, given: object) => ({ id, name, arguments: JSON.stringify(given) });
const weather = { city: 'Par"is\n<b>é', days: 3, opts: { x: [1, 2.5], s: 'q"z' }, flag: true };
const time = call("abcdefgh1", "get_time", { tz: "UTC" });
const answers: Readonly<Record<string, Omit<Extract<Message, { role: "assistant" }>, "role">>> = {
  one: { content: undefined, reasoning: undefined, calls: [call("abcdefgh1", "get_weather", weather)] },
  two: {
    content: undefined,
    reasoning: undefined,
    calls: [call("abcdefgh1", "get_weather", { city: "Paris" }), call("abcdefgh2", "get_time", { tz: "UTC" })],
  },
  text: { content: "SOMETEXT", reasoning: undefined, calls: [time] },
  think: { content: "SOMETEXT", reasoning: "REASON", calls: [time] },
  noargs: { content: undefined, reasoning: undefined, calls: [call("abcdefgh1", "get_weather", {})] },
  plain: { content: "SOMETEXT", reasoning: undefined, calls: [] },
};
const tools = ["get_weather", "get_time"].map((name) => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object", properties: { city: { type: "string" } } } },
}));

/** Its calls were rendered with other ids. */
const withOtherIds = "upstage-Solar-Open-100B.jinja";

describe.skipIf(!existsSync(rendersPath))("answers of the history are written as in Python", () => {
  const sections = existsSync(rendersPath)
    ? readFileSync(rendersPath, "utf8")
        .split(/^##### /m)
        .slice(1)
    : [];
  for (const section of sections) {
    const [name = "", ...lines] = section.split("\n");
    if (!existsSync(templatePath(name)) || name === withOtherIds) continue;
    test(name, () => {
      const template = chatTemplate(readFileSync(templatePath(name), "utf8"), { bos: "<BOS>", eos: "<EOS>" });
      if (!template.ok) throw new Error(template.failure);
      for (const line of lines) {
        const [, kind = "", repr = ""] = /^ {2}(\w+) +argsObj: (.*)$/.exec(line) ?? [];
        const answer = answers[kind];
        if (answer === undefined || isWrittenOtherwise(template.value, answer.calls.length)) continue;
        const messages = templateMessages(
          [
            { role: "user", content: "Hi" },
            { role: "assistant", ...answer },
          ],
          template.value.abilities,
          hermes,
        );
        const rendered = template.value.run({ messages, tools, addGenerationPrompt: false }, new Date(0));
        if (!rendered.ok) throw new Error(rendered.failure);
        const expected = unrepr(repr);
        expect({ kind, end: rendered.value.slice(-expected.length) }).toEqual({ kind, end: expected });
      }
    });
  }
});

/** Calls that the template drops or takes one at a time only. */
function isWrittenOtherwise({ abilities }: ChatTemplate, calls: number): boolean {
  return (calls > 0 && abilities.calls === "none") || (calls > 1 && !abilities.manyCalls);
}

/** The text of a Python string literal. */
function unrepr(literal: string): string {
  const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
  return literal
    .slice(1, -1)
    .replace(/\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)/g, (_, code: string) =>
      code.length > 1 ? String.fromCodePoint(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
    );
}
