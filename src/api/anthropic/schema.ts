import { type Static, Type } from "@sinclair/typebox";
import { stopStringLengthMax, stopStringsMax, thinkingBudgetMin, toolsMax } from "../../limits.ts";
import { jsonSchema, oneOf, open, optional, tokensLimit } from "../fields.ts";
import { ownFields } from "../own-fields.ts";
import { samplingFields } from "../sampling-fields.ts";

export type CountBody = Static<typeof countBody>;

const content = Type.Union([Type.String(), Type.Array(Type.Unknown())], {
  description: "a string or an array of content blocks",
});
const { stream, top_p, top_k, min_p, repeat_penalty, repetition_penalty, frequency_penalty } = samplingFields;
const { presence_penalty, seed, logit_bias, sse_ping_interval } = samplingFields;
/** Not Anthropic's: what the other shapes have. */
const beyond = {
  min_p,
  repeat_penalty,
  repetition_penalty,
  frequency_penalty,
  presence_penalty,
  seed,
  logit_bias,
  sse_ping_interval,
};

/** What a request says before any token is generated: all that count_tokens reads. */
const promptFields = {
  model: optional(Type.String()),
  messages: Type.Array(Type.Unknown(), { minItems: 1 }),
  system: optional(content),
  tools: optional(Type.Array(Type.Unknown(), { maxItems: toolsMax })),
  tool_choice: optional(Type.Unknown()),
  thinking: optional(Type.Unknown()),
  output_config: optional(open({ effort: optional(Type.String({ minLength: 1 })), format: optional(Type.Unknown()) })),
  output_format: optional(Type.Unknown()),
  chat_template_kwargs: optional(Type.Record(Type.String(), Type.Unknown())),
  ...ownFields,
};

export const countBody = open(promptFields);

/**
 * The body of POST /v1/messages: types and ranges of every field that is read. What depends on a discriminator (a message's role, a
 * block's type, the forms of thinking and tool_choice) is checked by the schemas below, so that an error names the field at fault
 * and not a union.
 */
export const messagesBody = open({
  ...promptFields,
  max_tokens: tokensLimit,
  stop_sequences: optional(
    Type.Array(
      Type.String({
        minLength: 1,
        maxLength: stopStringLengthMax,
        description: `a string of 1 to ${stopStringLengthMax} characters`,
      }),
      { maxItems: stopStringsMax },
    ),
  ),
  temperature: optional(Type.Number({ minimum: 0, maximum: 1 })),
  stream,
  top_p,
  top_k,
  ...beyond,
});

/** Fields that change what the answer is, refused by name because they are not honoured. */
export const refusedFields: Readonly<Record<string, string>> = {
  container: "there is no code execution",
  mcp_servers: "the server calls no tools itself",
  compaction: "the server keeps no conversations",
};

/** Fields of the protocol that are accepted and change nothing. */
export const acceptedFields: readonly string[] = [
  "betas",
  "billing_policy",
  "cache_control",
  "context_management",
  "diagnostics",
  "fallback_credit_token",
  "fallbacks",
  "inference_geo",
  "metadata",
  "service_tier",
  "speed",
];

export const messageBody = open({ role: Type.String(), content });

export const block = open({ type: Type.String() });
export const textBlock = open({ text: Type.String() });
export const thinkingBlock = open({ thinking: Type.String(), signature: optional(Type.String()) });
export const toolUseBlock = open({
  id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  input: Type.Optional(Type.Unknown()),
});
export const toolResultBlock = open({
  tool_use_id: Type.String({ minLength: 1 }),
  content: optional(content),
  is_error: optional(Type.Boolean()),
});
export const toolReferenceBlock = open({ tool_name: Type.String() });

export const toolBody = open({ type: optional(Type.String()) });
export const customTool = open({
  name: Type.String({
    pattern: "^[a-zA-Z0-9_-]{1,128}$",
    description: "a name of 1 to 128 letters, digits, '_' and '-'",
  }),
  description: optional(Type.String()),
  input_schema: optional(open({})),
  strict: optional(Type.Boolean()),
  defer_loading: optional(Type.Boolean()),
});

export const toolChoice = open({ type: Type.String(), disable_parallel_tool_use: optional(Type.Boolean()) });
export const namedToolChoice = open({ name: Type.String({ minLength: 1, description: "a non-empty string" }) });

export const thinking = open({ type: Type.String() });
const display = optional(oneOf(["summarized", "omitted"]));
export const adaptiveThinking = open({ display });
export const enabledThinking = open({ display, budget_tokens: Type.Integer({ minimum: thinkingBudgetMin }) });

export const outputFormat = open({
  type: Type.Literal("json_schema", { description: "'json_schema'" }),
  schema: jsonSchema,
});
