import type { Timings } from "../engine/engine.ts";
import type { EndEvent } from "../generate.ts";
import type { Totals } from "../generation/status.ts";

/** Sums over all answers since the start, by their last events, and over all embedded texts. */
export function countTotals(): {
  readonly ended: (event: EndEvent, calls: number) => void;
  readonly embedded: (timings: Timings) => void;
  now(): Totals;
} {
  let totals: Totals = {
    finished: 0,
    failed: 0,
    cancelled: 0,
    calls: 0,
    embeddings: 0,
    promptTokens: 0,
    cachedTokens: 0,
    completionTokens: 0,
    promptMs: 0,
    completionMs: 0,
  };
  return {
    ended(event, calls) {
      if (event.kind === "failure") {
        const how = event.failure.kind === "cancelled" ? "cancelled" : "failed";
        totals = { ...totals, calls: totals.calls + calls, [how]: totals[how] + 1 };
        return;
      }
      const { promptTokens, cachedTokens, completionTokens, promptMs, completionMs } = event.usage;
      totals = {
        ...totals,
        finished: totals.finished + 1,
        calls: totals.calls + calls,
        promptTokens: totals.promptTokens + promptTokens,
        cachedTokens: totals.cachedTokens + cachedTokens,
        completionTokens: totals.completionTokens + completionTokens,
        promptMs: totals.promptMs + promptMs,
        completionMs: totals.completionMs + completionMs,
      };
    },
    embedded({ promptTokens, promptMs }) {
      totals = {
        ...totals,
        embeddings: totals.embeddings + 1,
        promptTokens: totals.promptTokens + promptTokens,
        promptMs: totals.promptMs + promptMs,
      };
    },
    now: () => totals,
  };
}
