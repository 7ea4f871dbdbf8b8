import type { Failure } from "../generation/failure.ts";

/**
 * What is said to a content part that is no text, in the hosted API's words. `kinds` has the protocol's parts that no model here can take, by
 * their `type`; a map, since the type is the caller's text. `at` is the part's place in the body.
 */
export function unsupportedPart(type: string, kinds: ReadonlyMap<string, string>, at: string): Failure {
  const kind = kinds.get(type);
  const param = `${at}.type`;
  if (kind === undefined)
    return { kind: "invalid", message: "unsupported content[].type", param, code: "invalid_value" };
  return { kind: "invalid", message: `${kind} input is not supported`, param, code: "unsupported_value" };
}
