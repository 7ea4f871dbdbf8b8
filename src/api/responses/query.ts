import type { Failure } from "../../generation/failure.ts";

/** What is said to a wrong parameter of a query. */
export function wrongQuery(param: string, expected: string): Failure {
  const message = `Invalid value for '${param}': expected ${expected}.`;
  return { kind: "invalid", message, param, code: "invalid_value" };
}
