import { defaultPolicy } from "./policy.ts";
import type { Request } from "./request.ts";

/** For tests: a request that asks for nothing in particular, with what a test is about laid over it. */
export function requestWith(overrides: Partial<Request>): Request {
  return {
    id: "r",
    model: undefined,
    messages: [],
    tools: [],
    toolChoice: { mode: "auto" },
    parallelCalls: true,
    answer: { kind: "text" },
    sampling: {
      temperature: 1,
      topK: 0,
      topP: 1,
      minP: 0,
      repeatPenalty: 1,
      frequencyPenalty: 0,
      presencePenalty: 0,
      seed: undefined,
      logitBias: [],
    },
    tokensMax: undefined,
    stop: [],
    logprobs: undefined,
    holdCalls: false,
    templateVariables: {},
    policy: defaultPolicy,
    ...overrides,
  };
}
