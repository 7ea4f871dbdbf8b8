import { Elysia } from "elysia";
import { greeting } from "./api/ollama/routes.ts";
import { errorResponse } from "./api/openai-error.ts";
import type { Service } from "./api/service.ts";
import { product } from "./config.ts";
import { type Log, log as standardLog } from "./generate/log.ts";
import { ok, type Result } from "./generation/result.ts";
import { bodyBytesMax, bodyMs, closeMs, idleTimeoutS } from "./limits.ts";
import { meterAnswers } from "./server/answer-meter.ts";
import { createKeyring } from "./server/auth.ts";
import { createBodies } from "./server/body.ts";
import { createCors } from "./server/cors.ts";
import { createDoor } from "./server/door.ts";
import { createHttpMeter } from "./server/http-meter.ts";
import { type Listening, listen } from "./server/listen.ts";
import { engineMetrics, processMetrics } from "./server/metrics.ts";
import { openapiDocument } from "./server/openapi.ts";
import { healthPaths, ownDocument } from "./server/own-routes.ts";
import { prometheusType } from "./server/prometheus.ts";
import { createRateLimit } from "./server/rate-limit.ts";
import { mountRooms, roomDocuments } from "./server/rooms.ts";
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
  /** Milliseconds for a body to arrive. */
  readonly bodyMs?: number;
  /** Seconds that a client may neither send nor take anything while it is its turn. */
  readonly idleTimeoutS?: number;
  readonly log?: Log;
};

/** Mounts the api rooms over a service and listens. The failure is a sentence for the user. */
export function startServer(service: Service, options: ServerOptions): Result<Server, string> {
  let stopping = false;
  const visits = createVisits();
  const meter = createHttpMeter();
  const answers = meterAnswers(service);
  const health = ({ path, request }: { readonly path: string; readonly request: Request }) => {
    if (stopping) return errorResponse({ kind: "overloaded", message: "The server is stopping." });
    return (path === "/" ? greeting(request.headers) : undefined) ?? Response.json({ status: "ok" });
  };
  const metrics = () => engineMetrics(service.status()) + answers.text() + meter.text() + processMetrics();
  const keyring = createKeyring(options.apiKeys ?? []);

  const app = new Elysia({ normalize: false })
    .onError(({ error }) => {
      throw error;
    })
    .get("/metrics", () => new Response(metrics(), { headers: { "content-type": prometheusType } }))
    .get("/openapi.json", () => Response.json(document))
    .use(mountRooms(answers.service));
  for (const path of healthPaths) app.get(path, health);
  const documents = [ownDocument, ...roomDocuments];
  const document = openapiDocument(app.routes, documents, { version: product.version, open: keyring.open });

  const { requestsPerMinute } = options;
  const door = createDoor({
    routes: createRoutes(app.routes),
    handle: async (http) => app.handle(http),
    keyring,
    cors: createCors(options.corsOrigins ?? []),
    rateLimit: requestsPerMinute === undefined ? undefined : createRateLimit(requestsPerMinute),
    bodies: createBodies({ bytesMax: options.bodyBytesMax ?? bodyBytesMax, timeoutMs: options.bodyMs ?? bodyMs }),
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
