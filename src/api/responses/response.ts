import type { LexiconWords, Usage } from "../../generation/event.ts";
import { lexiconField } from "../lexicon-field.ts";
import type { Echo } from "./echo.ts";
import type { Item } from "./items.ts";

/** What every event of one response repeats, and how it is to be written. */
export type ResponseFrame = {
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** Seconds since 1970; asked once the last event is there. */
  readonly endedAt: () => number;
  readonly model: string;
  readonly echo: Echo;
  readonly logprobs: boolean;
  readonly reasoningAs: "content" | "summary";
  readonly sealReasoning: boolean;
};

/** How far a response is. */
export type ResponseState = {
  readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  readonly output: readonly Item[];
  readonly usage?: Usage;
  readonly words?: LexiconWords;
  readonly error?: { readonly code: "server_error"; readonly message: string };
};

/** The resource, as answers and events carry it. */
export function encodeResponse(frame: ResponseFrame, { status, output, usage, words, error }: ResponseState): object {
  return {
    id: frame.id,
    object: "response",
    created_at: frame.createdAt,
    status,
    completed_at: status === "completed" ? frame.endedAt() : null,
    error: error ?? null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    model: frame.model,
    output,
    usage: usage === undefined ? null : encodeUsage(usage),
    ...frame.echo,
    ...lexiconField(words),
  };
}

function encodeUsage(usage: Usage) {
  return {
    input_tokens: usage.promptTokens,
    // What is kept of a prompt is nobody's expense here.
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}
