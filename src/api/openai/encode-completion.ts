import type { Event, PromptToken, TokenLogprob, Usage } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { lexiconField } from "../lexicon-field.ts";
import { errorBody } from "../openai-error.ts";
import { LegacyLogprobs } from "../openai-logprobs.ts";
import { sseData, sseDone } from "../sse.ts";
import { type ChoiceEvent, sumUsage } from "./choices.ts";
import { encodeFinish, type Frame, head } from "./frame.ts";
import { encodeTimings, encodeUsage } from "./usage.ts";

/** How the answers of one completion are to be written. */
export type CompletionFrame = Frame & {
  /** What stands in front of each choice's text. */
  readonly echoes: readonly string[];
  /** Of each prompt's choices, so many are given back: the likeliest, where there are more. */
  readonly kept: number;
  readonly logprobs: boolean;
  /** Whether the tokens in front have log-probabilities too. */
  readonly scored: boolean;
};

/** Events → the body of an answer without stream. */
export async function encodeCompletion(
  frame: CompletionFrame,
  events: AsyncIterable<ChoiceEvent>,
): Promise<Result<object, Failure>> {
  const choices = frame.echoes.map((echo): Collected => ({ echo, prompt: [], text: "", entries: [], end: undefined }));
  for await (const { choice, event } of events) {
    const collected = choices[choice];
    if (event.kind === "failure") return fail(event.failure);
    if (event.kind === "prompt" && collected !== undefined) collected.prompt = event.tokens;
    if (event.kind === "text" && collected !== undefined) {
      collected.text += event.text;
      collected.entries.push(...event.logprobs);
    }
    if (event.kind === "finish" && collected !== undefined) collected.end = event;
  }
  const usages = choices.flatMap(({ end }) => end?.usage ?? []);
  if (usages.length < choices.length) return fail({ kind: "engine", message: "The answer ended without a finish." });
  const usage = sumUsage(usages, frame.choicesPerPrompt);
  return ok({
    ...head(frame, "text_completion"),
    choices: likeliest(choices, frame).map(({ echo, prompt, text, entries, end }, index) => ({
      text: echo + text,
      index,
      logprobs: frame.logprobs ? new LegacyLogprobs(echo, prompt).encode([...prompt, ...entries]) : null,
      finish_reason: end === undefined ? null : encodeFinish(end.reason, "tool_calls"),
      ...lexiconField(end?.words),
    })),
    usage: encodeUsage(usage),
    timings: encodeTimings(usage),
  });
}

/** Of each prompt's choices those whose tokens are the likeliest on average, the best first; all as they are where all are kept. */
function likeliest(choices: readonly Collected[], { choicesPerPrompt, kept }: CompletionFrame): readonly Collected[] {
  if (kept === choicesPerPrompt) return choices;
  const mean = ({ end }: Collected) => end?.meanLogprob ?? Number.NEGATIVE_INFINITY;
  return Array.from({ length: choices.length / choicesPerPrompt }, (_, prompt) =>
    choices
      .slice(prompt * choicesPerPrompt, (prompt + 1) * choicesPerPrompt)
      .sort((a, b) => mean(b) - mean(a))
      .slice(0, kept),
  ).flat();
}

type Collected = {
  readonly echo: string;
  prompt: readonly PromptToken[];
  text: string;
  readonly entries: TokenLogprob[];
  end: Extract<Event, { kind: "finish" }> | undefined;
};

/** Events → the frames of a stream up to `[DONE]`. */
export async function* encodeCompletionStream(
  frame: CompletionFrame,
  events: AsyncIterable<ChoiceEvent>,
): AsyncGenerator<string, void> {
  const start = head(frame, "text_completion");
  const usageSoFar = frame.includeUsage ? { usage: null } : {};
  const chunk = (choice: object, rest: object = {}) => sseData({ ...start, choices: [choice], ...usageSoFar, ...rest });
  const writers = frame.echoes.map((echo) => new LegacyLogprobs(echo));
  const usages: Usage[] = [];

  for (const [index, text] of frame.echoes.entries()) {
    if (text !== "" && !frame.scored) yield chunk({ text, index, logprobs: null, finish_reason: null });
  }
  for await (const { choice: index, event } of events) {
    if (event.kind === "failure") {
      yield sseData(errorBody(event.failure));
      yield sseDone;
      return;
    }
    if (event.kind === "prompt") {
      const text = frame.echoes[index] ?? "";
      const writer = new LegacyLogprobs(text, event.tokens);
      writers[index] = writer;
      yield chunk({ text, index, logprobs: writer.encode(event.tokens), finish_reason: null });
    }
    if (event.kind === "text") {
      const logprobs = frame.logprobs ? (writers[index]?.encode(event.logprobs) ?? null) : null;
      yield chunk({ text: event.text, index, logprobs, finish_reason: null });
    }
    if (event.kind === "finish") {
      usages[index] = event.usage;
      const reason = encodeFinish(event.reason, "tool_calls");
      const last = { text: "", index, logprobs: null, finish_reason: reason, ...lexiconField(event.words) };
      yield chunk(last, { timings: encodeTimings(event.usage) });
    }
  }
  if (frame.includeUsage) {
    const usage = sumUsage(usages, frame.choicesPerPrompt);
    yield sseData({ ...start, choices: [], usage: encodeUsage(usage), timings: encodeTimings(usage) });
  }
  yield sseDone;
}
