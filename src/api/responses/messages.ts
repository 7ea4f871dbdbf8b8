import type { Failure } from "../../generation/failure.ts";
import type { Call, Content, Message } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { emptyInput } from "../empty-input.ts";
import { type InputText, type Item, type OutputMessage, type Reasoning, unsealReasoning } from "./items.ts";

/**
 * A conversation's items → messages, as the other shapes have them: what the model thought, said and called in one turn is one
 * message. `instructions` come first, and belong to this request alone.
 */
export function messagesOf(
  items: readonly Item[],
  instructions: string | undefined,
): Result<readonly Message[], Failure> {
  const messages: Message[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const callIds = new Set<string>();
  let turn: Turn | undefined;
  const endTurn = () => {
    if (turn !== undefined) messages.push(assistantMessage(turn));
    turn = undefined;
  };
  for (const item of items) {
    switch (item.type) {
      case "message":
        if (item.role === "assistant") {
          if (turn !== undefined && (turn.content !== undefined || turn.calls.length > 0)) endTurn();
          turn = { content: saidText(item), reasoning: turn?.reasoning, calls: [] };
          break;
        }
        endTurn();
        messages.push({ role: item.role === "user" ? "user" : "system", content: contentOf(item.content) });
        break;
      case "reasoning":
        endTurn();
        turn = { content: undefined, reasoning: thoughtOf(item), calls: [] };
        break;
      case "function_call":
      case "custom_tool_call":
        turn ??= { content: undefined, reasoning: undefined, calls: [] };
        turn.calls.push(callOf(item));
        callIds.add(item.call_id);
        break;
      case "function_call_output":
      case "custom_tool_call_output": {
        endTurn();
        if (!callIds.has(item.call_id)) return fail(withoutCall(item));
        const name = "name" in item ? item.name : undefined;
        messages.push({ role: "tool", content: contentOf(item.output), callId: item.call_id, name });
        break;
      }
      default:
        return item satisfies never;
    }
  }
  endTurn();
  const empty = emptyInput(messages, "input");
  return empty === undefined ? ok(messages) : fail(empty);
}

type Turn = { content: string | undefined; reasoning: string | undefined; calls: Call[] };

/** Beside calls, saying nothing is no content at all. */
function assistantMessage({ content = "", reasoning, calls }: Turn): Message {
  return { role: "assistant", content: content === "" && calls.length > 0 ? undefined : content, reasoning, calls };
}

function callOf(item: Extract<Item, { type: "function_call" | "custom_tool_call" }>): Call {
  const { call_id: id, name } = item;
  return item.type === "function_call"
    ? { id, name, arguments: item.arguments }
    : { id, name, arguments: item.input, custom: true };
}

function withoutCall(item: Extract<Item, { type: "function_call_output" | "custom_tool_call_output" }>): Failure {
  const kind = item.type === "function_call_output" ? "function call" : "custom tool call";
  return {
    kind: "invalid",
    message: `No tool call found for ${kind} output with call_id ${item.call_id}.`,
    param: "input",
  };
}

function saidText({ content }: OutputMessage): string {
  return content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("");
}

/** The thought itself where it came along; else what stands for it. */
function thoughtOf({ content, summary, encrypted_content: sealed }: Reasoning): string | undefined {
  const text = (content ?? []).map((part) => part.text).join("\n");
  if (text !== "") return text;
  const unsealed = sealed === undefined ? undefined : unsealReasoning(sealed);
  if (unsealed !== undefined) return unsealed;
  return summary.length === 0 ? undefined : summary.map((part) => part.text).join("\n");
}

/** This shape has one text as a list of one part; templates would take it for something else than the string of other shapes. */
function contentOf(content: string | readonly InputText[]): Content {
  if (typeof content === "string") return content;
  const [only] = content;
  if (only !== undefined && content.length === 1) return only.text;
  return content.map(({ text }) => ({ type: "text", text }));
}
