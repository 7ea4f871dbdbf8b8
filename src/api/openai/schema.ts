import { type Static, Type } from "@sinclair/typebox";
import { toolsMax } from "../../limits.ts";
import { oneOf, open, optional, reasoningEffort } from "../fields.ts";
import { customFields, functionFields, grammarFields } from "../openai-tools.ts";
import { ownFields } from "../own-fields.ts";
import { samplingFields } from "../sampling-fields.ts";
import { constraintFields } from "./constraint-fields.ts";

const thoughtTokens = optional(Type.Integer({ minimum: -1, maximum: 0xffff_ffff }));

/**
 * The body of POST /v1/chat/completions: types and ranges of every field that is read. Unknown fields pass and are reported back.
 * What depends on a discriminator (a message's role, a part's type, the form of tool_choice) is checked by the schemas below,
 * chosen by decode.ts, so that an error names the field at fault and not a union.
 */
export const chatBody = open({
  ...samplingFields,
  ...constraintFields,
  ...ownFields,
  model: optional(Type.String()),
  messages: Type.Array(Type.Unknown()),
  max_completion_tokens: samplingFields.max_tokens,
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(Type.Integer()),
  modalities: optional(Type.Array(Type.String())),
  tools: optional(Type.Array(Type.Unknown(), { maxItems: toolsMax })),
  tool_choice: optional(Type.Unknown()),
  parallel_tool_calls: optional(Type.Boolean()),
  functions: optional(Type.Array(Type.Unknown(), { maxItems: toolsMax })),
  function_call: optional(Type.Unknown()),
  reasoning_effort: optional(reasoningEffort),
  enable_thinking: optional(Type.Boolean()),
  add_generation_prompt: optional(Type.Boolean()),
  thinking_budget_tokens: thoughtTokens,
  reasoning_budget_tokens: thoughtTokens,
  thinking_token_budget: thoughtTokens,
  thinking_budget: thoughtTokens,
  chat_template_kwargs: optional(Type.Record(Type.String(), Type.Unknown())),
});
export type ChatBody = Static<typeof chatBody>;

/** Fields that change what the answer is, refused by name because they are not honoured; the others of the protocol are harmless. */
export const refusedFields: Readonly<Record<string, string>> = {
  audio: "audio output is not supported",
  web_search_options: "web search is not supported",
  grammar_triggers: "a grammar holds from the first token on",
  guided_whitespace_pattern: "use 'tenon_policy.whitespace'",
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
  "guided_decoding_backend",
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
  refusal: optional(Type.String()),
  tool_calls: optional(Type.Array(Type.Unknown())),
  function_call: optional(open({ name: Type.String({ minLength: 1 }), arguments: Type.String() })),
});
export const toolMessage = open({
  content,
  tool_call_id: Type.String({ minLength: 1 }),
  name: optional(Type.String()),
});

/** A result in the form of before there were tools. */
export const functionMessage = open({ content, name: Type.String({ minLength: 1 }) });

export const callBody = open({ id: Type.String(), type: optional(Type.String()) });
export const functionCall = open({ function: open({ name: Type.String({ minLength: 1 }), arguments: Type.String() }) });
export const customCall = open({ custom: open({ name: Type.String({ minLength: 1 }), input: Type.String() }) });

export const contentPart = open({ type: Type.String() });
export const textPart = open({ text: Type.String() });
export const refusalPart = open({ refusal: Type.String() });

export const toolBody = open({ type: Type.String() });
/** Also one of the legacy `functions`. */
export const functionBody = open(functionFields);
export const functionToolBody = open({ function: functionBody });
export const customToolBody = open({ custom: open(customFields) });
export const grammarFormat = open({ grammar: open(grammarFields) });

const reference = open({ name: Type.String({ minLength: 1, description: "a non-empty string" }) });
export const toolChoiceObject = open({ type: Type.String() });
export const namedFunction = open({ function: reference });
export const namedCustom = open({ custom: reference });
export const allowedToolChoice = open({
  allowed_tools: open({
    mode: oneOf(["auto", "required"]),
    tools: Type.Array(Type.Unknown(), { minItems: 1 }),
  }),
});
/** Of the legacy `function_call`. */
export const namedLegacy = reference;
