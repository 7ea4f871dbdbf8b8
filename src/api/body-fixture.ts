import type { JsonBody } from "./body.ts";

/** For tests: a body as it is read from the wire. */
export function bodyOf(value: object): JsonBody {
  const text = JSON.stringify(value);
  return { text, value: JSON.parse(text) };
}
