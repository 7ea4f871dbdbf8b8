import { type Static, Type } from "@sinclair/typebox";
import {
  metadataKeyLengthMax,
  metadataPairsMax,
  metadataValueLengthMax,
  safetyIdentifierLengthMax,
  toolsMax,
  topLogprobsMax,
} from "../../limits.ts";
import { jsonSchema, oneOf, open, optional, reasoningEffort, tokensLimit } from "../fields.ts";
import { customFields, functionFields, grammarFields } from "../openai-tools.ts";
import { ownFields } from "../own-fields.ts";
import { samplingFields } from "../sampling-fields.ts";

/**
 * The body of POST /v1/responses: types and ranges of every field that is read. What depends on a discriminator (an item's type, a
 * part's, the form of tool_choice) is checked by the schemas below, chosen by the decoders, so that an error names the field at fault.
 */
export type ResponseBody = Static<typeof responseBody>;

/** How the next token is chosen, as in chats; the limit has another name here, and there is one answer. */
const { max_tokens: _limit, n_predict: _synonym, n: _choices, stream_options: _stream, ...sampling } = samplingFields;

/** What a response may include beyond the usual; most of it belongs to tools that the hosted API runs, and is never there. */
const includes = [
  "message.output_text.logprobs",
  "reasoning.encrypted_content",
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
] as const;
const summary = oneOf(["auto", "concise", "detailed"]);

export const responseBody = open({
  ...sampling,
  model: optional(Type.String()),
  input: optional(
    Type.Union([Type.String(), Type.Array(Type.Unknown())], { description: "a string or an array of items" }),
  ),
  instructions: optional(Type.String()),
  previous_response_id: optional(Type.String()),
  max_output_tokens: optional(tokensLimit),
  max_tool_calls: optional(Type.Integer({ minimum: 1 })),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: topLogprobsMax })),
  include: optional(Type.Array(oneOf(includes))),
  tools: optional(Type.Array(Type.Unknown(), { maxItems: toolsMax })),
  tool_choice: optional(Type.Unknown()),
  parallel_tool_calls: optional(Type.Boolean()),
  text: optional(open({ format: optional(Type.Unknown()), verbosity: optional(oneOf(["low", "medium", "high"])) })),
  reasoning: optional(
    open({
      effort: optional(reasoningEffort),
      summary: optional(summary),
      generate_summary: optional(summary),
    }),
  ),
  store: optional(Type.Boolean()),
  background: optional(Type.Boolean()),
  truncation: optional(oneOf(["auto", "disabled"])),
  metadata: optional(
    Type.Record(Type.String({ maxLength: metadataKeyLengthMax }), Type.String({ maxLength: metadataValueLengthMax }), {
      maxProperties: metadataPairsMax,
      description: `an object of at most ${metadataPairsMax} strings of up to ${metadataValueLengthMax} characters, under keys of up to ${metadataKeyLengthMax}`,
    }),
  ),
  user: optional(Type.String()),
  safety_identifier: optional(
    Type.String({
      maxLength: safetyIdentifierLengthMax,
      description: `a string of at most ${safetyIdentifierLengthMax} characters`,
    }),
  ),
  prompt_cache_key: optional(Type.String()),
  // Ours from here on: what the other shapes take as well.
  enable_thinking: optional(Type.Boolean()),
  chat_template_kwargs: optional(Type.Record(Type.String(), Type.Unknown())),
  ...ownFields,
});

/** Fields that change what the answer is, refused by name because they are not honoured; the others of the protocol are harmless. */
export const refusedFields: Readonly<Record<string, string>> = {
  conversation: "conversations are not kept here; use 'previous_response_id'",
  prompt: "there are no stored prompts; use 'input' and 'instructions'",
  context_management: "contexts are not compacted; 'truncation' may be 'auto'",
  moderation: "there is no moderation",
  messages: "use 'input'",
  max_tokens: "use 'max_output_tokens'",
  max_completion_tokens: "use 'max_output_tokens'",
  n: "each request makes one response",
  functions: "use 'tools'",
  function_call: "use 'tool_choice'",
  response_format: "use 'text.format'",
  grammar: "use a custom tool, or a chat completion",
  json_schema: "use 'text.format'",
  structured_outputs: "use 'text.format', or a chat completion",
  guided_json: "use 'text.format'",
  guided_regex: "use a custom tool, or a chat completion",
  guided_choice: "use 'text.format' with an enum",
  guided_grammar: "use a custom tool, or a chat completion",
};

/** Fields of the protocol that are accepted and change nothing. */
export const acceptedFields: readonly string[] = [
  "service_tier",
  "stream_options",
  "prompt_cache_retention",
  "prompt_cache_options",
];

// Items

export const itemBody = open({
  type: optional(Type.String()),
  id: optional(Type.String({ minLength: 1 })),
  role: optional(Type.String()),
});
export const messageItem = open({
  role: oneOf(["user", "assistant", "system", "developer"]),
  content: Type.Union([Type.String(), Type.Array(Type.Unknown())], {
    description: "a string or an array of content parts",
  }),
  phase: optional(Type.String()),
});
const callId = Type.String({ minLength: 1, description: "a non-empty string" });
const toolName = Type.String({ minLength: 1, description: "a non-empty string" });
export const functionCallItem = open({ call_id: callId, name: toolName, arguments: Type.String() });
export const customToolCallItem = open({ call_id: callId, name: toolName, input: Type.String() });
export const callOutputItem = open({
  call_id: callId,
  output: Type.Union([Type.String(), Type.Array(Type.Unknown())], {
    description: "a string or an array of content parts",
  }),
  name: optional(Type.String()),
});
const textParts = Type.Array(open({ text: Type.String() }));
export const reasoningItem = open({
  summary: optional(textParts),
  content: optional(textParts),
  encrypted_content: optional(Type.String()),
});
export const itemReference = open({ id: Type.String({ minLength: 1 }) });
export const contentPart = open({ type: Type.String() });
export const textPart = open({ text: Type.String() });
export const refusalPart = open({ refusal: Type.String() });

// Tools

export const toolBody = open({ type: Type.String() });
export const functionToolBody = open(functionFields);
export const customToolBody = open(customFields);
export const grammarFormat = open(grammarFields);

export const toolChoiceObject = open({ type: Type.String() });
export const toolReference = open({
  type: oneOf(["function", "custom"]),
  name: toolName,
});
export const allowedToolChoice = open({
  mode: oneOf(["auto", "required"]),
  tools: Type.Array(toolReference, { minItems: 1 }),
});

// text.format

export const textFormat = open({ type: Type.String() });
export const jsonSchemaFormat = open({
  name: optional(Type.String()),
  schema: jsonSchema,
  strict: optional(Type.Boolean()),
});
