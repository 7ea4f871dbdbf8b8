import { Type } from "@sinclair/typebox";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { defaultSampling } from "../../generation/sampling.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { open, optional } from "../fields.ts";
import type { Service } from "../service.ts";
import { decodeChat } from "./decode.ts";

/** What llama-server offers beside OpenAI's shape, in its forms: each takes a body, or nothing, and gives the answer's. */

/** POST /tokenize */
export function tokenize(service: Service, { value }: JsonBody): Result<object, Failure> {
  const checked = checkTokenize(value);
  if (!checked.ok) return checked;
  const { content, add_special, parse_special, with_pieces } = checked.value;
  const tokens = [...service.tokenize(content, { special: parse_special ?? true, bos: add_special ?? false })];
  if (!with_pieces) return ok({ tokens });
  const pieces = service.pieces(tokens);
  return ok({ tokens: tokens.map((id, index) => ({ id, piece: pieceOf(pieces[index] ?? new Uint8Array()) })) });
}

/** POST /detokenize */
export function detokenize(service: Service, { value }: JsonBody): Result<object, Failure> {
  const checked = checkDetokenize(value);
  if (!checked.ok) return checked;
  const { tokens } = checked.value;
  const { vocabularyCount } = service.describe();
  const unknown = tokens.findIndex((token) => token >= vocabularyCount);
  if (unknown >= 0) {
    const param = `tokens[${unknown}]`;
    const message = `Invalid value for '${param}': the model has no token ${tokens[unknown]}.`;
    return fail({ kind: "invalid", message, param, code: "invalid_value" });
  }
  return ok({ content: new TextDecoder("utf-8", { ignoreBOM: true }).decode(service.detokenize(tokens)) });
}

/** POST /apply-template: the prompt of a chat's body. */
export function applyTemplate(service: Service, body: JsonBody): Result<object, Failure> {
  const prompt = promptOf(service, body);
  return prompt.ok ? ok({ prompt: prompt.value.text }) : prompt;
}

/** POST /v1/chat/completions/input_tokens: what a chat's prompt costs. */
export function inputTokens(service: Service, body: JsonBody): Result<object, Failure> {
  const prompt = promptOf(service, body);
  if (!prompt.ok) return prompt;
  return ok({ object: "response.input_tokens", input_tokens: prompt.value.tokens.length });
}

/** GET /props */
export function props(service: Service): object {
  const { contextMax, template, bos, eos, id, file } = service.describe();
  return {
    default_generation_settings: { n_ctx: contextMax, params: samplingDefaults },
    total_slots: service.status().slots,
    model_alias: id,
    model_path: file ?? id,
    modalities: { vision: false, audio: false },
    chat_template: template ?? "",
    bos_token: bos,
    eos_token: eos,
    build_info: "tenon",
  };
}

/** Where a request says nothing; -1 is a fresh seed. */
const samplingDefaults = {
  seed: defaultSampling.seed ?? -1,
  temperature: defaultSampling.temperature,
  top_k: defaultSampling.topK,
  top_p: defaultSampling.topP,
  min_p: defaultSampling.minP,
  repeat_penalty: defaultSampling.repeatPenalty,
  frequency_penalty: defaultSampling.frequencyPenalty,
  presence_penalty: defaultSampling.presencePenalty,
};

/** GET /slots: which slot a request is in is the engine's own business; how many are taken is known. */
export function slots(service: Service): object {
  const { contextMax } = service.describe();
  const { slots, running } = service.status();
  return Array.from({ length: slots }, (_, id) => ({
    id,
    n_ctx: contextMax,
    speculative: false,
    is_processing: id < running,
  }));
}

export const tokenizeBody = open({
  content: Type.String(),
  add_special: optional(Type.Boolean()),
  parse_special: optional(Type.Boolean()),
  with_pieces: optional(Type.Boolean()),
});
export const detokenizeBody = open({ tokens: Type.Array(Type.Integer({ minimum: 0, maximum: 0xffff_ffff })) });

const checkTokenize = checker(tokenizeBody);
const checkDetokenize = checker(detokenizeBody);

function promptOf(service: Service, body: JsonBody): ReturnType<Service["prompt"]> {
  const decoded = decodeChat(body, { id: "prompt", service });
  return decoded.ok ? service.prompt(decoded.value.request) : decoded;
}

/** Text, or bytes where they are no text by themselves. */
function pieceOf(bytes: Uint8Array): string | readonly number[] {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return [...bytes];
  }
}
