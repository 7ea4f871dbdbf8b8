/**
 * Prometheus' text format, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats. Label values are the program's own words,
 * never a caller's, so that there are few.
 */
export type Labels = Readonly<Record<string, string>>;

export type Counter = {
  add(labels: Labels, amount?: number): void;
  text(): string;
};

/** A sum for each set of labels. */
export function counter(name: string, help: string): Counter {
  const sums = new Map<string, number>();
  return {
    add(labels, amount = 1) {
      const key = labelsText(labels);
      sums.set(key, (sums.get(key) ?? 0) + amount);
    },
    text: () =>
      metric(
        name,
        "counter",
        help,
        [...sums].map(([labels, sum]) => [labels, sum]),
      ),
  };
}

export type Summary = { observe(value: number): void; text(): string };

/** How many values there were, and their sum: what a rate or a mean is made of. */
export function summary(name: string, help: string): Summary {
  let sum = 0;
  let count = 0;
  return {
    observe(value) {
      sum += value;
      count++;
    },
    text: () =>
      metric(name, "summary", help, [
        ["_sum", sum],
        ["_count", count],
      ]),
  };
}

/** One metric without labels. */
export function single(name: string, type: "counter" | "gauge", help: string, value: number): string {
  return metric(name, type, help, [["", value]]);
}

/** A sample is what stands after the name, and its value. */
function metric(name: string, type: string, help: string, samples: readonly (readonly [string, number])[]): string {
  const lines = samples.map(([rest, value]) => `${name}${rest} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

export const prometheusType = "text/plain; version=0.0.4; charset=utf-8";
