import { type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { Failure } from "../generation/failure.ts";

/** Clients send null for "not given". */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** An object whose further fields are somebody else's business. */
export function open<T extends TProperties>(fields: T): TObject<T> {
  return Type.Object(fields, { additionalProperties: true });
}

/** One of these strings. */
export function oneOf<const T extends readonly string[]>(values: T) {
  const literals = values.map((value: T[number]) => Type.Literal(value));
  return Type.Union(literals, { description: `one of ${values.map((value) => `'${value}'`).join(", ")}` });
}

/** How much a model shall think, where its template can tell it. */
export const reasoningEffort = oneOf(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

/** Fields of a body that its schema does not name and that are not among those accepted without effect. */
export function unreadFields(
  body: object,
  schema: { readonly properties: object },
  accepted: readonly string[] = [],
): readonly string[] {
  return Object.keys(body).filter((name) => !Object.hasOwn(schema.properties, name) && !accepted.includes(name));
}

/** What `--strict-fields` makes of them, in the words of the hosted API. */
export function strictFailure(unread: readonly string[]): Failure | undefined {
  const [param] = unread;
  if (param === undefined) return undefined;
  const message = `Unrecognized request argument${unread.length > 1 ? "s" : ""} supplied: ${unread.join(", ")}`;
  return { kind: "invalid", message, param, code: "unknown_parameter" };
}
