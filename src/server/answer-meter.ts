import type { Service } from "../api/service.ts";
import type { Event } from "../generation/event.ts";
import { counter, summary } from "./prometheus.ts";

/** What is counted of answers, in any shape: which were admitted under which constraint, and how long the first event took. */
export type AnswerMeter = {
  /** The same service, counted. */
  readonly service: Service;
  /** Prometheus text. */
  text(): string;
};

export function meterAnswers(service: Service): AnswerMeter {
  const admitted = counter("tenon_answers_admitted_total", "Answers begun, by constraint.");
  const refused = counter("tenon_answers_refused_total", "Answers refused before the first token, by reason.");
  const relaxed = counter("tenon_answers_relaxed_total", "Answers begun whose constraint was widened on request.");
  const firstEvent = summary("tenon_first_event_seconds", "From admission to the first event: queue and prompt.");
  async function* timed(events: AsyncIterable<Event>, startMs: number): AsyncGenerator<Event, void> {
    let first = true;
    for await (const event of events) {
      if (first && event.kind !== "progress") {
        first = false;
        firstEvent.observe((performance.now() - startMs) / 1000);
      }
      yield event;
    }
  }
  return {
    service: {
      ...service,
      async answer(request, signal) {
        const startMs = performance.now();
        const answer = await service.answer(request, signal);
        if (!answer.ok) {
          refused.add({ reason: answer.failure.kind });
          return answer;
        }
        const { constraint, events } = answer.value;
        admitted.add({ constraint });
        if (answer.value.relaxed.length > 0) relaxed.add({});
        return { ok: true, value: { ...answer.value, events: timed(events, startMs) } };
      },
    },
    text: () => [admitted, refused, relaxed, firstEvent].map((each) => each.text()).join(""),
  };
}
