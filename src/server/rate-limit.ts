import { rateClientsMax } from "../limits.ts";

export type RateLimit = {
  /** Takes one request of this client; or says in how many seconds the next one is due. */
  take(client: string, nowMs: number): number | undefined;
};

/** A bucket a client, that holds as many requests as a minute brings: a burst of a minute's worth is fine, then one at a time. */
export function createRateLimit(requestsPerMinute: number): RateLimit {
  const msEach = 60_000 / requestsPerMinute;
  /** When the client's bucket is full again; the map's order is that of last use. */
  const fullAt = new Map<string, number>();
  return {
    take(client, nowMs) {
      const full = Math.max(nowMs, fullAt.get(client) ?? nowMs);
      const tooEarlyMs = full + msEach - nowMs - 60_000;
      if (tooEarlyMs > 0) return Math.ceil(tooEarlyMs / 1000);
      fullAt.delete(client);
      fullAt.set(client, full + msEach);
      if (fullAt.size > rateClientsMax) for (const [oldest] of fullAt.entries().take(1)) fullAt.delete(oldest);
      return undefined;
    },
  };
}
