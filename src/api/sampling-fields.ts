import { type Static, Type } from "@sinclair/typebox";
import type { Failure } from "../generation/failure.ts";
import type { Request } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import type { AskedSampling } from "../generation/sampling.ts";
import { choicesMax, logitBiasMax, stopStringLengthMax, stopStringsMax } from "../limits.ts";
import { open, optional, options, tokensLimit } from "./fields.ts";
import type { Service } from "./service.ts";

const stopString = Type.String({
  minLength: 1,
  maxLength: stopStringLengthMax,
  description: `a string of 1 to ${stopStringLengthMax} characters`,
});
const bias = Type.Number({ minimum: -100, maximum: 100 });
const biasText = `at most ${logitBiasMax} token ids and biases from -100 to 100`;

/** How the next token is chosen and when an answer ends: the same in chats, completions and responses. Other servers' names are synonyms. */
export const samplingFields = {
  max_tokens: optional(tokensLimit),
  n_predict: optional(tokensLimit),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: -1, maximum: 0x7fff_ffff })),
  min_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  repeat_penalty: optional(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
  repetition_penalty: optional(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
  frequency_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  // Clients take 64 bits, with and without sign, and no bound there is a number that doubles have; whatever is beyond is folded as well.
  seed: optional(Type.Integer()),
  stop: optional(
    Type.Union([stopString, Type.Array(stopString, { maxItems: stopStringsMax })], {
      description: `a string or an array of up to ${stopStringsMax} strings, each of 1 to ${stopStringLengthMax} characters`,
    }),
  ),
  n: optional(Type.Integer({ minimum: 1, maximum: choicesMax })),
  logit_bias: optional(
    Type.Union(
      [
        Type.Record(Type.String({ pattern: "^\\d+$" }), bias, { additionalProperties: false }),
        Type.Array(
          Type.Tuple([
            Type.Union([Type.Integer({ minimum: 0 }), Type.String({ minLength: 1 })]),
            Type.Union([bias, Type.Literal(false)]),
          ]),
        ),
      ],
      { description: `an object of ${biasText}, or an array of pairs of a token id or a text and a bias or false` },
    ),
  ),
  stream: optional(Type.Boolean()),
  sse_ping_interval: optional(Type.Integer({ minimum: -1, maximum: 86_400 })),
  stream_options: optional(
    options({ include_usage: optional(Type.Boolean()), include_obfuscation: optional(Type.Boolean()) }),
  ),
};

const samplingBody = open(samplingFields);
export type SamplingBody = Static<typeof samplingBody>;

export type SamplingRequest = Pick<Request, "sampling" | "stop">;

/** `tokenize` turns the texts of llama.cpp's form of biases into tokens: each of a text's gets its bias. */
export function decodeSampling(
  body: SamplingBody,
  { tokenize }: Pick<Service, "tokenize">,
): Result<SamplingRequest, Failure> {
  const stop = body.stop === undefined || body.stop === null ? undefined : [body.stop].flat();
  if (stop?.some((text) => !text.isWellFormed())) {
    const message = "a stop string contains half a surrogate pair";
    return fail({ kind: "invalid", message, param: "stop", code: "invalid_value" });
  }
  const logitBias = biasesOf(body.logit_bias, tokenize);
  if (logitBias !== undefined && logitBias.length > logitBiasMax) {
    const message = `Invalid value for 'logit_bias': expected an object of ${biasText}.`;
    return fail({ kind: "invalid", message, param: "logit_bias", code: "invalid_value" });
  }
  const sampling = {
    temperature: body.temperature ?? undefined,
    // -1 is how other servers spell "off".
    topK: body.top_k === -1 ? 0 : (body.top_k ?? undefined),
    topP: body.top_p ?? undefined,
    minP: body.min_p ?? undefined,
    repeatPenalty: body.repeat_penalty ?? body.repetition_penalty ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    // -1 asks for a random one, as in llama.cpp.
    seed: body.seed === -1 ? "fresh" : (body.seed ?? undefined),
    logitBias,
  } as const;
  return ok({ sampling, stop });
}

function biasesOf(given: SamplingBody["logit_bias"], tokenize: Service["tokenize"]): AskedSampling["logitBias"] {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given)) {
    return Object.entries(given).map(([token, bias]) => ({ token: Number(token), bias }));
  }
  return given.flatMap(([what, bias]) => {
    const tokens = typeof what === "number" ? [what] : [...tokenize(what, { special: true, bos: false })];
    return tokens.map((token) => ({ token, bias: bias === false ? banned : bias }));
  });
}

/** Milliseconds of silence on this answer's stream before a comment; llama.cpp's field has seconds, and -1 for none at all. */
export function pingMsOf({ sse_ping_interval: seconds }: Pick<SamplingBody, "sse_ping_interval">): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  return seconds < 1 ? Number.POSITIVE_INFINITY : seconds * 1000;
}

/** The bias that takes a token out of the game. */
const banned = -100;
