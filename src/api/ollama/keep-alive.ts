import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";

/**
 * Seconds for which a model shall stay loaded; below 0 is forever, undefined where nothing was said. A number is seconds, a text one of
 * Go's durations (`1h30m`, `500ms`) or a number. Nothing depends on it but the answer to a request that asks for nothing else: the one
 * model stays loaded.
 */
export function decodeKeepAlive(value: string | number | null | undefined): Result<number | undefined, Failure> {
  if (value === undefined || value === null) return ok(undefined);
  const seconds = typeof value === "number" ? value : secondsOf(value.trim());
  if (seconds !== undefined && Number.isFinite(seconds)) return ok(seconds);
  const message = `Invalid value for 'keep_alive': expected seconds, or a duration such as '5m', but got ${JSON.stringify(value)}.`;
  return fail({ kind: "invalid", message, param: "keep_alive", code: "invalid_value" });
}

function secondsOf(text: string): number | undefined {
  const [, sign, rest = ""] = /^([+-]?)(.*)$/.exec(text) ?? [];
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|$)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== rest) return undefined;
  const seconds = parts.reduce((sum, [, number, unit]) => sum + Number(number) * (unitSeconds.get(unit ?? "") ?? 1), 0);
  return sign === "-" ? -seconds : seconds;
}

const unitSeconds = new Map([
  ["ns", 1e-9],
  ["us", 1e-6],
  ["µs", 1e-6],
  ["μs", 1e-6],
  ["ms", 1e-3],
  ["s", 1],
  ["m", 60],
  ["h", 3600],
]);
