import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { logitBiasMax, stopStringLengthMax, stopStringsMax, toolsMax } from "../../limits.ts";

/**
 * The body of POST /v1/chat/completions: types and ranges of every field that is read. Unknown fields pass and are reported back.
 * What depends on a discriminator (a message's role, a part's type, the form of tool_choice) is checked by the schemas below,
 * chosen by decode.ts, so that an error names the field at fault and not a union.
 */
export type ChatBody = Static<typeof chatBody>;

/** OpenAI's clients send null for "not given". */
function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** Objects whose further fields are somebody else's business. */
function open<T extends Record<string, TSchema>>(fields: T) {
  return Type.Object(fields, { additionalProperties: true });
}

const tokensLimit = Type.Integer({ minimum: 1, maximum: 0xffff_ffff });
const stopString = Type.String({
  minLength: 1,
  maxLength: stopStringLengthMax,
  description: `a string of 1 to ${stopStringLengthMax} characters`,
});

export const chatBody = open({
  model: optional(Type.String()),
  messages: Type.Array(Type.Unknown()),
  max_completion_tokens: optional(tokensLimit),
  max_tokens: optional(tokensLimit),
  n_predict: optional(tokensLimit),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: -1, maximum: 0x7fff_ffff })),
  min_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  repeat_penalty: optional(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
  repetition_penalty: optional(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
  frequency_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  seed: optional(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
  stop: optional(
    Type.Union([stopString, Type.Array(stopString, { maxItems: stopStringsMax })], {
      description: `a string or an array of up to ${stopStringsMax} strings, each of 1 to ${stopStringLengthMax} characters`,
    }),
  ),
  n: optional(Type.Integer({ minimum: 1, maximum: 8 })),
  logit_bias: optional(
    Type.Record(Type.String({ pattern: "^\\d+$" }), Type.Number({ minimum: -100, maximum: 100 }), {
      additionalProperties: false,
      maxProperties: logitBiasMax,
      description: `an object of at most ${logitBiasMax} token ids and biases from -100 to 100`,
    }),
  ),
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(Type.Integer()),
  stream: optional(Type.Boolean()),
  stream_options: optional(open({ include_usage: optional(Type.Boolean()) })),
  modalities: optional(Type.Array(Type.String())),
  response_format: optional(Type.Unknown()),
  tools: optional(Type.Array(Type.Unknown(), { maxItems: toolsMax })),
  tool_choice: optional(Type.Unknown()),
  parallel_tool_calls: optional(Type.Boolean()),
  reasoning_effort: optional(Type.String({ minLength: 1 })),
  enable_thinking: optional(Type.Boolean()),
  chat_template_kwargs: optional(Type.Record(Type.String(), Type.Unknown())),
  tenon_hold_calls: optional(Type.Boolean()),
  tenon_policy: optional(
    open({
      additional: optional(
        Type.Union([Type.Literal("closed"), Type.Literal("spec")], { description: "'closed' or 'spec'" }),
      ),
      order: optional(Type.Union([Type.Literal("any"), Type.Literal("schema")], { description: "'any' or 'schema'" })),
      whitespace: optional(
        Type.Union([Type.Literal("compact"), Type.Literal("flexible"), Type.Integer({ minimum: 0, maximum: 0xffff })], {
          description: "'compact', 'flexible' or a number of characters",
        }),
      ),
      format: optional(
        Type.Union([Type.Literal("assert"), Type.Literal("annotate")], { description: "'assert' or 'annotate'" }),
      ),
      spelling: optional(
        Type.Union([Type.Literal("canonical"), Type.Literal("spec")], { description: "'canonical' or 'spec'" }),
      ),
    }),
  ),
});

/** Fields that change what the answer is, refused by name because they are not honoured; the others of the protocol are harmless. */
export const refusedFields: Readonly<Record<string, string>> = {
  functions: "use 'tools'",
  function_call: "use 'tool_choice'",
  audio: "audio output is not supported",
  web_search_options: "web search is not supported",
  grammar: "grammars are not supported here; use 'response_format'",
  json_schema: "use 'response_format'",
  structured_outputs: "use 'response_format'",
  guided_json: "use 'response_format'",
  guided_regex: "regular expressions are not supported here",
  guided_choice: "use 'response_format' with an enum",
  guided_grammar: "grammars are not supported here; use 'response_format'",
  thinking_budget_tokens: "reasoning budgets are not supported",
  reasoning_budget_tokens: "reasoning budgets are not supported",
  tenon_tool_strict: "arguments of forced calls always fit their schema",
};

/** Fields of the protocol that are accepted and change nothing. */
export const acceptedFields: readonly string[] = [
  "user",
  "metadata",
  "store",
  "service_tier",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "verbosity",
  "prediction",
];

const content = Type.Union([Type.String(), Type.Array(Type.Unknown())], {
  description: "a string or an array of content parts",
});

export const messageBody = open({ role: Type.String() });
export const spokenMessage = open({ content });
export const assistantMessage = open({
  content: optional(content),
  reasoning_content: optional(Type.String()),
  reasoning: optional(Type.String()),
  tool_calls: optional(Type.Array(Type.Unknown())),
});
export const toolMessage = open({
  content,
  tool_call_id: Type.String({ minLength: 1 }),
  name: optional(Type.String()),
});

export const historyCall = open({
  id: Type.String(),
  type: optional(Type.Literal("function", { description: "'function'" })),
  function: open({ name: Type.String({ minLength: 1 }), arguments: Type.String() }),
});

export const contentPart = open({ type: Type.String() });
export const textPart = open({ text: Type.String() });
export const refusalPart = open({ refusal: Type.String() });

export const toolBody = open({ type: Type.String() });
export const functionTool = open({
  function: open({
    name: Type.String({
      pattern: "^[a-zA-Z0-9_-]{1,64}$",
      description: "a name of 1 to 64 letters, digits, '_' and '-'",
    }),
    description: optional(Type.String()),
    parameters: optional(open({})),
    strict: optional(Type.Boolean()),
  }),
});

export const toolChoiceObject = open({ type: Type.String() });
const functionReference = open({
  type: Type.Literal("function", { description: "'function'" }),
  function: open({ name: Type.String({ minLength: 1, description: "a non-empty string" }) }),
});
export const namedToolChoice = functionReference;
export const allowedToolChoice = open({
  allowed_tools: open({
    mode: Type.Union([Type.Literal("auto"), Type.Literal("required")], { description: "'auto' or 'required'" }),
    tools: Type.Array(functionReference, { minItems: 1 }),
  }),
});

export const responseFormat = open({ type: Type.String() });
export const jsonSchemaFormat = open({
  json_schema: open({
    name: optional(Type.String()),
    schema: Type.Union([open({}), Type.Boolean()], { description: "a JSON Schema" }),
    strict: optional(Type.Boolean()),
  }),
});
/** llama.cpp's spelling of a schema. */
export const jsonObjectFormat = open({
  schema: optional(Type.Union([open({}), Type.Boolean()], { description: "a JSON Schema" })),
});
