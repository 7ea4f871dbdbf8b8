import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { adaptiveThinking, enabledThinking, thinking } from "./schema.ts";
import type { Display } from "./signature.ts";

export type Thinking = {
  /** Undefined leaves it to the model's template. */
  readonly enabled: boolean | undefined;
  readonly display: Display;
  /** Of thoughts; undefined is no limit of their own. */
  readonly tokensMax: number | undefined;
};

export function decodeThinking(value: unknown, tokensMax: number | undefined): Result<Thinking, Failure> {
  if (value === undefined || value === null) return ok({ enabled: undefined, display: "shown", tokensMax: undefined });
  const checked = checkThinking(value, "thinking");
  if (!checked.ok) return checked;
  switch (checked.value.type) {
    case "disabled":
      return ok({ enabled: false, display: "shown", tokensMax: undefined });
    case "adaptive": {
      const adaptive = checkAdaptive(value, "thinking");
      if (!adaptive.ok) return adaptive;
      return ok({ enabled: true, display: displayOf(adaptive.value), tokensMax: undefined });
    }
    case "enabled": {
      const enabled = checkEnabled(value, "thinking");
      if (!enabled.ok) return enabled;
      const { budget_tokens } = enabled.value;
      if (tokensMax !== undefined && budget_tokens >= tokensMax) {
        return fail(invalid("thinking.budget_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`."));
      }
      return ok({ enabled: true, display: displayOf(enabled.value), tokensMax: budget_tokens });
    }
    default:
      return fail(
        invalid("thinking.type", "Invalid value for 'thinking.type': expected 'enabled', 'adaptive' or 'disabled'."),
      );
  }
}

const checkThinking = checker(thinking);
const checkAdaptive = checker(adaptiveThinking);
const checkEnabled = checker(enabledThinking);

function displayOf(fields: { readonly display?: "summarized" | "omitted" | null }): Display {
  return fields.display === "omitted" ? "omitted" : "shown";
}

function invalid(param: string, message: string): Failure {
  return { kind: "invalid", message, param, code: "invalid_value" };
}
