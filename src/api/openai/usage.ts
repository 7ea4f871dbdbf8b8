import type { Usage } from "../../generation/event.ts";

/** Predictions are accepted and never used, so none of their tokens is. */
export function encodeUsage(usage: Usage) {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** llama.cpp's extension, under its names. */
export function encodeTimings(usage: Usage) {
  const { promptMs, completionMs, cachedTokens } = usage;
  const read = usage.promptTokens - cachedTokens;
  return {
    cache_n: cachedTokens,
    prompt_n: read,
    prompt_ms: promptMs,
    prompt_per_token_ms: ratio(promptMs, read),
    prompt_per_second: ratio(read * 1000, promptMs),
    predicted_n: usage.completionTokens,
    predicted_ms: completionMs,
    predicted_per_token_ms: ratio(completionMs, usage.completionTokens),
    predicted_per_second: ratio(usage.completionTokens * 1000, completionMs),
  };
}

function ratio(a: number, b: number): number {
  return b === 0 ? 0 : a / b;
}
