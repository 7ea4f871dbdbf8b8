import type { Request } from "../../generation/request.ts";
import type { ChoiceEvent } from "./choices.ts";

/** Of the choices of a prompt the first one scores it for all. */
export function scoredOnce(request: Request): Request {
  return request.choice === 0 || request.scorePrompt !== true ? request : { ...request, scorePrompt: false };
}

/** Tells every choice of the prompt that its first one scored, and of nothing before that. */
export async function* withScoredPrompts(
  events: AsyncIterable<ChoiceEvent>,
  choicesPerPrompt: number,
): AsyncGenerator<ChoiceEvent, void> {
  const told = new Set<number>();
  const waiting: ChoiceEvent[] = [];
  for await (const item of events) {
    const promptOf = (choice: number) => Math.floor(choice / choicesPerPrompt);
    const prompt = promptOf(item.choice);
    if (item.event.kind === "prompt") {
      told.add(prompt);
      for (let index = 0; index < choicesPerPrompt; index++) {
        yield { choice: prompt * choicesPerPrompt + index, event: item.event };
      }
      yield* waiting.filter(({ choice }) => promptOf(choice) === prompt);
    } else if (told.has(prompt) || item.event.kind === "failure") yield item;
    else waiting.push(item);
  }
}
