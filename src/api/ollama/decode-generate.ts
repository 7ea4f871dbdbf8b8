import type { Failure } from "../../generation/failure.ts";
import type { Message, Request } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { emptyInput } from "../empty-input.ts";
import { type DecodeService, decodeAnswering } from "./decode-answering.ts";
import type { Asked } from "./decode-chat.ts";
import { imagesFailure } from "./decode-messages.ts";
import { listedName } from "./model-names.ts";
import { type GenerateBody, generateBody } from "./schema.ts";

/** The body of POST /api/generate → the inner request: one turn of a conversation, or text as it stands. */
export function decodeGenerate(body: JsonBody, id: string, service: DecodeService): Result<Asked, Failure> {
  const checked = checkGenerate(body.value);
  if (!checked.ok) return checked;
  const fields = checked.value;
  const model = service.chosen(fields.model ?? fields.name ?? undefined);
  if (!model.ok) return model;
  const refusal = imagesFailure(fields.images, "images") ?? suffixFailure(fields) ?? rawFailure(fields);
  if (refusal !== undefined) return fail(refusal);
  const answering = decodeAnswering(fields, body.text, { id, model: model.value, service, schema: generateBody });
  if (!answering.ok) return answering;
  const asked = { ...answering.value, model: listedName(model.value.id) };
  const prompt = fields.prompt ?? "";
  if (prompt === "") return ok({ ...asked, request: undefined });
  const messages = fields.raw === true ? [] : conversation(fields, prompt);
  const empty = emptyInput([{ role: "user", content: prompt }], "prompt");
  if (empty !== undefined) return fail(empty);
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
      ...(fields.template ? { template: fields.template } : {}),
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

function conversation({ system }: GenerateBody, prompt: string): Message[] {
  return [...(system ? [{ role: "system", content: system } as const] : []), { role: "user", content: prompt }];
}
