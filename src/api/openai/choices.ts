import type { Answer } from "../../generation/answer.ts";
import type { Event, Usage } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import type { Request } from "../../generation/request.ts";
import { ok, type Result } from "../../generation/result.ts";
import type { Service } from "../service.ts";

/** Several answers of one HTTP request, running side by side. */
export type Choices = Pick<Answer, "model" | "constraint" | "relaxed"> & {
  /** As they come; within a choice in order. Ends when each has had its last event, or after the first failure. */
  readonly events: AsyncIterable<ChoiceEvent>;
};

export type ChoiceEvent = { readonly choice: number; readonly event: Event };

/** Admits every request or none: where one is refused, those before it are cancelled. */
export async function admitChoices(
  service: Pick<Service, "answer">,
  requests: readonly Request[],
  signal: AbortSignal,
): Promise<Result<Choices, Failure>> {
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const answers: Answer[] = [];
  for (const request of requests) {
    const answer = await service.answer(request, until);
    if (!answer.ok) {
      stop.abort();
      await Promise.all(answers.map(({ events }) => Array.fromAsync(events)));
      return answer;
    }
    answers.push(answer.value);
  }
  const [first] = answers;
  if (first === undefined) throw new Error("a request for no answer");
  const { model, constraint, relaxed } = first;
  const streams = answers.map(({ events }) => events);
  return ok({ model, constraint, relaxed, events: multiplexed(streams, () => stop.abort()) });
}

/** The same request n times, so that choice 0 is what a request for one would give. */
export function repeated(request: Request, n: number): readonly Request[] {
  return Array.from({ length: n }, (_, choice) => ({ ...request, choice }));
}

/** What all choices cost: a prompt that several answer is read, and counted, once. */
export function sumUsage(usages: readonly Usage[], choicesPerPrompt: number): Usage {
  const [first, ...others] = usages;
  if (first === undefined) throw new Error("no usage to add up");
  return others.reduce((sum, usage, index) => {
    const newPrompt = (index + 1) % choicesPerPrompt === 0;
    return {
      promptTokens: sum.promptTokens + (newPrompt ? usage.promptTokens : 0),
      cachedTokens: sum.cachedTokens + (newPrompt ? usage.cachedTokens : 0),
      completionTokens: sum.completionTokens + usage.completionTokens,
      reasoningTokens: sum.reasoningTokens + usage.reasoningTokens,
      promptMs: sum.promptMs + (newPrompt ? usage.promptMs : 0),
      completionMs: Math.max(sum.completionMs, usage.completionMs),
      closedByRule: sum.closedByRule || usage.closedByRule,
    };
  }, first);
}

async function* multiplexed(
  streams: readonly AsyncIterable<Event>[],
  stop: () => void,
): AsyncGenerator<ChoiceEvent, void> {
  const iterators = streams.map((stream) => stream[Symbol.asyncIterator]());
  const next = async (choice: number) => ({ choice, result: await iterators[choice]?.next() });
  const pending = new Map(iterators.map((_, choice) => [choice, next(choice)] as const));
  try {
    while (pending.size > 0) {
      const { choice, result } = await Promise.race(pending.values());
      if (result === undefined || result.done) {
        pending.delete(choice);
        continue;
      }
      pending.set(choice, next(choice));
      yield { choice, event: result.value };
      if (result.value.kind === "failure") return;
    }
  } finally {
    if (pending.size > 0) stop();
    await Promise.all(iterators.map((iterator) => iterator.return?.()));
  }
}
