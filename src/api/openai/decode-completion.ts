import { type Static, Type } from "@sinclair/typebox";
import type { Failure } from "../../generation/failure.ts";
import type { Request } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { candidatesMax, completionAnswersMax, promptsMax } from "../../limits.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { open, optional, strictFailure, unreadFields } from "../fields.ts";
import { decodeOwnFields, ownFields } from "../own-fields.ts";
import { decodeSampling, pingMsOf, samplingFields } from "../sampling-fields.ts";
import { constraintFields, decodeFormats } from "./constraint-fields.ts";
import type { DecodeOptions } from "./decode.ts";
import { withExtraBody } from "./extra-body.ts";
import { acceptedFields } from "./schema.ts";
import { eachOf, textsOrTokens } from "./texts-or-tokens.ts";

export type CompletionRequest = {
  /** One for each prompt, in order. */
  readonly requests: readonly Request[];
  /** Answers to each prompt. */
  readonly choices: number;
  /** How many of them are given back: the likeliest. */
  readonly kept: number;
  /** Give the prompt back in front of the answer. */
  readonly echo: boolean;
  /** Give back how likely tokens are, with `echo` those of the prompt too. */
  readonly logprobs: boolean;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Undefined: the server's own. */
  readonly pingMs: number | undefined;
  readonly ignored: readonly string[];
};

/** A completion's body → one inner request for each prompt. */
export function decodeCompletion(given: JsonBody, { id, service }: DecodeOptions): Result<CompletionRequest, Failure> {
  const body = withExtraBody(given);
  const checked = checkCompletion(body.value);
  if (!checked.ok) return checked;
  const completion = checked.value;
  const ignored = unreadFields(completion, completionBody, acceptedFields);
  const refusal = refusalOf(completion) ?? (service.strictFields ? strictFailure(ignored) : undefined);
  if (refusal !== undefined) return fail(refusal);
  const formats = decodeFormats(completion, body.text);
  if (!formats.ok) return formats;
  const own = decodeOwnFields(completion, body.text, service, formats.value);
  if (!own.ok) return own;
  const sampling = decodeSampling(completion, service);
  if (!sampling.ok) return sampling;
  const kept = completion.n ?? 1;
  const choices = completion.best_of ?? kept;
  const logprobs = completion.logprobs ?? undefined;
  const echo = completion.echo ?? false;
  // No prompt is the empty one: the model begins where texts begin.
  const prompts = eachOf(completion.prompt ?? "");
  if (prompts.length * choices > completionAnswersMax) {
    const param = choices > kept ? "best_of" : "n";
    const message = `Invalid value for '${param}': ${choices} answers to each of ${prompts.length} prompts are more than ${completionAnswersMax} together.`;
    return fail(refused(param, message, "invalid_value"));
  }
  const requests = prompts.map(
    (prompt): Request => ({
      id,
      model: completion.model ?? undefined,
      messages: [],
      prompt,
      tools: [],
      toolChoice: { mode: "auto" },
      parallelCalls: true,
      ...own.value,
      ...sampling.value,
      tokensMax: completion.max_tokens ?? completion.n_predict ?? undefined,
      tokensDefault,
      // The likeliest are found by their log-probabilities.
      logprobs: logprobs ?? (choices > kept ? 0 : undefined),
      scorePrompt: echo && logprobs !== undefined,
      templateVariables: {},
    }),
  );
  return ok({
    requests,
    choices,
    kept,
    echo,
    logprobs: logprobs !== undefined,
    stream: completion.stream ?? false,
    includeUsage: completion.stream_options?.include_usage ?? false,
    pingMs: pingMsOf(completion),
    ignored,
  });
}

/** Tokens, as in the hosted API. */
const tokensDefault = 16;

const promptBody = textsOrTokens(Type.String(), promptsMax);
export const completionBody = open({
  ...samplingFields,
  ...constraintFields,
  ...ownFields,
  max_tokens: optional(Type.Integer({ minimum: 0, maximum: 0xffff_ffff })),
  model: optional(Type.String()),
  prompt: Type.Union([promptBody, Type.Null()], { description: promptBody.description ?? "" }),
  suffix: optional(Type.String()),
  echo: optional(Type.Boolean()),
  best_of: optional(Type.Integer({ minimum: 1, maximum: candidatesMax })),
  logprobs: optional(Type.Integer({ minimum: 0, maximum: 5 })),
});
type CompletionBody = Static<typeof completionBody>;

const checkCompletion = checker(completionBody);

function refusalOf({ prompt, suffix, echo, best_of, n, stream, max_tokens }: CompletionBody): Failure | undefined {
  if (suffix) {
    const message =
      "'suffix' is not supported: the model has no tokens for filling in the middle that Tenon knows of (prefix, suffix, middle).";
    return refused("suffix", message, "unsupported_parameter");
  }
  if (best_of && best_of < (n ?? 1)) {
    return refused("best_of", `Invalid value for 'best_of': it must be at least 'n', which is ${n}.`, "invalid_value");
  }
  if (best_of && best_of > (n ?? 1) && stream) {
    const message = "'best_of' cannot be streamed: the best answers are known when all have ended.";
    return refused("best_of", message, "invalid_value");
  }
  if (max_tokens === 0 && !echo) {
    const message = "Invalid value for 'max_tokens': 0 is for 'echo', which gives the prompt back.";
    return refused("max_tokens", message, "invalid_value");
  }
  const blank = [prompt].flat().some((text) => typeof text === "string" && text !== "" && text.trim() === "");
  return blank ? refused("prompt", "The prompt must not be whitespace alone.", "invalid_value") : undefined;
}

function refused(param: string, message: string, code: string): Failure {
  return { kind: "invalid", message, param, code };
}
