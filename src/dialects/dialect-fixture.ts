import { expect, test } from "bun:test";
import { accepts, type OutputSymbol, symbolsOf, tokenSymbol } from "../../tests/oracle/ir-acceptor.ts";
import type { Request, Tool, ToolChoice } from "../generation/request.ts";
import { requestWith } from "../generation/request-fixture.ts";
import type { Ir } from "../grammar/ir.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { grammarOf } from "./constrain.ts";
import type { Dialect } from "./dialect.ts";

/** Only what grammars ask for: the ids of special tokens. */
const special = ["<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<|other|>"];
export const tokenizer: Tokenizer = {
  encode: () => new Uint32Array(),
  decode: () => new Uint8Array(),
  idOf: (text) => (special.includes(text) ? special.indexOf(text) : undefined),
  vocabulary: { count: 0, bytes: new Uint8Array(), offsets: new Uint32Array(1), kinds: new Uint8Array() },
  bos: undefined,
  addBos: false,
  stopTokens: [7],
};

export function tool(name: string, parameters?: unknown): Tool {
  return {
    name,
    description: undefined,
    parameters: parameters === undefined ? undefined : JSON.stringify(parameters),
    strict: false,
    param: `tools[${name}]`,
    source: "{}",
  };
}

export const weather = tool("get_weather", {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
});
export const tools = [weather, tool("get"), tool("get_time"), tool("get_time_zone")];

export function request(overrides: Partial<Request>): Request {
  return requestWith({ tools, ...overrides });
}

export function irOf(dialect: Dialect, overrides: Partial<Request>): Ir {
  const built = grammarOf(request(overrides), { dialect, tokenizer, callsMax: 3 });
  if (!built.ok || built.value.ir === undefined) throw new Error(JSON.stringify(built));
  return built.value.ir;
}

/** Bytes of a text in which the special tokens of `tokens` stand as tokens. */
export function output(text: string, tokens: readonly string[] = []): OutputSymbol[] {
  const parts = text.split(/(<\/?tool_call>|\[TOOL_CALLS\]|<\|[a-z_]+\|>)/);
  return parts.flatMap((part) => (tokens.includes(part) ? [tokenSymbol(special.indexOf(part))] : symbolsOf(part)));
}

type Case = readonly [choice: ToolChoice | Partial<Request>, accepted: readonly string[], rejected: readonly string[]];

export function check(dialect: Dialect, cases: readonly Case[]): void {
  test.each(cases.map((item) => [JSON.stringify(item[0]), ...item] as const))("%s", (_, choice, accepted, rejected) => {
    const ir = irOf(dialect, "mode" in choice ? { toolChoice: choice } : choice);
    for (const tokens of [[], special]) {
      const found = [...accepted, ...rejected].filter((text) => accepts(ir, output(text, tokens)));
      expect(found).toEqual([...accepted]);
    }
  });
}
