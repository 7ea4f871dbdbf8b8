import { expect, test } from "bun:test";
import { contradictionOf } from "./contradiction.ts";
import type { Request, Tool } from "./request.ts";
import { requestWith } from "./request-fixture.ts";

const tool = (name: string): Tool => ({
  name,
  description: undefined,
  parameters: undefined,
  strict: false,
  param: `tools(${name})`,
  source: "{}",
});
const request = (overrides: Partial<Request>) => requestWith({ tools: [tool("weather"), tool("time")], ...overrides });

const required = { mode: "required" } as const;
const named = (name: string) => ({ mode: "named", name }) as const;
const allowed = (force: boolean, ...names: readonly string[]) => ({ mode: "allowed", force, names }) as const;
const json = { kind: "json_object" } as const;
const schema = { kind: "json_schema", schema: "{}", param: "" } as const;
const withoutTools = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
const unknown = "Tool choice 'x' not found in 'tools' parameter.";
const composed = (kind: string) =>
  `'tool_choice' forces a tool call and the answer's format asks for ${kind}: two constraints cannot be composed.`;

test.each<[overrides: Partial<Request>, message: string, param: string]>([
  [{ tools: [], toolChoice: required }, withoutTools, "tool_choice"],
  [{ tools: [], toolChoice: named("weather") }, withoutTools, "tool_choice"],
  [{ tools: [], toolChoice: allowed(true, "weather") }, withoutTools, "tool_choice"],
  [{ toolChoice: named("x") }, unknown, "tool_choice"],
  [{ toolChoice: allowed(false, "weather", "x") }, unknown, "tool_choice"],
  [{ toolChoice: required, answer: schema }, composed("json_schema"), "tool_choice"],
  [{ toolChoice: named("time"), answer: json }, composed("json_object"), "tool_choice"],
  [{ toolChoice: allowed(true, "time"), answer: json }, composed("json_object"), "tool_choice"],
  [
    { tools: [tool("weather"), tool("weather")] },
    "Tool names must be unique, but 'weather' is given more than once.",
    "tools(weather)",
  ],
  [{ tools: [tool("")] }, 'Invalid tool name "": no dialect can write it.', "tools()"],
  [{ tools: [tool('a"b')] }, 'Invalid tool name "a\\"b": no dialect can write it.', 'tools(a"b)'],
])("%j contradicts itself", (overrides, message, param) => {
  expect(contradictionOf(request(overrides))).toEqual({ kind: "invalid", message, param });
});

test.each<[overrides: Partial<Request>]>([
  [{}],
  [{ tools: [] }],
  [{ tools: [], toolChoice: { mode: "none" } }],
  [{ toolChoice: required }],
  [{ toolChoice: allowed(false, "time"), answer: schema }],
  [{ toolChoice: { mode: "none" }, answer: json }],
])("%j does not", (overrides) => {
  expect(contradictionOf(request(overrides))).toBeUndefined();
});
