import { type TProperties, Type } from "@sinclair/typebox";
import { modelsPageMax } from "../../limits.ts";
import { open, optional } from "../fields.ts";
import { describer, query, type RoomDocument } from "../operation.ts";
import {
  adaptiveThinking,
  countBody,
  customTool,
  enabledThinking,
  messagesBody,
  namedToolChoice,
  outputFormat,
  textBlock,
  thinkingBlock,
  toolChoice,
  toolResultBlock,
  toolUseBlock,
} from "./schema.ts";

const of = describer("Anthropic", "AnthropicError");

function typed(type: string, fields: TProperties) {
  return open({ type: Type.Literal(type), ...fields });
}

const texts = Type.Array(typed("text", textBlock.properties));
const block = Type.Union([
  typed("text", textBlock.properties),
  typed("thinking", thinkingBlock.properties),
  typed("tool_use", toolUseBlock.properties),
  typed("tool_result", { ...toolResultBlock.properties, content: optional(Type.Union([Type.String(), texts])) }),
]);
const choices = Type.Union([
  ...["auto", "any", "none"].map((type) => typed(type, { ...toolChoice.properties, type: Type.Literal(type) })),
  open({ ...toolChoice.properties, ...namedToolChoice.properties, type: Type.Literal("tool") }),
]);
const described = {
  messages: Type.Array(
    open({
      role: Type.Union([Type.Literal("user"), Type.Literal("assistant"), Type.Literal("system")]),
      content: Type.Union([Type.String(), Type.Array(block)]),
    }),
    { minItems: 1 },
  ),
  system: optional(Type.Union([Type.String(), texts])),
  tools: optional(Type.Array(open({ type: optional(Type.Literal("custom")), ...customTool.properties }))),
  tool_choice: optional(choices),
  thinking: optional(
    Type.Union([
      typed("disabled", {}),
      typed("adaptive", adaptiveThinking.properties),
      typed("enabled", enabledThinking.properties),
    ]),
  ),
  output_config: optional(open({ effort: optional(Type.String({ minLength: 1 })), format: optional(outputFormat) })),
  output_format: optional(outputFormat),
};

const count = Type.Integer({ minimum: 0 });
const nullable = (schema: Parameters<typeof optional>[0]) => Type.Union([schema, Type.Null()]);
const model = open({
  type: Type.Literal("model"),
  id: Type.String(),
  display_name: Type.String(),
  created_at: Type.String(),
});
const version = {
  name: "anthropic-version",
  in: "header",
  required: false,
  description: "Asks for Anthropic's shape on the paths that both vendors have",
  schema: Type.String(),
} as const;

/** Anthropic's routes, as /openapi.json has them. */
export const anthropicDocument: RoomDocument = {
  operations: {
    "POST /v1/messages": of({
      summary: "Answer a conversation",
      body: "MessagesRequest",
      answer: "Message",
      stream: { type: "text/event-stream", of: "MessageEvent" },
    }),
    "POST /v1/messages/count_tokens": of({
      summary: "Count the tokens of a conversation's prompt",
      body: "CountRequest",
      answer: "TokenCount",
    }),
    "GET /v1/models": of({
      summary: "List the loaded model",
      parameters: [
        version,
        // Without the header nothing reads it, so that anything will do.
        query("limit", `With anthropic-version: models of the page, from 1 to ${modelsPageMax}`),
        query("after_id", "With anthropic-version: the model before the page"),
        query("before_id", "With anthropic-version: the model after the page"),
      ],
      answer: "AnthropicModelList",
    }),
    "GET /v1/models/*": of({ summary: "One model", parameters: [version], answer: "AnthropicModel" }),
  },
  schemas: {
    MessagesRequest: open({ ...messagesBody.properties, ...described }),
    CountRequest: open({ ...countBody.properties, ...described }),
    Message: open({
      id: Type.String(),
      type: Type.Literal("message"),
      role: Type.Literal("assistant"),
      model: Type.String(),
      content: Type.Array(open({ type: Type.String() })),
      stop_reason: nullable(Type.String()),
      stop_sequence: nullable(Type.String()),
      usage: open({
        input_tokens: count,
        cache_creation_input_tokens: count,
        cache_read_input_tokens: count,
        output_tokens: count,
      }),
    }),
    MessageEvent: open({ type: Type.String() }),
    TokenCount: open({ input_tokens: count }),
    AnthropicModel: model,
    AnthropicModelList: open({
      data: Type.Array(model),
      has_more: Type.Boolean(),
      first_id: nullable(Type.String()),
      last_id: nullable(Type.String()),
    }),
    AnthropicError: open({
      type: Type.Literal("error"),
      error: open({ type: Type.String(), message: Type.String() }),
      request_id: Type.String(),
    }),
  },
};
