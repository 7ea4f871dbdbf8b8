import { type Static, Type } from "@sinclair/typebox";
import type { Failure } from "../generation/failure.ts";
import { policyWith, whitespaceCharactersMax } from "../generation/policy.ts";
import type { AnswerFormat, Request } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { lexiconWordLengthMax, lexiconWordsMax, schemaDocumentsMax } from "../limits.ts";
import { jsonSchema, oneOf, open, optional, options } from "./fields.ts";
import type { Service } from "./service.ts";
import { sourceAt, sourceMembers } from "./source.ts";

const format = oneOf(["json", "text"]);
const words = Type.Array(Type.String({ minLength: 1, maxLength: lexiconWordLengthMax }), {
  minItems: 1,
  maxItems: lexiconWordsMax,
});
const lexicon = Type.Union(
  [Type.Boolean(), words, options({ words: optional(words), fold: optional(Type.Boolean()) })],
  {
    description: "a boolean, a list of words, or an object with 'words' and 'fold'",
  },
);

/** Tenon's own fields, which every shape takes beside its own. The names llamay uses mean the same. */
export const ownFields = {
  tenon_schema: optional(jsonSchema),
  tenon_format: optional(format),
  tenon_lexicon: optional(lexicon),
  tenon_documents: optional(
    Type.Record(Type.String(), jsonSchema, {
      maxProperties: schemaDocumentsMax,
      description: `an object of at most ${schemaDocumentsMax} JSON Schemas by their URIs`,
    }),
  ),
  tenon_hold_calls: optional(Type.Boolean()),
  tenon_tool_strict: optional(oneOf(["off", "envelope", "schema"])),
  tenon_policy: optional(
    options({
      additional: optional(oneOf(["closed", "spec"])),
      order: optional(oneOf(["any", "schema"])),
      whitespace: optional(
        Type.Union(
          [
            Type.Literal("compact"),
            Type.Literal("flexible"),
            Type.Integer({ minimum: 0, maximum: whitespaceCharactersMax }),
          ],
          {
            description: "'compact', 'flexible' or a number of characters",
          },
        ),
      ),
      format: optional(oneOf(["assert", "annotate"])),
      spelling: optional(oneOf(["canonical", "spec"])),
      relax: optional(Type.Boolean()),
    }),
  ),
  llamay_schema: optional(jsonSchema),
  llamay_format: optional(format),
  llamay_lexicon: optional(lexicon),
};

const ownBody = open(ownFields);
export type OwnBody = Static<typeof ownBody>;

/** A format that a request asks for, and the caller's field that asks. */
export type NamedFormat = { readonly field: string; readonly format: AnswerFormat };

export type OwnFields = Pick<Request, "answer" | "documents" | "holdCalls" | "policy" | "toolStrict">;

/**
 * What the own fields ask for, with the answer's format that they or the shape's own fields (`named`) ask for: two of them are
 * refused by both names, since constraints are not composed. `text` is the body's.
 */
export function decodeOwnFields(
  body: OwnBody,
  text: string,
  service: Pick<Service, "holdCalls" | "lexicon">,
  named: readonly NamedFormat[],
): Result<OwnFields, Failure> {
  const formats = [...named];
  for (const field of ["tenon_schema", "llamay_schema"] as const) {
    if (body[field] === undefined || body[field] === null) continue;
    formats.push({ field, format: { kind: "json_schema", schema: sourceAt(text, [field]), param: field } });
  }
  for (const field of ["tenon_format", "llamay_format"] as const) {
    if (body[field] === "json") formats.push({ field, format: { kind: "json" } });
  }
  for (const field of ["tenon_lexicon", "llamay_lexicon"] as const) {
    const asked = body[field];
    if (asked === undefined || asked === null || asked === false) continue;
    const list = lexiconOf(asked, field, service.lexicon);
    if (!list.ok) return list;
    formats.push({ field, format: { kind: "grammar", source: list.value, param: field } });
  }
  const answer = onlyFormat(formats);
  if (!answer.ok) return answer;
  return ok({
    answer: answer.value,
    holdCalls: body.tenon_hold_calls ?? service.holdCalls,
    toolStrict: body.tenon_tool_strict ?? undefined,
    policy: policyWith(body.tenon_policy ?? {}),
    ...(body.tenon_documents ? { documents: documentsIn(text) } : {}),
  });
}

function documentsIn(text: string): NonNullable<Request["documents"]> {
  const documents = sourceMembers(sourceAt(text, ["tenon_documents"]));
  return [...documents].map(([name, schema]) => ({ name, text: schema }));
}

function onlyFormat(formats: readonly NamedFormat[]): Result<AnswerFormat, Failure> {
  const [first, second] = formats.filter(({ format }) => format.kind !== "text");
  if (first === undefined) return ok({ kind: "text" });
  if (second === undefined) return ok(first.format);
  const message = `Cannot use both ${first.field} and ${second.field}: two constraints cannot be composed.`;
  return fail({ kind: "invalid", message, param: second.field, code: "invalid_value" });
}

type LexiconField = Exclude<NonNullable<OwnBody["tenon_lexicon"]>, false>;

function lexiconOf(asked: LexiconField, param: string, served: Service["lexicon"]) {
  const { words, fold } = asked === true ? {} : Array.isArray(asked) ? { words: asked } : asked;
  const list = words ?? served;
  if (list !== undefined) return ok({ syntax: "lexicon", words: list, fold: fold ?? false } as const);
  const message = `'${param}' names no words, and the server was started without --lexicon.`;
  return fail<Failure>({ kind: "invalid", message, param, code: "invalid_value" });
}
