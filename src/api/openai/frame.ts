import type { FinishReason } from "../../generation/event.ts";

/** What every chunk of one answer repeats. */
export type Frame = {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  /** Choices of one prompt; a prompt is counted once. */
  readonly choicesPerPrompt: number;
  readonly choices: number;
  readonly includeUsage: boolean;
};

export function head({ id, created, model }: Frame, object: string) {
  return { id, object, created, model, system_fingerprint: `fp_${Bun.hash(model).toString(16)}` };
}

/** `calls`: what an answer that ends with calls is said to end with. */
export function encodeFinish(reason: FinishReason, calls: "tool_calls" | "function_call"): string {
  switch (reason.kind) {
    case "stop":
    case "stop_string":
      return "stop";
    case "calls":
      return calls;
    case "length":
    case "context":
      return "length";
    default:
      return reason satisfies never;
  }
}
