import { type Static, Type } from "@sinclair/typebox";
import type { Failure } from "../../generation/failure.ts";
import type { AnswerFormat } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { choiceTextsMax } from "../../limits.ts";
import { checker } from "../check.ts";
import { jsonSchema, open, optional, options } from "../fields.ts";
import { toolName } from "../openai-tools.ts";
import type { NamedFormat } from "../own-fields.ts";
import { sourceAt } from "../source.ts";
import { strictSchemaFailure } from "../strict-schema.ts";

const schemaOrText = Type.Union([open({}), Type.Boolean(), Type.String()], {
  description: "a JSON Schema, or the text of one",
});
const texts = Type.Array(Type.String({ minLength: 1 }), {
  minItems: 1,
  maxItems: choiceTextsMax,
  description: `an array of 1 to ${choiceTextsMax} non-empty strings`,
});

/** What an answer has to fit, under OpenAI's name and those of vLLM, SGLang and llama.cpp; `decodeFormats` reads them. */
export const constraintFields = {
  response_format: optional(Type.Unknown()),
  json_schema: optional(jsonSchema),
  grammar: optional(Type.String()),
  ebnf: optional(Type.String()),
  regex: optional(Type.String()),
  choice: optional(texts),
  guided_json: optional(schemaOrText),
  guided_regex: optional(Type.String()),
  guided_choice: optional(texts),
  guided_grammar: optional(Type.String()),
  structured_outputs: optional(
    options({
      json: optional(schemaOrText),
      regex: optional(Type.String()),
      choice: optional(texts),
      grammar: optional(Type.String()),
      json_object: optional(Type.Boolean()),
      structural_tag: optional(Type.String()),
    }),
  ),
};

const constraintBody = open(constraintFields);
export type ConstraintBody = Static<typeof constraintBody>;

/** Every format that these fields ask for, each with the field that does; `text` is the body's. An empty text asks for nothing, as in llama.cpp. */
export function decodeFormats(body: ConstraintBody, text: string): Result<readonly NamedFormat[], Failure> {
  const formats: NamedFormat[] = [];
  const format = decodeResponseFormat(body.response_format ?? undefined, text);
  if (!format.ok) return format;
  formats.push({ field: "response_format", format: format.value });
  const outputs = body.structured_outputs ?? {};
  const nested = (name: string) => ["structured_outputs", name];
  const schemas = [
    [body.json_schema, ["json_schema"]],
    [body.guided_json, ["guided_json"]],
    [outputs.json, nested("json")],
  ] as const;
  for (const [value, path] of schemas) {
    if (value === undefined || value === null) continue;
    const schema = typeof value === "string" ? value : sourceAt(text, path);
    const param = path.join(".");
    formats.push({ field: param, format: { kind: "json_schema", schema, param } });
  }
  const grammars = [
    ["gbnf", body.grammar, ["grammar"]],
    ["gbnf", body.ebnf, ["ebnf"]],
    ["regex", body.regex, ["regex"]],
    ["regex", body.guided_regex, ["guided_regex"]],
    ["regex", outputs.regex, nested("regex")],
    [syntaxOf(body.guided_grammar), body.guided_grammar, ["guided_grammar"]],
    [syntaxOf(outputs.grammar), outputs.grammar, nested("grammar")],
    ["structural_tag", outputs.structural_tag, nested("structural_tag")],
  ] as const;
  for (const [syntax, text, path] of grammars) {
    const field = path.join(".");
    if (text) formats.push({ field, format: { kind: "grammar", source: { syntax, text }, param: field } });
  }
  const choices = [
    [body.choice, ["choice"]],
    [body.guided_choice, ["guided_choice"]],
    [outputs.choice, nested("choice")],
  ] as const;
  for (const [texts, path] of choices) {
    const field = path.join(".");
    if (texts) formats.push({ field, format: { kind: "grammar", source: { syntax: "choice", texts }, param: field } });
  }
  if (outputs.json_object) formats.push({ field: "structured_outputs.json_object", format: { kind: "json_object" } });
  return ok(formats);
}

/** vLLM takes both kinds under one name; only GBNF has this arrow. */
function syntaxOf(text: string | null | undefined): "gbnf" | "lark" {
  return text?.includes("::=") ? "gbnf" : "lark";
}

const checkFormat = checker(open({ type: Type.String() }));
export const jsonSchemaFormat = open({
  json_schema: open({
    name: optional(toolName),
    description: optional(Type.String()),
    schema: jsonSchema,
    strict: optional(Type.Boolean()),
  }),
});
/** llama.cpp's spelling of a schema. */
export const jsonObjectFormat = open({ schema: optional(jsonSchema) });
const checkJsonSchema = checker(jsonSchemaFormat);
const checkJsonObject = checker(jsonObjectFormat);
const checkGrammar = checker(open({ grammar: Type.String({ minLength: 1 }) }));

function decodeResponseFormat(value: unknown, text: string): Result<AnswerFormat, Failure> {
  if (value === undefined) return ok({ kind: "text" });
  const format = checkFormat(value, "response_format");
  if (!format.ok) return format;
  switch (format.value.type) {
    case "text":
      return ok({ kind: "text" });
    case "json_object": {
      const checked = checkJsonObject(value, "response_format");
      if (!checked.ok) return checked;
      if (checked.value.schema === undefined || checked.value.schema === null) return ok({ kind: "json_object" });
      const schema = sourceAt(text, ["response_format", "schema"]);
      return ok({ kind: "json_schema", schema, param: "response_format.schema" });
    }
    case "json_schema": {
      const checked = checkJsonSchema(value, "response_format");
      if (!checked.ok) return checked;
      const { name, strict, schema: given } = checked.value.json_schema;
      const param = "response_format.json_schema.schema";
      const refusal = strict ? strictSchemaFailure(given, `response_format '${name ?? ""}'`, param) : undefined;
      if (refusal !== undefined) return fail(refusal);
      return ok({ kind: "json_schema", schema: sourceAt(text, ["response_format", "json_schema", "schema"]), param });
    }
    case "grammar": {
      const checked = checkGrammar(value, "response_format");
      if (!checked.ok) return checked;
      const { grammar } = checked.value;
      const source = { syntax: syntaxOf(grammar), text: grammar };
      return ok({ kind: "grammar", source, param: "response_format.grammar" });
    }
    case "structural_tag": {
      const source = { syntax: "structural_tag", text: sourceAt(text, ["response_format"]) } as const;
      return ok({ kind: "grammar", source, param: "response_format" });
    }
    default:
      return fail({
        kind: "invalid",
        message:
          "Invalid value for 'response_format.type': expected 'text', 'json_object', 'json_schema', 'grammar' or 'structural_tag'.",
        param: "response_format.type",
        code: "invalid_value",
      });
  }
}
