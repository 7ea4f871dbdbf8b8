import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { script, startChat } from "./fixtures/chat.ts";

/** Every fixed message in the table of docs/tools.md is one that is really given. */

const chat = startChat(() => script([["text", "Hm."]]));
afterAll(() => chat.server.stop(0));
const manual = await Bun.file(join(import.meta.dir, "../docs/tools.md")).text();

const messages = [{ role: "user", content: "Hi" }];
const tool = (name: string) => ({ type: "function", function: { name } });
const tools = [tool("g")];
const json_schema = { schema: {} };

const refused: readonly (readonly [body: object, param: string])[] = [
  [{ tools: [], tool_choice: "required" }, "tool_choice"],
  [{ tools, tool_choice: tool("f") }, "tool_choice"],
  [{ tools, tool_choice: "sometimes" }, "tool_choice"],
  [{ tools, tool_choice: { type: "tool" } }, "tool_choice"],
  [{ tools, tool_choice: "required", response_format: { type: "json_schema", json_schema } }, "tool_choice"],
  [{ tools: [tool("f"), tool("f")] }, "tools[1].function.parameters"],
  [{ tools: [tool("a b")] }, "tools[0].function.name"],
  [{ tools: Array.from({ length: 1025 }, (_, index) => tool(`f${index}`)) }, "tools"],
  [{ tools: [{ type: "web_search" }] }, "tools[0].type"],
  [{ tools, functions: [] }, "functions"],
  [{ messages: [...messages, { role: "tool", tool_call_id: "a", content: "x" }] }, "messages[1].tool_call_id"],
];

test.each(refused)("%j", async (body, param) => {
  const response = await chat.post({ messages, ...body });
  const { error } = JSON.parse(await response.text());
  expect([response.status, error.type, error.param]).toEqual([400, "invalid_request_error", param]);
  expect(manual).toContain(`| \`${error.message}\` |`);
});
