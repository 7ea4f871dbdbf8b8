import type { EngineEvent, Generation, SubmitFailure } from "./engine/engine.ts";
import { compileRequest } from "./generate/compile.ts";
import { toEvents } from "./generate/events.ts";
import { withLexiconWords } from "./generate/lexicon-words.ts";
import { type Log, log as standardLog } from "./generate/log.ts";
import type { Model } from "./generate/model.ts";
import type { LogitsProcessor } from "./generate/processors.ts";
import { thoughtBudget } from "./generate/thought-budget.ts";
import type { Answer } from "./generation/answer.ts";
import { contradictionOf } from "./generation/contradiction.ts";
import type { Event } from "./generation/event.ts";
import type { Failure } from "./generation/failure.ts";
import type { Request } from "./generation/request.ts";
import { fail, ok, type Result } from "./generation/result.ts";
import { samplingOf } from "./generation/sampling.ts";
import { isForced } from "./generation/tool-choice.ts";
import type { VocabularyData } from "./tokenizer/tokenizer.ts";

export type GenerateOptions = {
  /** Refuse a name that is not the model's. */
  readonly strictModels: boolean;
  readonly log?: Log;
  /** Told of every answer's end. */
  readonly ended?: (event: EndEvent, calls: number) => void;
};

export type EndEvent = Extract<Event, { kind: "finish" | "failure" }>;

/**
 * The one place where the rooms meet: a request is rendered, constrained, submitted, and its events are told in the inner
 * language. What can be known before the first token is a failure; after that the last event says how it ended.
 */
export async function generate(
  model: Model,
  request: Request,
  signal: AbortSignal,
  { strictModels, log = standardLog, ended }: GenerateOptions,
): Promise<Result<Answer, Failure>> {
  if (strictModels && request.model !== undefined && request.model !== model.id) {
    return fail({ kind: "model_not_found", model: request.model });
  }
  if (model.embeds === true) {
    const message = `The model '${model.id}' is an embedding model: it gives vectors of texts, and no answers.`;
    return fail({ kind: "invalid", message, param: "model", code: "unsupported_value" });
  }
  const contradiction = contradictionOf(request);
  if (contradiction !== undefined) return fail(contradiction);
  const sampling = samplingOf(request.sampling);
  const unknown = sampling.logitBias.find(({ token }) => token >= model.engine.vocabularyCount);
  if (unknown !== undefined) {
    const message = `Invalid value for 'logit_bias': the model has no token ${unknown.token}.`;
    return fail({ kind: "invalid", message, param: "logit_bias" });
  }
  const given = typeof request.prompt === "object" ? request.prompt : request.before;
  const strange = given?.find((token) => token >= model.engine.vocabularyCount);
  if (typeof strange === "number") {
    const message = `Invalid value for 'prompt': the model has no token ${strange}.`;
    return fail({ kind: "invalid", message, param: "prompt", code: "invalid_value" });
  }
  const prompt = model.render(request);
  if (!prompt.ok) return prompt;
  const compiled = await compileRequest(model, request, prompt.value, signal);
  if (!compiled.ok) return compiled;
  const { constraint, relaxed, grammar, stopTokens, thoughts } = compiled.value;
  // The engine keeps the grammar as long as the request lives.
  using _ = grammar;
  if (signal.aborted) return fail({ kind: "cancelled" });
  const promptTokens = prompt.value.tokens.length;
  const { contextMax = model.engine.contextMax } = request;
  const limit = request.tokensMax ?? request.tokensDefault ?? unlimited;
  const needed = promptTokens + Math.max(Math.min(1, limit), grammar?.costMin ?? 0);
  if (contextMax < model.engine.contextMax && needed > contextMax) {
    return fail(contextFailure({ needed, contextMax, promptTokens }, request.prompt, ", as 'num_ctx' asks"));
  }
  const tokensMax = Math.min(limit, contextMax < model.engine.contextMax ? contextMax - promptTokens : unlimited);
  if (grammar !== undefined && grammar.costMin > tokensMax) {
    const message = `The shortest answer that fits takes ${grammar.costMin} tokens, more than the limit of ${tokensMax}.`;
    return fail({ kind: "invalid", message, param: "max_tokens", code: "invalid_value" });
  }
  const processors = [...model.processors];
  if (thoughts !== undefined && request.thoughtTokensMax !== undefined) {
    const budget = { tokensMax: request.thoughtTokensMax, promptTokens, thoughts };
    processors.push(thoughtBudget(model.tokenizer, budget));
  }
  const submitted = model.engine.submit({
    ...sampling,
    tokens: prompt.value.tokens,
    grammar,
    seed: sampling.seed === undefined ? randomSeed() : (foldSeed(sampling.seed) + (request.choice ?? 0)) >>> 0,
    tokensMax,
    stopTokens,
    // The engine tells of tokens where it tells of their probabilities.
    logprobs: request.logprobs ?? (request.keepTokens === true ? 0 : undefined),
    scorePrompt: request.scorePrompt === true,
    step: processors.length > 0,
  });
  if (!submitted.ok) return fail(submitFailure(submitted.failure, promptTokens, request));
  const generation = submitted.value;
  const abort = () => generation.cancel();
  signal.addEventListener("abort", abort, { once: true });
  const custom = new Set(request.tools.filter((tool) => tool.custom !== undefined).map(({ name }) => name));
  const events = toEvents(stepped(generation, processors), {
    stop: request.stop ?? [],
    holdCalls: request.holdCalls,
    ...(request.keepTokens === true ? { keptTokens: prompt.value.tokens } : {}),
    ...(request.scorePrompt === true ? { scoredTokens: prompt.value.tokens } : {}),
    logprobs: request.logprobs !== undefined,
    constraint,
    tokenBytes: (token) => tokenBytes(model.tokenizer.vocabulary, token),
    callId,
    isCustom: (name) => custom.has(name),
    cancel: abort,
  });
  const { answer } = request;
  const lexicon = answer.kind === "grammar" && answer.source.syntax === "lexicon" ? answer.source : undefined;
  const told = lexicon === undefined ? events : withLexiconWords(events, lexicon);
  const release = () => signal.removeEventListener("abort", abort);
  const end = (event: EndEvent, calls: number) => {
    logEnd(event, request, calls, log);
    ended?.(event, calls);
  };
  return ok({
    model: model.id,
    promptTokens,
    constraint,
    relaxed,
    sampling,
    events: watched(told, request, { log, end, release }),
  });
}

/** More than any context. */
const unlimited = 0xffff_ffff;

/** Lets the processors work on every parked step, and passes everything else on. */
async function* stepped(
  generation: Generation,
  processors: readonly LogitsProcessor[],
): AsyncGenerator<EngineEvent, void> {
  for await (const event of generation.events) {
    if (event.kind !== "parked") {
      yield event;
      continue;
    }
    for (const processor of processors) processor(generation.logits, generation.mask, event.tokens);
    generation.release();
  }
}

/** Tells how an answer ended. A bug on the way becomes its last event, since its headers are long gone. */
async function* watched(
  events: AsyncIterable<Event>,
  request: Request,
  {
    log,
    end,
    release,
  }: { readonly log: Log; readonly end: (event: EndEvent, calls: number) => void; readonly release: () => void },
): AsyncGenerator<Event, void> {
  let calls = 0;
  try {
    for await (const event of events) {
      if (event.kind === "call_end") calls++;
      if (event.kind === "finish" || event.kind === "failure") end(event, calls);
      yield event;
    }
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log("error", "bug", { request: request.id, reason });
    const event = { kind: "failure", failure: { kind: "engine", message: "Internal server error." } } as const;
    end(event, calls);
    yield event;
  } finally {
    release();
  }
}

function logEnd(event: EndEvent, request: Request, calls: number, log: Log): void {
  const choice = request.toolChoice.mode;
  if (isForced(request.toolChoice) && calls === 0) {
    const reason = event.kind === "finish" ? event.reason.kind : event.failure.kind;
    log("warn", "forced_without_call", { request: request.id, choice, reason });
  }
  if (event.kind === "failure") {
    log(event.failure.kind === "engine" ? "error" : "info", "answer_failed", {
      request: request.id,
      reason: event.failure.kind,
    });
    return;
  }
  const { promptTokens, cachedTokens, completionTokens, promptMs, completionMs, closedByRule } = event.usage;
  log("info", "answer", {
    request: request.id,
    reason: event.reason.kind,
    calls,
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    completion_tokens: completionTokens,
    prompt_ms: Math.round(promptMs),
    completion_ms: Math.round(completionMs),
    closed_by_rule: closedByRule,
  });
}

function submitFailure(failure: SubmitFailure, promptTokens: number, { prompt }: Request): Failure {
  switch (failure.kind) {
    case "overloaded":
      return { kind: "overloaded", message: "All slots are busy. Please try again later." };
    case "context": {
      return contextFailure({ ...failure, promptTokens }, prompt);
    }
    case "invalid":
      return { kind: "invalid", message: failure.message };
    default:
      return failure satisfies never;
  }
}

function contextFailure(
  {
    needed,
    contextMax,
    promptTokens,
  }: { readonly needed: number; readonly contextMax: number; readonly promptTokens: number },
  prompt: Request["prompt"],
  why = "",
): Failure {
  const message = `This model's maximum context length is ${contextMax} tokens${why}. However, the prompt has ${promptTokens} tokens and the shortest answer needs ${needed - promptTokens} more.`;
  const param = prompt === undefined ? {} : { param: "prompt" };
  return { kind: "context", message, promptTokens, contextMax, ...param };
}

function tokenBytes(vocabulary: VocabularyData, token: number): Uint8Array {
  return vocabulary.bytes.subarray(vocabulary.offsets[token], vocabulary.offsets[token + 1]);
}

function callId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

/** Any integer of 64 bits as the 32 bits that the engine takes; small ones stay themselves. */
function foldSeed(seed: number): number {
  return (seed ^ Math.floor(seed / 2 ** 32)) >>> 0;
}
