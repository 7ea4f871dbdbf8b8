import { defaultSampling, type Sampling } from "../../generation/sampling.ts";
import type { ResponseBody } from "./schema.ts";

/** What a response repeats of its request, as it came, with the defaults filled in. */
export type Echo = Readonly<Record<string, unknown>> & {
  readonly background: boolean;
  readonly store: boolean;
};

export function echoOf(asked: ResponseBody): Echo {
  const { user, text, reasoning } = asked;
  return {
    background: asked.background ?? false,
    instructions: asked.instructions ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    max_tool_calls: asked.max_tool_calls ?? null,
    metadata: asked.metadata ?? {},
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    previous_response_id: asked.previous_response_id ?? null,
    frequency_penalty: asked.frequency_penalty ?? defaultSampling.frequencyPenalty,
    presence_penalty: asked.presence_penalty ?? defaultSampling.presencePenalty,
    prompt_cache_key: asked.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...reasoning },
    safety_identifier: asked.safety_identifier ?? null,
    service_tier: "default",
    store: asked.store ?? true,
    temperature: asked.temperature ?? defaultSampling.temperature,
    text: { ...text, format: echoFormat(text?.format ?? { type: "text" }) },
    tool_choice: asked.tool_choice ?? "auto",
    tools: (asked.tools ?? []).map(echoTool),
    top_logprobs: asked.top_logprobs ?? 0,
    top_p: asked.top_p ?? defaultSampling.topP,
    truncation: asked.truncation ?? "disabled",
    ...(typeof user === "string" ? { user } : {}),
  };
}

/** How the tokens are chosen where it is the model that says so. */
export function echoSampling({ frequencyPenalty, presencePenalty, temperature, topP }: Sampling) {
  return {
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty,
    temperature,
    top_p: topP,
  };
}

/** A schema has a name, whoever asked. */
function echoFormat(format: unknown): unknown {
  return isObject(format) && format["type"] === "json_schema" ? { name: "response", ...format } : format;
}

/** The protocol's resource of a function has fields that requests may leave out. */
function echoTool(tool: unknown): unknown {
  if (!isObject(tool) || tool["type"] !== "function") return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
