import type { ToolChoice } from "./request.ts";

/** Whether this choice leaves the model no answer without a call. */
export function isForced(choice: ToolChoice): boolean {
  return choice.mode === "required" || choice.mode === "named" || (choice.mode === "allowed" && choice.force);
}
