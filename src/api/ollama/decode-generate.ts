import type { Failure } from "../../generation/failure.ts";
import type { Message, Request } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { emptyInput } from "../empty-input.ts";
import { type ChosenModel, chooseModel } from "./choose-model.ts";
import { type DecodeService, decodeAnswering } from "./decode-answering.ts";
import { type Asked, turnsOf } from "./decode-chat.ts";
import { imagesFailure } from "./decode-messages.ts";
import { type GenerateBody, generateBody } from "./schema.ts";

/** The body of POST /api/generate → the inner request: one turn of a conversation, or text as it stands. */
export function decodeGenerate(body: JsonBody, id: string, service: DecodeService): Result<Asked, Failure> {
  const checked = checkGenerate(body.value);
  if (!checked.ok) return checked;
  const fields = checked.value;
  const model = chooseModel(fields.model ?? fields.name, service);
  if (!model.ok) return model;
  const refusal = imagesFailure(fields.images, "images") ?? suffixFailure(fields) ?? rawFailure(fields);
  if (refusal !== undefined) return fail(refusal);
  const answering = decodeAnswering(fields, body.text, { id, model: model.value, service, schema: generateBody });
  if (!answering.ok) return answering;
  const asked = { ...answering.value, model: model.value };
  const prompt = fields.prompt ?? "";
  if (prompt === "") return ok({ ...asked, request: undefined });
  const messages = fields.raw === true ? [] : conversation(fields, prompt, model.value);
  const empty = emptyInput([{ role: "user", content: prompt }], "prompt");
  if (empty !== undefined) return fail(empty);
  const template = fields.template || model.value.derivation?.template;
  return ok({
    ...asked,
    request: {
      ...answering.value.request,
      messages,
      ...(fields.raw === true ? { prompt } : {}),
      tools: [],
      toolChoice: { mode: "auto" },
      parallelCalls: true,
      keepTokens: true,
      ...(fields.context && fields.context.length > 0 ? { before: fields.context } : {}),
      ...(template ? { template } : {}),
    } satisfies Request,
  });
}

const checkGenerate = checker(generateBody);

function suffixFailure({ suffix }: GenerateBody): Failure | undefined {
  if (!suffix) return undefined;
  const message =
    "'suffix' is not supported: the model has no tokens for filling in the middle that Tenon knows of (prefix, suffix, middle).";
  return { kind: "invalid", message, param: "suffix", code: "unsupported_parameter" };
}

function rawFailure({ raw, template, system, context }: GenerateBody): Failure | undefined {
  if (raw !== true || !(template || system || (context && context.length > 0))) return undefined;
  return { kind: "invalid", message: "raw mode does not support template, system, or context", param: "raw" };
}

/** A turn that goes on from a context stands alone: what came before it is in the tokens. */
function conversation({ system, context }: GenerateBody, prompt: string, { derivation }: ChosenModel): Message[] {
  const rules = system || derivation?.system;
  return [
    ...(rules ? [{ role: "system", content: rules } as const] : []),
    ...(context && context.length > 0 ? [] : turnsOf(derivation?.messages ?? [])),
    { role: "user", content: prompt },
  ];
}
