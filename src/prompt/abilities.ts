import type { Result } from "../generation/result.ts";
import type { Conversation } from "./template.ts";
import type { TemplateValue } from "./values.ts";

/** What a template can show, found by rendering: templates say neither what they take nor what they drop. */
export type Abilities = {
  /** System messages. */
  readonly system: boolean;
  /** System messages later in a conversation, beside the one at its start. */
  readonly lateSystem: boolean;
  /** Content as a list of parts. */
  readonly parts: boolean;
  /** Descriptions of tools. */
  readonly tools: boolean;
  /** Tools without a description or parameters. */
  readonly bareTools: boolean;
  /** Calls in the history, and how it wants their arguments. */
  readonly calls: "object" | "text" | "none";
  /** Several calls of one message. */
  readonly manyCalls: boolean;
  /** A thought beside a text and a call; Harmony's raises on it. */
  readonly thoughts: boolean;
  /** Results of tools. */
  readonly results: boolean;
  /** Ids of calls have to be nine letters and digits. */
  readonly shortIds: boolean;
};

/** Each is found out when it is asked for first: most requests need one or two. */
export function abilitiesOf(run: (conversation: Conversation, now: Date) => Result<string, string>): Abilities {
  const render = (messages: readonly TemplateValue[], tools: readonly TemplateValue[]): string => {
    const rendered = run({ messages, tools, addGenerationPrompt: true }, new Date(0));
    return rendered.ok ? rendered.value : "";
  };
  const withCalls = (calls: readonly ReturnType<typeof call>[], content: string, thinking?: string): string => {
    const results = calls.map(({ id }) => ({ ...result, tool_call_id: id }));
    return render([user, { role: "assistant", content, thinking, tool_calls: calls }, ...results], [tool]);
  };
  const showsCalls = (calls: readonly ReturnType<typeof call>[], ...expected: string[]): boolean => {
    const text = withCalls(calls, "");
    return expected.every((part) => text.includes(part));
  };
  const system = once(() => {
    const text = render([{ role: "system", content: "probe_system" }, user], []);
    return text.includes("probe_system") && text.includes(user.content);
  });
  const lateSystem = once(() => {
    const first = { role: "system", content: "probe_system" };
    const late = { role: "system", content: "probe_late" };
    const text = render([first, user, { role: "assistant", content: "probe_answer" }, late, user], []);
    return text.includes("probe_system") && text.includes("probe_late");
  });
  const parts = once(() => {
    const plain = render([user], []);
    return plain !== "" && render([{ ...user, content: [{ type: "text", text: user.content }] }], []) === plain;
  });
  const tools = once(() => render([user], [tool]).includes(tool.function.name));
  const bareTools = once(() => {
    const bare = { type: "function", function: { name: tool.function.name } };
    return render([user], [bare]).includes(tool.function.name);
  });
  const calls = once((): Abilities["calls"] => {
    if (showsCalls([call("probe0001", first)], "probe_value")) return "object";
    return showsCalls([call("probe0001", JSON.stringify(first))], "probe_value") ? "text" : "none";
  });
  const given = (value: typeof first) => (calls() === "text" ? JSON.stringify(value) : value);
  const manyCalls = once(() =>
    showsCalls([call("probe0001", given(first)), call("probe0002", given(second))], "probe_value", "second_value"),
  );
  const thoughts = once(() => withCalls([call("probe0001", given(first))], "probe_text", "probe_thought") !== "");
  const results = once(() => {
    if (calls() !== "none") return showsCalls([call("probe0001", given(first))], "probe_result");
    return render([user, { role: "assistant", content: "probe_answer" }, result], [tool]).includes("probe_result");
  });
  const shortIds = once(
    () => calls() !== "none" && !showsCalls([call("call_probe000000000000001", given(first))], "probe_value"),
  );
  return {
    get system() {
      return system();
    },
    get lateSystem() {
      return lateSystem();
    },
    get parts() {
      return parts();
    },
    get tools() {
      return tools();
    },
    get bareTools() {
      return bareTools();
    },
    get calls() {
      return calls();
    },
    get manyCalls() {
      return manyCalls();
    },
    get thoughts() {
      return thoughts();
    },
    get results() {
      return results();
    },
    get shortIds() {
      return shortIds();
    },
  };
}

function once<T>(find: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}

const first = { probe: "probe_value" };
const second = { probe: "second_value" };
const user = { role: "user", content: "probe_user" };
const result = { role: "tool", tool_call_id: "probe0001", name: "probe_tool", content: "probe_result" };
const tool = {
  type: "function",
  function: {
    name: "probe_tool",
    description: "probe_description",
    parameters: {
      type: "object",
      properties: { probe: { type: "string", description: "probe" } },
      required: ["probe"],
    },
  },
};

function call(id: string, given: TemplateValue) {
  return { id, type: "function", function: { name: tool.function.name, arguments: given } };
}
