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

/** An object of options: a further field is one that nothing reads, and reported as such. */
export function options<T extends TProperties>(fields: T): TObject<T> {
  return Type.Object(fields, { additionalProperties: true, [areOptions]: true });
}

const areOptions = Symbol("unread fields are reported");

/** One of these strings, of which there are two or more. */
export function oneOf<const T extends readonly string[]>(values: T) {
  const literals = values.map((value: T[number]) => Type.Literal(value));
  const quoted = values.map((value) => `'${value}'`);
  return Type.Union(literals, { description: `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}` });
}

export const jsonSchema = Type.Union([open({}), Type.Boolean()], { description: "a JSON Schema" });

/** A limit of generated tokens. */
export const tokensLimit = Type.Integer({ minimum: 1, maximum: 0xffff_ffff });

/** How much a model shall think, where its template can tell it. */
export const reasoningEffort = oneOf(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);

export type BodySchema = { readonly properties: Readonly<Record<string, TSchema>> };

/**
 * Fields of a body that its schema does not name and that are not among those accepted without effect; those of its options as
 * `tenon_policy.name`.
 */
export function unreadFields(body: object, schema: BodySchema, accepted: readonly string[] = []): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    // Null asks for nothing, whatever it is called.
    if (value === null) return [];
    if (!Object.hasOwn(schema.properties, name)) return accepted.includes(name) ? [] : [name];
    const inner = optionsOf(schema.properties[name]);
    if (inner === undefined || typeof value !== "object" || value === null) return [];
    return unreadFields(value, inner).map((unread) => `${name}.${unread}`);
  });
}

/** The options among the forms that a field may have. */
function optionsOf(schema: TSchema | undefined): TObject | undefined {
  const forms = schema === undefined ? [] : [schema];
  for (let form = forms.pop(); form !== undefined; form = forms.pop()) {
    if (isOptions(form)) return form;
    forms.push(...(form["anyOf"] ?? []));
  }
  return undefined;
}

function isOptions(schema: TSchema): schema is TObject {
  return areOptions in schema;
}

/** What `--strict-fields` makes of them, in the words of the hosted API. */
export function strictFailure(unread: readonly string[]): Failure | undefined {
  const [param] = unread;
  if (param === undefined) return undefined;
  const message = `Unrecognized request argument${unread.length > 1 ? "s" : ""} supplied: ${unread.join(", ")}`;
  return { kind: "invalid", message, param, code: "unknown_parameter" };
}
