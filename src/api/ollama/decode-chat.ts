import type { Failure } from "../../generation/failure.ts";
import type { Request } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { emptyInput } from "../empty-input.ts";
import { sourceAt } from "../source.ts";
import { type Answering, type DecodeService, decodeAnswering } from "./decode-answering.ts";
import { decodeMessages } from "./decode-messages.ts";
import { decodeToolChoice, decodeTools } from "./decode-tools.ts";
import { listedName } from "./model-names.ts";
import { chatBody } from "./schema.ts";

export type Asked = Omit<Answering, "request"> & {
  /** As answers have it. */
  readonly model: string;
  /** Undefined asks for nothing but that the model be loaded. */
  readonly request: Request | undefined;
};

/** The body of POST /api/chat → the inner request. What contradicts itself is refused in generate(). */
export function decodeChat(body: JsonBody, id: string, service: DecodeService): Result<Asked, Failure> {
  const checked = checkChat(body.value);
  if (!checked.ok) return checked;
  const chat = checked.value;
  const model = service.chosen(chat.model ?? chat.name ?? undefined);
  if (!model.ok) return model;
  const answering = decodeAnswering(chat, body.text, { id, model: model.value, service, schema: chatBody });
  if (!answering.ok) return answering;
  const tools = decodeTools(chat.tools ?? [], chat.tools ? sourceAt(body.text, ["tools"]) : "[]");
  if (!tools.ok) return tools;
  const toolChoice = decodeToolChoice(chat.tool_choice);
  if (!toolChoice.ok) return toolChoice;
  const asked = { ...answering.value, model: listedName(model.value.id) };
  if (!chat.messages || chat.messages.length === 0) return ok({ ...asked, request: undefined });
  const messages = decodeMessages(chat.messages, sourceAt(body.text, ["messages"]));
  if (!messages.ok) return messages;
  const empty = emptyInput(messages.value, "messages");
  if (empty !== undefined) return fail(empty);
  return ok({
    ...asked,
    request: {
      ...answering.value.request,
      messages: messages.value,
      tools: tools.value,
      toolChoice: toolChoice.value,
      parallelCalls: chat.parallel_tool_calls ?? true,
    },
  });
}

const checkChat = checker(chatBody);
