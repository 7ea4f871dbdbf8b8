import { Type } from "@sinclair/typebox";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { checker } from "./check.ts";
import { open, optional, unreadFields } from "./fields.ts";
import { decodeSampling, type SamplingRequest, samplingFields } from "./sampling-fields.ts";
import type { Service } from "./service.ts";

export type Options = SamplingRequest & {
  /** Infinite where no limit is asked for. */
  readonly tokensMax: number | undefined;
  /** Tokens of prompt and answer together; undefined is all that there are. */
  readonly contextMax: number | undefined;
  /** Options that nothing reads, as `options.NAME`. */
  readonly ignored: readonly string[];
};

const { temperature, top_p, top_k, min_p, repeat_penalty } = samplingFields;
const { frequency_penalty, presence_penalty, seed, stop, logit_bias } = samplingFields;
const whole = optional(Type.Integer());
const number = optional(Type.Number());
const flag = optional(Type.Boolean());

/** How a model is loaded and computed, which is decided when the server starts: no answer depends on it. */
const accepted = {
  num_keep: whole,
  num_batch: whole,
  num_gpu: whole,
  main_gpu: whole,
  num_thread: whole,
  draft_num_predict: whole,
  numa: flag,
  low_vram: flag,
  f16_kv: flag,
  logits_all: flag,
  vocab_only: flag,
  use_mmap: flag,
  use_mlock: flag,
  embedding_only: flag,
};

/** Samplers that there are not. Their types are checked all the same, and whoever sets one reads of it. */
const unread = {
  typical_p: number,
  repeat_last_n: whole,
  tfs_z: number,
  mirostat: whole,
  mirostat_eta: number,
  mirostat_tau: number,
  penalize_newline: flag,
};

export const optionsBody = open({
  // 0 and below: no limit but the context.
  num_predict: optional(Type.Integer({ minimum: -2, maximum: 0xffff_ffff })),
  num_ctx: optional(Type.Integer({ minimum: 1 })),
  temperature,
  top_p,
  top_k,
  min_p,
  repeat_penalty,
  frequency_penalty,
  presence_penalty,
  seed,
  stop,
  logit_bias,
  ...accepted,
  ...unread,
});

/** The options of a request, or those that a model is made with. */
export function decodeOptions(
  given: object | null | undefined,
  service: Pick<Service, "tokenize">,
): Result<Options, Failure> {
  const checked = checkOptions(given ?? {}, "options");
  if (!checked.ok) return checked;
  const options = checked.value;
  const sampling = decodeSampling(options, service);
  if (!sampling.ok) return fail(inOptions(sampling.failure));
  const { num_predict: tokens, num_ctx: context } = options;
  const named = unreadFields(given ?? {}, optionsBody);
  const ignored = Object.entries(given ?? {}).flatMap(([name, value]) =>
    Object.hasOwn(unread, name) && value !== null ? name : [],
  );
  return ok({
    ...sampling.value,
    tokensMax: typeof tokens === "number" && tokens <= 0 ? Number.POSITIVE_INFINITY : (tokens ?? undefined),
    contextMax: context ?? undefined,
    ignored: [...named, ...ignored].map((name) => `options.${name}`),
  });
}

/** Parameters that a model is made with: options by their names. */
export function parametersFailure(parameters: object): Failure | undefined {
  const checked = checkOptions(parameters, "parameters");
  if (!checked.ok) return checked.failure;
  const [param] = unreadFields(parameters, optionsBody);
  if (param === undefined) return undefined;
  return { kind: "invalid", message: `unknown parameter '${param}'`, param: `parameters.${param}` };
}

const checkOptions = checker(optionsBody);

function inOptions(failure: Failure): Failure {
  return failure.kind === "invalid" && failure.param !== undefined
    ? { ...failure, param: `options.${failure.param}` }
    : failure;
}
