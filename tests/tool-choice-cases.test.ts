import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { decodeMessages } from "../src/api/anthropic/decode.ts";
import { decodeChat } from "../src/api/openai/decode.ts";
import { decodeService } from "../src/api/service-fixture.ts";
import { grammarOf } from "../src/dialects/constrain.ts";
import { type Detection, detectDialect } from "../src/dialects/detect.ts";
import type { Request } from "../src/generation/request.ts";
import type { Result } from "../src/generation/result.ts";
import { renderText } from "../src/prompt/render.ts";
import { type ChatTemplate, chatTemplate, renderProbe } from "../src/prompt/template.ts";
import { shownTools } from "../src/prompt/tool-choice.ts";
import { type Chat, script, startChat } from "./fixtures/chat.ts";
import { tokenizer } from "./fixtures/dialect-cases.ts";
import { sharedData } from "./fixtures/shared.ts";
import { accepts, symbolsOf } from "./oracle/ir-acceptor.ts";

/**
 * The sixteen cases of mlxcel's tool_choice, under the names that its tests have, from the body of a request to the prompt and the grammar.
 * Two of them are inverted: formats that are only instructed there are forced here.
 */

let chat: Chat | undefined;
afterEach(async () => {
  await chat?.server.stop(0);
  chat = undefined;
});

const functionOf = (name: string) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
});
const tools = [functionOf("get_weather"), functionOf("get_time")];
const named = (name: string, type = "function") => ({ type, function: { name } });
const instruction =
  "You must call one or more of the available functions to answer the user's request. Do not answer directly without calling a function.";
const namedInstruction =
  "You must call the 'get_time' function to answer the user's request. Do not call any other function and do not answer directly.";
const user = { role: "user", content: "Hi" };

const chatml = must(
  chatTemplate(
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if tools %}{% for t in tools %}({{ t.function.name }}){% endfor %}{% endif %}",
    { bos: "", eos: "" },
  ),
);
const hermes =
  '{% for t in tools or [] %}{{ t }}{% endfor %}<tool_call>{"name": …}{% for m in messages %}{{ m.content }}{% endfor %}';

function requestOf(body: object): Request {
  const text = JSON.stringify({ messages: [user], tools, ...body });
  return must(decodeChat({ value: JSON.parse(text), text }, { id: "r", service: decodeService })).request;
}

function promptOf(body: object, template: ChatTemplate = chatml): string {
  return must(renderText({ template, dialect: detected(hermes).dialect }, requestOf(body), new Date(0)));
}

function detected(source: string): Detection {
  const template = must(chatTemplate(source, { bos: "", eos: "" }));
  return detectDialect((messages, tools) => renderProbe(template, { messages, tools }), source);
}

/** What the forced grammar of a template accepts, of these texts. */
function accepted(source: string, body: object, texts: readonly string[]): readonly string[] {
  const { ir, constraint } = must(grammarOf(requestOf(body), { ...detected(source), tokenizer, callsMax: 16 }));
  if (ir === undefined || constraint !== "enforced") throw new Error("not forced");
  return texts.filter((text) => accepts(ir, symbolsOf(text)));
}

const hermesCall = (name: string) => `<tool_call>\n{"name": "${name}", "arguments": {"city": "Paris"}}\n</tool_call>`;

test("effective_tools_narrows_to_named_function", () => {
  const shown = shownTools(requestOf({ tool_choice: named("get_time") }));
  expect(shown.map(({ name }) => name)).toEqual(["get_time"]);
  expect(promptOf({ tool_choice: named("get_time") })).toEndWith("(get_time)");
  expect(promptOf({ tool_choice: "required" })).toEndWith("(get_weather)(get_time)");
  expect(promptOf({ tool_choice: "none" })).toBe("[user]Hi");
});

test("tool_choice_instruction_appends_to_system_message", () => {
  const messages = [{ role: "system", content: "Be brief." }, user];
  expect(promptOf({ messages, tool_choice: "required" })).toStartWith(`[system]Be brief.\n\n${instruction}[user]Hi(`);
  const developer = [{ role: "developer", content: "Be brief." }, user];
  expect(promptOf({ messages: developer, tool_choice: "required" })).toContain(`Be brief.\n\n${instruction}[user]Hi`);
});

test("tool_choice_instruction_appends_to_last_text_user_message", () => {
  const messages = [user, { role: "assistant", content: "Yes?" }, { role: "user", content: "Time?" }];
  expect(promptOf({ messages, tool_choice: named("get_time") })).toBe(
    `[user]Hi[assistant]Yes?[user]Time?\n\n${namedInstruction}(get_time)`,
  );
});

test("tool_choice_instruction_inserts_system_when_no_system_and_no_text_user", () => {
  const messages = [{ role: "assistant", content: "Hm." }];
  expect(promptOf({ messages, tool_choice: "required" })).toStartWith(`[system]${instruction}[assistant]Hm.`);
});

test("named_tool_choice_changes_rendered_prompt_and_template_sig", () => {
  const prompts = ["auto", "required", named("get_time"), named("get_weather")].map((tool_choice) =>
    promptOf({ tool_choice }),
  );
  // Prefixes are looked up by what is rendered, so other prompts are other keys.
  expect(new Set(prompts).size).toBe(prompts.length);
});

describe("errors, before any work", () => {
  async function errorOf(body: object) {
    chat = startChat(() => script([["text", "never"]]));
    const response = await chat.post({ messages: [user], tools, ...body });
    expect(chat.requests).toEqual([]);
    return [response.status, JSON.parse(await response.text()).error];
  }
  const error = (message: string) => [400, expect.objectContaining({ type: "invalid_request_error", message })];

  test("tool_choice_required_without_tools_is_rejected", async () => {
    for (const none of [[], null]) {
      expect(await errorOf({ tools: none, tool_choice: "required" })).toEqual(
        error("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."),
      );
      await chat?.server.stop(0);
    }
  });

  test("tool_choice_unknown_function_is_rejected", async () => {
    expect(await errorOf({ tool_choice: named("get_wind") })).toEqual(
      error("Tool choice 'get_wind' not found in 'tools' parameter."),
    );
  });

  test("tool_choice_object_without_function_type_is_rejected", async () => {
    expect(await errorOf({ tool_choice: named("get_time", "tool") })).toEqual(
      error("Invalid value for 'tool_choice.type': expected 'function', 'custom' or 'allowed_tools'."),
    );
    await chat?.server.stop(0);
    expect(await errorOf({ tool_choice: { function: { name: "get_time" } } })).toEqual(
      error("Missing required parameter: 'tool_choice.type'."),
    );
    await chat?.server.stop(0);
    expect(await errorOf({ tool_choice: "sometimes" })).toEqual(
      error("Invalid value for 'tool_choice': expected 'none', 'auto', 'required' or an object."),
    );
  });
});

test("tool_choice_grammar_hermes_required_is_anyof_over_all_tools", () => {
  const calls = [hermesCall("get_weather"), hermesCall("get_time")];
  const others = [hermesCall("get_wind"), "Sure.", `Sure. ${calls[0]}`];
  expect(accepted(hermes, { tool_choice: "required" }, [...calls, ...others])).toEqual(calls);
});

test("tool_choice_grammar_named_pins_name_const", () => {
  const calls = [hermesCall("get_weather"), hermesCall("get_time")];
  expect(accepted(hermes, { tool_choice: named("get_time") }, calls)).toEqual([hermesCall("get_time")]);
});

const gemma4 = sharedData("chat-templates/google-gemma-4-31B-it.jinja");
const unknown = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}";
if (gemma4 === undefined) console.log("Gemma 4's own template is not read: it needs the shared data");

test("tool_choice_grammar_is_none_for_atem_and_gemma4: inverted, every format is forced", () => {
  for (const source of [unknown, ...(gemma4 === undefined ? [] : [readFileSync(gemma4, "utf8")])]) {
    // What is no call at all is refused, whatever the frame.
    expect(accepted(source, { tool_choice: "required" }, ["", "Sure.", '{"city": "Paris"}'])).toEqual([]);
  }
});

test.each([
  ["<tool_call>", hermes, "hermes"],
  ["[TOOL_CALLS]", "{% for m in messages %}{{ m.content }}{% endfor %}{# [TOOL_CALLS] #}", "mistral_nemo"],
  [
    "parameters",
    '<|start_header_id|>{% for m in messages %}{{ m.content }}{% endfor %}{# Environment: ipython, "parameters": #}',
    "llama3_json",
  ],
] as const)("forced_tool_call_format_detects_hermes_marker: %s", (_, source, name) => {
  expect(detected(source)).toMatchObject({ dialect: { name }, generic: false });
});

test("forced_tool_call_format_is_none_for_atem_template: inverted, it takes the generic frame", () => {
  expect(detected(unknown)).toMatchObject({ dialect: { name: "hermes" }, generic: true });
  expect(accepted(unknown, { tool_choice: "required" }, [hermesCall("get_time")])).toHaveLength(1);
});

test("lark_constraint_forces_hermes_wrapper", () => {
  const open = { type: "function", function: { name: "get_weather", parameters: { type: "object" } } };
  const text = '<tool_call>{"name":"get_weather","arguments":{}}</tool_call>';
  const forced = { tools: [open], tool_choice: "required" };
  const { ir } = must(grammarOf(requestOf(forced), { ...detected(hermes), tokenizer, callsMax: 16 }));
  if (ir === undefined) throw new Error("not forced");
  // It ends where it is complete and nowhere before. Token by token, over a real vocabulary: call-frames.test.ts.
  const ends = Array.from({ length: text.length + 1 }, (_, length) => text.slice(0, length)).filter((prefix) =>
    accepts(ir, symbolsOf(prefix)),
  );
  expect(ends).toEqual([text]);
});

test("anthropic_tool_choice_any_maps_to_required, anthropic_tool_choice_tool_maps_to_named", () => {
  const choiceOf = (tool_choice: object) => {
    const tool = { name: "get_time", input_schema: { type: "object" } };
    const text = JSON.stringify({ model: "m", max_tokens: 9, messages: [user], tools: [tool], tool_choice });
    return must(decodeMessages({ value: JSON.parse(text), text }, { id: "r", ...decodeService })).request.toolChoice;
  };
  expect(choiceOf({ type: "any" })).toEqual({ mode: "required" });
  expect(choiceOf({ type: "tool", name: "get_time" })).toEqual({ mode: "named", name: "get_time" });
});

function must<T, F>(result: Result<T, F>): T {
  if (result.ok) return result.value;
  throw new Error(JSON.stringify(result.failure));
}
