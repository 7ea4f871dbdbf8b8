import type { Status } from "../generation/status.ts";
import { single } from "./prometheus.ts";

/** The engine's counts: llama-server's names first, for dashboards made for it, then what only we have. */
export function engineMetrics({ slots, running, queued, queueMax, grammars, cacheBytes, totals }: Status): string {
  const promptTokens = totals.promptTokens - totals.cachedTokens;
  const promptS = totals.promptMs / 1000;
  const completionS = totals.completionMs / 1000;
  const perSecond = (tokens: number, seconds: number) => (seconds > 0 ? tokens / seconds : 0);
  return [
    single("llamacpp:prompt_tokens_total", "counter", "Prompt tokens processed, cached ones left out.", promptTokens),
    single("llamacpp:prompt_seconds_total", "counter", "Time spent on prompts.", promptS),
    single("llamacpp:tokens_predicted_total", "counter", "Tokens generated.", totals.completionTokens),
    single("llamacpp:tokens_predicted_seconds_total", "counter", "Time spent on generating.", completionS),
    single("llamacpp:prompt_tokens_seconds", "gauge", "Prompt tokens a second.", perSecond(promptTokens, promptS)),
    single(
      "llamacpp:predicted_tokens_seconds",
      "gauge",
      "Generated tokens a second.",
      perSecond(totals.completionTokens, completionS),
    ),
    single("llamacpp:requests_processing", "gauge", "Requests that run.", running),
    single("llamacpp:requests_deferred", "gauge", "Requests that wait for a slot.", queued),
    single("tenon_slots", "gauge", "Requests that can run at once.", slots),
    single("tenon_queue_max", "gauge", "Requests that may wait.", queueMax),
    single("tenon_grammars", "gauge", "Compiled grammars alive.", grammars),
    single("tenon_cache_bytes", "gauge", "Bytes of KV cache in use.", cacheBytes),
    single("tenon_prompt_cached_tokens_total", "counter", "Prompt tokens found in the cache.", totals.cachedTokens),
    single("tenon_calls_total", "counter", "Tool calls generated.", totals.calls),
    single("tenon_embeddings_total", "counter", "Texts embedded.", totals.embeddings),
    single("tenon_answers_finished_total", "counter", "Answers that ended by themselves.", totals.finished),
    single("tenon_answers_failed_total", "counter", "Answers that failed.", totals.failed),
    single("tenon_answers_cancelled_total", "counter", "Answers whose client went away.", totals.cancelled),
  ].join("");
}

/** What a supervisor wants to know of the process. */
export function processMetrics(): string {
  return [
    single("process_resident_memory_bytes", "gauge", "Resident memory.", process.memoryUsage.rss()),
    single(
      "process_start_time_seconds",
      "gauge",
      "Start, in seconds since 1970.",
      Math.floor(performance.timeOrigin / 1000),
    ),
  ].join("");
}
