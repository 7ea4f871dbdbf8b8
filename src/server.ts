import type { Service } from "./api/service.ts";
import { type Log, log as standardLog } from "./generate/log.ts";
import { ok, type Result } from "./generation/result.ts";
import { bodyBytesMax, bodyMs, closeMs, idleTimeoutS } from "./limits.ts";
import { createApp } from "./server/app.ts";
import { createKeyring } from "./server/auth.ts";
import { createBodies } from "./server/body.ts";
import { type Clock, systemClock } from "./server/clock.ts";
import { createCors } from "./server/cors.ts";
import { createDoor } from "./server/door.ts";
import { createHttpMeter } from "./server/http-meter.ts";
import { type Listening, listen } from "./server/listen.ts";
import { createRateLimit } from "./server/rate-limit.ts";
import { createRoutes } from "./server/routes.ts";
import { createVisits, type Visits } from "./server/visits.ts";

export type Server = {
  readonly url: URL;
  /**
   * Takes no further work, lets running answers finish for at most `graceMs`, then cancels them. Resolves when the
   * last connection is closed.
   */
  stop(graceMs: number): Promise<void>;
};

export type ServerOptions = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** A socket in the file system, instead of host and port. */
  readonly unix?: string | undefined;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Whoever has none of them is refused; without any, nobody is. */
  readonly apiKeys?: readonly string[];
  readonly corsOrigins?: readonly string[];
  /** Of one key, or of one address where there are no keys; undefined is as many as come. */
  readonly requestsPerMinute?: number | undefined;
  readonly bodyBytesMax?: number;
  /** Seconds that a client may neither send nor take anything while it is its turn. */
  readonly idleTimeoutS?: number;
  readonly log?: Log;
  /** For what a client may take its time with; the machine's own unless a test brings another. */
  readonly clock?: Clock;
};

/** Answers for a service at an address. The failure is a sentence for the user. */
export function startServer(service: Service, options: ServerOptions): Result<Server, string> {
  let stopping = false;
  const visits = createVisits();
  const meter = createHttpMeter(visits);
  const keyring = createKeyring(options.apiKeys ?? []);
  const app = createApp(service, { meter, open: keyring.open, stopping: () => stopping });
  const { requestsPerMinute, clock = systemClock } = options;
  const door = createDoor({
    routes: createRoutes(app.routes),
    handle: async (http) => app.handle(http),
    keyring,
    cors: createCors(options.corsOrigins ?? []),
    rateLimit: requestsPerMinute === undefined ? undefined : createRateLimit(requestsPerMinute),
    bodies: createBodies({ bytesMax: options.bodyBytesMax ?? bodyBytesMax, timeoutMs: bodyMs, clock }),
    clock,
    visits,
    meter,
    log: options.log ?? standardLog,
    idleTimeoutS: options.idleTimeoutS ?? idleTimeoutS,
    stopping: () => stopping,
  });
  const { host, port, unix, tls } = options;
  const listening = listen({ host, port, unix, tls }, options.idleTimeoutS ?? idleTimeoutS, door);
  if (!listening.ok) return listening;
  return ok({
    url: listening.value.url,
    stop(graceMs) {
      stopping = true;
      return drain(listening.value, visits, graceMs);
    },
  });
}

/** Requests that were taken are answered to the last byte; new ones are refused, on old and new connections, until then. */
async function drain(listening: Listening, visits: Visits, graceMs: number): Promise<void> {
  const patience = setTimeout(() => visits.cancel(), graceMs);
  // A visit may not end although it was cancelled, and a connection may never close by itself.
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let force = setTimeout(resolve, graceMs + closeMs);
  await Promise.race([visits.empty(), over]);
  clearTimeout(patience);
  clearTimeout(force);
  force = setTimeout(() => listening.stop(true), closeMs);
  await listening.stop(false);
  clearTimeout(force);
}
