import { type TProperties, Type } from "@sinclair/typebox";
import { open, optional } from "../fields.ts";
import { describer, type RoomDocument } from "../operation.ts";
import { jsonObjectFormat, jsonSchemaFormat } from "./constraint-fields.ts";
import { completionBody } from "./decode-completion.ts";
import { embeddingBody } from "./embeddings.ts";
import { detokenizeBody, tokenizeBody } from "./llama-server.ts";
import {
  allowedToolChoice,
  assistantMessage,
  callBody,
  chatBody,
  customCall,
  customToolBody,
  functionCall,
  functionMessage,
  functionToolBody,
  namedCustom,
  namedFunction,
  refusalPart,
  spokenMessage,
  textPart,
  toolMessage,
} from "./schema.ts";

const of = describer("OpenAI", "OpenAIError");

const chat = of({
  summary: "Answer a conversation",
  body: "ChatRequest",
  answer: "ChatCompletion",
  stream: { type: "text/event-stream", of: "ChatChunk" },
});
const models = of({ summary: "List the loaded model", answer: "ModelList" });

/** What chosen forms look like that the check of the body leaves to the decoder. */
function typed(type: string, fields: TProperties) {
  return open({ type: Type.Literal(type), ...fields });
}

function said(roles: readonly string[], fields: TProperties) {
  return open({ role: Type.Union(roles.map((role) => Type.Literal(role))), ...fields });
}

const parts = Type.Array(typed("text", textPart.properties));
const spoken = { ...spokenMessage.properties, content: Type.Union([Type.String(), parts]) };
const answered = Type.Array(Type.Union([typed("text", textPart.properties), typed("refusal", refusalPart.properties)]));
const calls = Type.Array(
  Type.Union([
    typed("function", { ...callBody.properties, type: Type.Literal("function"), ...functionCall.properties }),
    typed("custom", { ...callBody.properties, type: Type.Literal("custom"), ...customCall.properties }),
  ]),
);
const message = Type.Union([
  said(["system", "developer", "user"], spoken),
  said(["assistant"], {
    ...assistantMessage.properties,
    content: optional(Type.Union([Type.String(), answered])),
    tool_calls: optional(calls),
  }),
  said(["tool"], { ...toolMessage.properties, content: spoken.content }),
  said(["function"], { ...functionMessage.properties, content: spoken.content }),
]);
const tool = Type.Union([typed("function", functionToolBody.properties), typed("custom", customToolBody.properties)]);
const toolChoice = Type.Union([
  Type.Union([Type.Literal("none"), Type.Literal("auto"), Type.Literal("required")]),
  typed("function", namedFunction.properties),
  typed("custom", namedCustom.properties),
  typed("allowed_tools", allowedToolChoice.properties),
]);
const responseFormat = Type.Union([
  typed("text", {}),
  typed("json_object", jsonObjectFormat.properties),
  typed("json_schema", jsonSchemaFormat.properties),
]);

const count = Type.Integer({ minimum: 0 });
const usage = open({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: open({ cached_tokens: count }),
  completion_tokens_details: open({ reasoning_tokens: count }),
});
const head = (object: string) => ({
  id: Type.String(),
  object: Type.Literal(object),
  created: count,
  model: Type.String(),
  system_fingerprint: Type.String(),
});
const nullable = (schema: Parameters<typeof optional>[0]) => Type.Union([schema, Type.Null()]);
const finish = Type.Union(["stop", "length", "tool_calls", "function_call"].map((reason) => Type.Literal(reason)));
const logprobs = nullable(
  open({ content: Type.Array(open({ token: Type.String(), logprob: Type.Number(), bytes: Type.Array(count) })) }),
);

/** OpenAI's routes and llama-server's, as /openapi.json has them. */
export const openaiDocument: RoomDocument = {
  operations: {
    "POST /v1/chat/completions": chat,
    "POST /chat/completions": chat,
    "POST /v1/completions": of({
      summary: "Continue texts or tokens",
      body: "CompletionRequest",
      answer: "Completion",
      stream: { type: "text/event-stream", of: "Completion" },
    }),
    "POST /v1/embeddings": of({ summary: "Give texts vectors", body: "EmbeddingRequest", answer: "EmbeddingList" }),
    "POST /v1/chat/completions/input_tokens": of({
      summary: "Count the tokens of a conversation's prompt",
      body: "ChatRequest",
      answer: "InputTokens",
    }),
    "POST /tokenize": of({ summary: "Text → tokens", body: "TokenizeRequest", answer: "Tokens" }),
    "POST /detokenize": of({ summary: "Tokens → text", body: "DetokenizeRequest", answer: "Text" }),
    "POST /apply-template": of({
      summary: "A conversation as the model reads it",
      body: "ChatRequest",
      answer: "Prompt",
    }),
    "GET /props": of({ summary: "The model and its template, in llama-server's form", answer: "Props" }),
    "GET /slots": of({ summary: "What runs, in llama-server's form", answer: "Slots" }),
    "GET /v1/models": models,
    "GET /models": models,
    "GET /v1/models/*": of({ summary: "One model", answer: "Model" }),
  },
  schemas: {
    ChatRequest: open({
      ...chatBody.properties,
      messages: Type.Array(message),
      tools: optional(Type.Array(tool)),
      tool_choice: optional(toolChoice),
      response_format: optional(responseFormat),
    }),
    ChatCompletion: open({
      ...head("chat.completion"),
      choices: Type.Array(
        open({
          index: count,
          message: open({
            role: Type.Literal("assistant"),
            content: nullable(Type.String()),
            refusal: Type.Null(),
            tool_calls: Type.Optional(calls),
          }),
          logprobs,
          finish_reason: finish,
        }),
      ),
      usage,
    }),
    ChatChunk: open({
      ...head("chat.completion.chunk"),
      choices: Type.Array(open({ index: count, delta: open({}), logprobs, finish_reason: nullable(finish) })),
    }),
    CompletionRequest: completionBody,
    Completion: open({
      ...head("text_completion"),
      choices: Type.Array(
        open({ text: Type.String(), index: count, logprobs: nullable(open({})), finish_reason: nullable(finish) }),
      ),
      usage: optional(usage),
    }),
    EmbeddingRequest: embeddingBody,
    EmbeddingList: open({
      object: Type.Literal("list"),
      model: Type.String(),
      data: Type.Array(
        open({
          object: Type.Literal("embedding"),
          index: count,
          embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
        }),
      ),
      usage: open({ prompt_tokens: count, total_tokens: count }),
    }),
    InputTokens: open({ object: Type.Literal("response.input_tokens"), input_tokens: count }),
    TokenizeRequest: tokenizeBody,
    Tokens: open({
      tokens: Type.Array(
        Type.Union([count, open({ id: count, piece: Type.Union([Type.String(), Type.Array(count)]) })]),
      ),
    }),
    DetokenizeRequest: detokenizeBody,
    Text: open({ content: Type.String() }),
    Prompt: open({ prompt: Type.String() }),
    Props: open({ total_slots: count, model_alias: Type.String(), chat_template: Type.String() }),
    Slots: Type.Array(open({ id: count, n_ctx: count, is_processing: Type.Boolean() })),
    Model: open({
      id: Type.String(),
      object: Type.Literal("model"),
      created: count,
      owned_by: Type.String(),
      context_length: count,
    }),
    ModelList: open({
      object: Type.Literal("list"),
      data: Type.Array(Type.Unsafe({ $ref: "#/components/schemas/Model" })),
    }),
    OpenAIError: open({
      error: open({
        message: Type.String(),
        type: Type.String(),
        param: nullable(Type.String()),
        code: Type.Union([Type.String(), Type.Integer(), Type.Null()]),
      }),
    }),
  },
};
