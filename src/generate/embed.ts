import { setImmediate } from "node:timers/promises";
import type { SubmitFailure, Timings } from "../engine/engine.ts";
import type { Embeddings, EmbedOptions } from "../generation/embedding.ts";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { embeddingTokensMax } from "../limits.ts";
import { withEnds } from "../prompt/render.ts";
import type { Log } from "./log.ts";
import type { Model } from "./model.ts";

type Tokens = Uint32Array<ArrayBuffer>;

export type EmbedContext = EmbedOptions & {
  readonly signal: AbortSignal;
  /** Texts that are computed at once: others wait for a slot as well. */
  readonly atOnce: number;
  readonly log: Log;
  /** Told of every text. */
  readonly ended: (timings: Timings) => void;
};

/**
 * A vector for each text, all or none. What can be known before the first one is computed is known then; where one fails, those beside it
 * are cancelled.
 */
export async function embed(
  model: Model,
  inputs: readonly (string | Tokens)[],
  context: EmbedContext,
): Promise<Result<Embeddings, Failure>> {
  const { id, log } = context;
  const read = await readTexts(model, inputs, context);
  if (!read.ok) return read;
  const startMs = performance.now();
  const vectors = await vectorsOf(model, read.value, context);
  if (!vectors.ok) {
    const { failure } = vectors;
    log(failure.kind === "engine" ? "error" : "info", "embeddings_failed", { request: id, reason: failure.kind });
    return vectors;
  }
  const promptTokens = read.value.reduce((sum, { length }) => sum + length, 0);
  const ms = Math.round(performance.now() - startMs);
  log("info", "embeddings", { request: id, texts: inputs.length, prompt_tokens: promptTokens, ms });
  return ok({ vectors: vectors.value, promptTokens });
}

/** The tokens of each text, or the first thing that is wrong with one. */
async function readTexts(
  model: Model,
  inputs: readonly (string | Tokens)[],
  { truncate, ...asked }: EmbedOptions,
): Promise<Result<readonly Tokens[], Failure>> {
  const { engine, tokenizer } = model;
  const contextMax = Math.min(engine.contextMax, asked.contextMax ?? Number.POSITIVE_INFINITY);
  const refused = (message: string) =>
    fail({ kind: "invalid", message, param: "input", code: "invalid_value" } as const);
  const texts: Tokens[] = [];
  let total = 0;
  for (const [index, input] of inputs.entries()) {
    const isText = typeof input === "string";
    let tokens = isText
      ? withEnds(tokenizer, tokenizer.encode(input, { special: true, tokensMax: contextMax }))
      : input;
    if (tokens.length > contextMax) {
      if (!truncate) {
        const message = `This model's maximum context length is ${contextMax} tokens. However, input ${index} has ${tokens.length} tokens.`;
        return fail({ kind: "context", message, promptTokens: tokens.length, contextMax, param: "input" });
      }
      const end = isText && tokenizer.addEos ? tokens.subarray(-1) : [];
      tokens = Uint32Array.from([...tokens.subarray(0, contextMax - end.length), ...end]);
    }
    if (tokens.length === 0) return refused(`Invalid value for 'input': input ${index} is empty.`);
    const strange = tokens.find((token) => token >= engine.vocabularyCount);
    if (strange !== undefined) return refused(`Invalid value for 'input': the model has no token ${strange}.`);
    total += tokens.length;
    if (total > embeddingTokensMax) {
      return refused(
        `Invalid value for 'input': the texts of one request may have ${embeddingTokensMax} tokens together.`,
      );
    }
    texts.push(tokens);
    // Many texts, or long ones, must not hold up the streams of others.
    await setImmediate();
  }
  return ok(texts);
}

async function vectorsOf(
  model: Model,
  texts: readonly Tokens[],
  { signal, atOnce, ended }: EmbedContext,
): Promise<Result<readonly Float32Array[], Failure>> {
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const vectors: Float32Array[] = [];
  const pending = texts.entries();
  let failure: Failure | undefined;
  const work = async () => {
    for (const [index, tokens] of pending) {
      const vector = await vectorOf(model, tokens, { signal: until, ended });
      if (vector.ok) vectors[index] = vector.value;
      else {
        // The first one is the reason; the others were cancelled for it.
        failure ??= vector.failure;
        stop.abort();
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, texts.length) }, work));
  return failure === undefined ? ok(vectors) : fail(failure);
}

async function vectorOf(
  { engine }: Model,
  tokens: Tokens,
  { signal, ended }: Pick<EmbedContext, "signal" | "ended">,
): Promise<Result<Float32Array, Failure>> {
  if (signal.aborted) return fail({ kind: "cancelled" });
  const submitted = engine.embed(tokens);
  if (!submitted.ok) return fail(submitFailure(submitted.failure, tokens.length));
  const generation = submitted.value;
  const abort = () => generation.cancel();
  signal.addEventListener("abort", abort, { once: true });
  const elements: number[] = [];
  try {
    for await (const event of generation.events) {
      if (event.kind === "embedding") elements.push(...event.elements);
      if (event.kind !== "finish") continue;
      if (event.reason === "cancelled") return fail({ kind: "cancelled" });
      if (event.reason === "complete") {
        ended(event.timings);
        return ok(Float32Array.from(elements));
      }
      const message = `The engine failed: ${event.message ?? event.reason}.`;
      return fail({ kind: "engine", message });
    }
    return fail({ kind: "engine", message: "The engine ended without a vector." });
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function submitFailure(failure: SubmitFailure, promptTokens: number): Failure {
  switch (failure.kind) {
    case "overloaded":
      return { kind: "overloaded", message: "All slots are busy. Please try again later." };
    case "context": {
      const { contextMax } = failure;
      const message = `This model's maximum context length is ${contextMax} tokens. However, an input has ${promptTokens} tokens.`;
      return { kind: "context", message, promptTokens, contextMax, param: "input" };
    }
    case "invalid":
      return { kind: "invalid", message: failure.message };
    default:
      return failure satisfies never;
  }
}
