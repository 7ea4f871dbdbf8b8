import type { Failure } from "../../generation/failure.ts";
import type { Request } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { topLogprobsMax } from "../../limits.ts";
import { type BodySchema, strictFailure, unreadFields } from "../fields.ts";
import { decodeOptions } from "../model-options.ts";
import { decodeOwnFields, type NamedFormat } from "../own-fields.ts";
import type { ChosenModel, Service } from "../service.ts";
import { sourceAt } from "../source.ts";
import { decodeKeepAlive } from "./keep-alive.ts";
import { listedName } from "./model-names.ts";
import type { AnsweringBody } from "./schema.ts";

export type DecodeService = Pick<
  Service,
  "chosen" | "describe" | "holdCalls" | "lexicon" | "strictFields" | "tokenize"
>;

/** What chats and generations have in common. */
export type Answering = {
  readonly request: Pick<Request, CommonField>;
  readonly stream: boolean;
  readonly logprobs: boolean;
  readonly keepAliveS: number | undefined;
  readonly ignored: readonly string[];
};

type CommonField =
  | "id"
  | "model"
  | "answer"
  | "holdCalls"
  | "toolStrict"
  | "policy"
  | "sampling"
  | "stop"
  | "tokensMax"
  | "contextMax"
  | "truncate"
  | "logprobs"
  | "templateVariables";

export function decodeAnswering(
  body: AnsweringBody,
  text: string,
  {
    id,
    model,
    service,
    schema,
  }: {
    readonly id: string;
    readonly model: ChosenModel;
    readonly service: DecodeService;
    /** Of the whole body. */
    readonly schema: BodySchema;
  },
): Result<Answering, Failure> {
  const options = decodeOptions(body.options, service);
  if (!options.ok) return options;
  const ignored = [...unreadFields(body, schema), ...options.value.ignored];
  const refusal =
    (service.strictFields ? strictFailure(ignored) : undefined) ??
    thinkFailure(body, model, service) ??
    topFailure(body);
  if (refusal !== undefined) return fail(refusal);
  const format = decodeFormat(body.format, text);
  if (!format.ok) return format;
  const own = decodeOwnFields(body, text, service, format.value);
  if (!own.ok) return own;
  const keepAlive = decodeKeepAlive(body.keep_alive);
  if (!keepAlive.ok) return keepAlive;
  const { sampling, stop, tokensMax, contextMax } = options.value;
  return ok({
    request: {
      ...own.value,
      id,
      model: body.model ?? body.name ?? undefined,
      // A call is one object of one line here.
      holdCalls: true,
      sampling,
      stop,
      tokensMax,
      ...(contextMax === undefined ? {} : { contextMax }),
      truncate: body.truncate ?? false,
      logprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : undefined,
      templateVariables: thinkVariables(body.think),
    },
    stream: body.stream ?? true,
    logprobs: body.logprobs ?? false,
    keepAliveS: keepAlive.value,
    ignored,
  });
}

/** "" and null ask for nothing. */
function decodeFormat(value: unknown, text: string): Result<readonly NamedFormat[], Failure> {
  if (value === undefined || value === null || value === "") return ok([]);
  if (value === "json") return ok([{ field: "format", format: { kind: "json_object" } }]);
  if (typeof value === "object" && !Array.isArray(value)) {
    return ok([
      { field: "format", format: { kind: "json_schema", schema: sourceAt(text, ["format"]), param: "format" } },
    ]);
  }
  const message = `invalid format: ${JSON.stringify(value)}; expected "json" or a valid JSON Schema object`;
  return fail({ kind: "invalid", message, param: "format", code: "invalid_value" });
}

/** A model without the switch would think, or not, as it likes. */
function thinkFailure({ think }: AnsweringBody, { id }: ChosenModel, service: DecodeService): Failure | undefined {
  if (!think || service.describe().capabilities.includes("thinking")) return undefined;
  const message = `${JSON.stringify(listedName(id))} does not support thinking`;
  return { kind: "invalid", message, param: "think", code: "unsupported_value" };
}

/** The switches by the names that templates have for them. */
function thinkVariables(think: AnsweringBody["think"]): Readonly<Record<string, unknown>> {
  if (think === undefined || think === null) return {};
  return { enable_thinking: think !== false, ...(typeof think === "string" ? { reasoning_effort: think } : {}) };
}

function topFailure({ logprobs, top_logprobs: top }: AnsweringBody): Failure | undefined {
  const invalid = (message: string) =>
    ({ kind: "invalid", message, param: "top_logprobs", code: "invalid_value" }) as const;
  if (top === undefined || top === null) return undefined;
  if (top < 0 || top > topLogprobsMax) return invalid(`top_logprobs must be between 0 and ${topLogprobsMax}`);
  return top > 0 && logprobs !== true ? invalid("top_logprobs requires logprobs to be set to true") : undefined;
}
