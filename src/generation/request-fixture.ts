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
    sampling: {},
    tokensMax: undefined,
    stop: undefined,
    logprobs: undefined,
    holdCalls: false,
    templateVariables: {},
    policy: defaultPolicy,
    ...overrides,
  };
}
