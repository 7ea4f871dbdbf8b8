import { Elysia } from "elysia";
import { errorResponse, unknownUrl, wrongMethod } from "./api/openai/error.ts";
import { openaiRoutes } from "./api/openai/routes.ts";
import type { Service } from "./api/service.ts";
import { type Log, log as standardLog } from "./generate/log.ts";
import { fail, ok, type Result } from "./generation/result.ts";
import { bodyBytesHardMax, closeMs, idleTimeoutS } from "./limits.ts";

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
  readonly log?: Log;
};

/** Mounts the api rooms over a service and listens. The failure is a sentence for the user. */
export function startServer(
  service: Service,
  { host, port, log = standardLog }: ServerOptions,
): Result<Server, string> {
  const stopping = new AbortController();
  const cancelled = new AbortController();
  const guarded: Service = {
    ...service,
    async answer(request, signal) {
      if (stopping.signal.aborted) return fail({ kind: "overloaded", message: "The server is stopping." });
      return service.answer(request, AbortSignal.any([signal, cancelled.signal]));
    },
  };
  const health = () =>
    stopping.signal.aborted
      ? errorResponse({ kind: "overloaded", message: "The server is stopping." })
      : Response.json({ status: "ok" });

  const app = new Elysia({ normalize: false })
    .onRequest(({ request, set }) => {
      set.headers["x-request-id"] = requestId(request);
    })
    .onError(({ code, error, request, set }) => {
      const { method, url } = request;
      const path = new URL(url).pathname;
      if (code === "NOT_FOUND") {
        const allow = methodsOf(path, app.routes);
        return allow.length === 0 ? unknownUrl(method, path) : wrongMethod(method, path, allow);
      }
      // Expected failures are values, so this is a bug: the request fails, the others go on.
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(code);
      log("error", "bug", { request: String(set.headers["x-request-id"]), method, path, reason });
      return errorResponse({ kind: "engine", message: "Internal server error." });
    })
    .get("/", health)
    .get("/health", health)
    .get("/v1/health", health)
    .use(openaiRoutes(guarded));
  try {
    // Elysia's own default shares the port with whoever else listens there.
    const reusePort = false;
    app.listen({ hostname: host, port, reusePort, idleTimeout: idleTimeoutS, maxRequestBodySize: bodyBytesHardMax });
  } catch (error) {
    return fail(`Nobody can listen at ${host}:${port}: ${error instanceof Error ? error.message : error}`);
  }

  const { server } = app;
  if (server === null) throw new Error("Elysia listens and has no server");
  return ok({
    url: server.url,
    async stop(graceMs) {
      stopping.abort();
      const closed = server.stop();
      const grace = setTimeout(() => cancelled.abort(), graceMs);
      // A connection may never close by itself, such as one whose body was refused while it was still being sent.
      const force = setTimeout(() => server.stop(true), graceMs + closeMs);
      await closed;
      clearTimeout(grace);
      clearTimeout(force);
    },
  });
}

/** The caller's own id where it is one that can stand in a log line, else a fresh one. */
function requestId(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && /^[\w.:-]{1,64}$/.test(given) ? given : `req_${crypto.randomUUID().replaceAll("-", "")}`;
}

/** The methods under which a path is served; of patterns there is only a trailing `*`. */
function methodsOf(path: string, routes: readonly { readonly method: string; readonly path: string }[]): string[] {
  const fits = (pattern: string) =>
    pattern.endsWith("*") ? path.length >= pattern.length && path.startsWith(pattern.slice(0, -1)) : path === pattern;
  return [...new Set(routes.filter((route) => fits(route.path)).map((route) => route.method))];
}
