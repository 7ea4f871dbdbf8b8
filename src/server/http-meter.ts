import { counter, single } from "./prometheus.ts";
import type { Visits } from "./visits.ts";

/** What is counted of HTTP itself. */
export type HttpMeter = {
  answered(shape: string, status: number, left: boolean): void;
  /** Prometheus text. */
  text(): string;
};

export function createHttpMeter(visits: Visits): HttpMeter {
  const answers = counter("tenon_http_requests_total", "Requests answered, by shape and status.");
  const departures = counter(
    "tenon_http_disconnects_total",
    "Requests whose client went away before the answer's end.",
  );
  return {
    answered(shape, status, left) {
      answers.add({ shape, status: String(status) });
      if (left) departures.add({ shape });
    },
    text: () =>
      answers.text() +
      departures.text() +
      single(
        "tenon_http_requests_open",
        "gauge",
        "Requests not answered to the last byte, this one too.",
        visits.count,
      ),
  };
}
