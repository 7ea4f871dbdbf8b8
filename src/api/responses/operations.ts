import { type TProperties, Type } from "@sinclair/typebox";
import { inputItemsPageMax } from "../../limits.ts";
import { open, optional } from "../fields.ts";
import { describer, query, type RoomDocument } from "../operation.ts";
import {
  allowedToolChoice,
  callOutputItem,
  customToolBody,
  customToolCallItem,
  functionCallItem,
  functionToolBody,
  itemReference,
  jsonSchemaFormat,
  messageItem,
  reasoningItem,
  responseBody,
  textPart,
  toolReference,
} from "./schema.ts";

const of = describer("Responses", "OpenAIError");
const stream = { type: "text/event-stream", of: "ResponseEvent" } as const;

const operations = {
  "POST /v1/responses": of({ summary: "Make a response", body: "ResponseRequest", answer: "Response", stream }),
  "POST /v1/responses/input_tokens": of({
    summary: "Count the tokens of a response's prompt",
    body: "ResponseRequest",
    answer: "ResponseInputTokens",
  }),
  "POST /v1/responses/compact": of({ summary: "Refused: nothing compacts conversations here" }),
  "GET /v1/responses/:id": of({
    summary: "A kept response, or its events again",
    parameters: [
      query("stream", "Whether to send the events", Type.Union([Type.Literal("true"), Type.Literal("false")])),
      query("starting_after", "Number of the last event that is known", Type.Integer({ minimum: 0 })),
    ],
    answer: "Response",
    stream,
  }),
  "DELETE /v1/responses/:id": of({ summary: "Forget a response", answer: "ResponseDeletion" }),
  "POST /v1/responses/:id/cancel": of({ summary: "Stop a response in the background", answer: "Response" }),
  "GET /v1/responses/:id/input_items": of({
    summary: "A page of what a response was made from",
    parameters: [
      query("limit", "Items of the page", Type.Integer({ minimum: 1, maximum: inputItemsPageMax })),
      query("order", "Oldest or newest first", Type.Union([Type.Literal("asc"), Type.Literal("desc")])),
      query("after", "Id of the last item of the page before"),
    ],
    answer: "ResponseItemList",
  }),
} as const;

function typed(type: string, fields: TProperties) {
  return open({ type: Type.Literal(type), ...fields });
}

const parts = Type.Array(
  Type.Union(["input_text", "output_text", "text"].map((type) => typed(type, textPart.properties))),
);
const item = Type.Union([
  open({
    type: Type.Optional(Type.Literal("message")),
    ...messageItem.properties,
    content: Type.Union([Type.String(), parts]),
  }),
  typed("function_call", functionCallItem.properties),
  typed("function_call_output", { ...callOutputItem.properties, output: Type.Union([Type.String(), parts]) }),
  typed("custom_tool_call", customToolCallItem.properties),
  typed("custom_tool_call_output", { ...callOutputItem.properties, output: Type.Union([Type.String(), parts]) }),
  typed("reasoning", reasoningItem.properties),
  typed("item_reference", itemReference.properties),
]);
const format = Type.Union([
  typed("text", {}),
  typed("json_object", {}),
  typed("json_schema", jsonSchemaFormat.properties),
]);
const toolChoice = Type.Union([
  Type.Union([Type.Literal("none"), Type.Literal("auto"), Type.Literal("required")]),
  toolReference,
  typed("allowed_tools", allowedToolChoice.properties),
]);

const count = Type.Integer({ minimum: 0 });
const statuses = ["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"];
const nullable = (schema: Parameters<typeof optional>[0]) => Type.Union([schema, Type.Null()]);
const id = Type.String();

/** The routes of OpenAI's Responses, under `/v1` and without it, as /openapi.json has them. */
export const responsesDocument: RoomDocument = {
  operations: {
    ...operations,
    ...Object.fromEntries(
      Object.entries(operations).map(([route, operation]) => [route.replace("/v1", ""), operation]),
    ),
  },
  schemas: {
    ResponseRequest: open({
      ...responseBody.properties,
      input: Type.Union([Type.String(), Type.Array(item)]),
      tools: optional(
        Type.Array(
          Type.Union([typed("function", functionToolBody.properties), typed("custom", customToolBody.properties)]),
        ),
      ),
      tool_choice: optional(toolChoice),
      text: optional(open({ format: optional(format), verbosity: optional(Type.String()) })),
    }),
    Response: open({
      id,
      object: Type.Literal("response"),
      created_at: count,
      status: Type.Union(statuses.map((status) => Type.Literal(status))),
      completed_at: nullable(count),
      error: nullable(open({ code: Type.String(), message: Type.String() })),
      incomplete_details: nullable(open({ reason: Type.String() })),
      model: Type.String(),
      output: Type.Array(open({ id, type: Type.String() })),
      usage: nullable(
        open({
          input_tokens: count,
          input_tokens_details: open({ cached_tokens: count }),
          output_tokens: count,
          output_tokens_details: open({ reasoning_tokens: count }),
          total_tokens: count,
        }),
      ),
      store: Type.Boolean(),
      background: Type.Boolean(),
      parallel_tool_calls: Type.Boolean(),
      metadata: Type.Record(Type.String(), Type.String()),
    }),
    ResponseEvent: open({ type: Type.String(), sequence_number: count }),
    ResponseInputTokens: open({ object: Type.Literal("response.input_tokens"), input_tokens: count }),
    ResponseDeletion: open({ id, object: Type.String(), deleted: Type.Literal(true) }),
    ResponseItemList: open({
      object: Type.Literal("list"),
      data: Type.Array(open({ id, type: Type.String() })),
      first_id: nullable(id),
      last_id: nullable(id),
      has_more: Type.Boolean(),
    }),
  },
};
