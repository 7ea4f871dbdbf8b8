import type { Refusal } from "../api/refusal.ts";
import { callerHeader, requestIdHeader } from "../api/room.ts";
import type { Log } from "../generate/log.ts";
import type { Failure } from "../generation/failure.ts";
import type { Keyring } from "./auth.ts";
import type { Bodies } from "./body.ts";
import type { Clock } from "./clock.ts";
import type { Cors } from "./cors.ts";
import { deliver } from "./deliver.ts";
import type { HttpMeter } from "./http-meter.ts";
import { healthPaths } from "./own-routes.ts";
import type { RateLimit } from "./rate-limit.ts";
import { type NamedRoom, roomOf } from "./rooms.ts";
import type { Found, Routes } from "./routes.ts";
import type { Visit, Visits } from "./visits.ts";

/** What Bun's server can say and do about a request's connection. */
export type Connection = {
  timeout(request: Request, seconds: number): void;
  requestIP(request: Request): { readonly address: string } | null;
};

export type DoorOptions = {
  readonly routes: Routes;
  /** Answers a request that may come in. */
  readonly handle: (http: Request) => Promise<Response>;
  readonly keyring: Keyring;
  readonly cors: Cors;
  readonly rateLimit: RateLimit | undefined;
  readonly bodies: Bodies;
  readonly clock: Clock;
  readonly visits: Visits;
  readonly meter: HttpMeter;
  readonly log: Log;
  /** Seconds that a client may neither send nor take anything while it is its turn. */
  readonly idleTimeoutS: number;
  /** Whether nothing new is taken. */
  readonly stopping: () => boolean;
};

/**
 * The way of every HTTP request: preflight, key, rate, route, body; then a room; then what every answer carries, and the line in the log.
 * Whatever is refused on the way is refused in the shape of the room that the path belongs to.
 */
export function createDoor(options: DoorOptions): (http: Request, connection: Connection) => Promise<Response> {
  const { visits, clock, log } = options;
  return async (http, connection) => {
    const startMs = clock.now();
    const target = targetOf(http.url);
    const path = target.split(/[?#]/, 1)[0] ?? "";
    const room = roomOf(path, http.headers);
    const route = options.routes.find(path);
    const key = options.keyring.find(http.headers);
    const arrival: Arrival = { http, connection, target, path, room, route, key, id: takeRequestId(http.headers) };
    const visit = visits.enter(http.signal);
    const response = await answerOf(arrival, visit, options).catch((error: unknown) => {
      // Expected failures are values, so this is a bug: the request fails, the others go on.
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      log("error", "bug", { request: arrival.id, reason });
      return room.errorResponse({ kind: "engine", message: "Internal server error." }, arrival.id);
    });
    return finish(response, arrival, options, (left) => {
      visit.leave();
      record(arrival, { status: response.status, left, ms: Math.round(clock.now() - startMs) }, options);
    });
  };
}

type Arrival = {
  readonly http: Request;
  readonly connection: Connection;
  /** Path and query, as they were sent. */
  readonly target: string;
  readonly path: string;
  readonly room: NamedRoom;
  /** Undefined for a path that nothing serves. */
  readonly route: Found | undefined;
  /** The place of the key that was presented; undefined for none that is known. */
  readonly key: number | undefined;
  readonly id: string;
};

async function answerOf(arrival: Arrival, visit: Visit, options: DoorOptions): Promise<Response> {
  const { http, connection, path, room, id } = arrival;
  const { cors, bodies, handle, idleTimeoutS } = options;
  const preflight = cors.preflight(http.method, http.headers);
  if (preflight !== undefined) return preflight;
  const refusal = refusalOf(arrival, options);
  if (refusal !== undefined) return room.errorResponse(refusal, id);
  if (room.streamsBody?.(path) === true) return handle(inner(arrival, visit, http.body));
  const body = await bodies.read(http);
  if (!body.ok) return room.errorResponse(body.failure, id);
  try {
    // From here on the client waits for us: a long prompt is no reason to cut the connection.
    connection.timeout(http, 0);
    return await handle(inner(arrival, visit, body.value.bytes));
  } finally {
    body.value.release();
    connection.timeout(http, idleTimeoutS);
  }
}

function refusalOf(arrival: Arrival, options: DoorOptions): Refusal | Failure | undefined {
  const { http, connection, path, route, key } = arrival;
  const { keyring, rateLimit, clock } = options;
  if (!healthPaths.includes(path)) {
    if (options.stopping()) return { kind: "overloaded", message: "The server is stopping." };
    if (key === undefined && !keyring.open) return { kind: "unauthorized" };
    const client = key === undefined ? (connection.requestIP(http)?.address ?? "local") : `key ${key}`;
    const retryAfterS = rateLimit?.take(client, clock.now());
    if (retryAfterS !== undefined) return { kind: "rate_limited", retryAfterS };
  }
  const { method } = http;
  if (route === undefined) return { kind: "unknown_url", method, path };
  return route.methods.includes(method) ? undefined : { kind: "wrong_method", method, path, allow: route.methods };
}

/** What a room sees: the request under its id and its caller's name, with its whole body, under a URL that any client's `host` header leaves readable. */
function inner(
  { http, target, route, key, id }: Arrival,
  { signal }: Visit,
  body: ReadableStream | Uint8Array<ArrayBuffer> | null,
): Request {
  const headers = new Headers(http.headers);
  headers.set(requestIdHeader, id);
  if (key === undefined) headers.delete(callerHeader);
  else headers.set(callerHeader, `key-${key}`);
  // Bun leaves the body of an answer to HEAD away.
  const method = http.method === "HEAD" && route?.methods.includes("GET") ? "GET" : http.method;
  const bodiless = method === "GET" || method === "HEAD";
  return new Request(`http://tenon${target}`, { method, headers, signal, ...(bodiless ? {} : { body }) });
}

/** Adds what every answer carries, and tells of its last byte. */
function finish(
  response: Response,
  { http, connection, id }: Arrival,
  { cors, idleTimeoutS }: DoorOptions,
  end: (left: boolean) => void,
): Response {
  const { headers, status } = response;
  // OpenAI's clients read the one id, Anthropic's the other.
  for (const [name, value] of Object.entries({
    [requestIdHeader]: id,
    "request-id": id,
    ...cors.headers(http.headers),
  }))
    headers.set(name, value);
  // Only a stream is looked at: the body of another answer keeps its length.
  const body = isStream(headers) ? response.body : null;
  if (body === null) {
    end(http.signal.aborted);
    return response;
  }
  const delivered = deliver(body, {
    onWait: (side) => connection.timeout(http, side === "model" ? 0 : idleTimeoutS),
    onEnd: end,
  });
  return new Response(delivered, { status, headers });
}

function isStream(headers: Headers): boolean {
  return /^(text\/event-stream|application\/x-ndjson)\b/.test(headers.get("content-type") ?? "");
}

function record(
  { http, path, room, route, id }: Arrival,
  { status, left, ms }: { readonly status: number; readonly left: boolean; readonly ms: number },
  { meter, log }: DoorOptions,
): void {
  meter.answered(room.name, status, left);
  if (healthPaths.includes(path)) return;
  const pattern = route?.pattern ?? "unknown";
  log("info", "request", { request: id, shape: room.name, method: http.method, route: pattern, status, ms, left });
}

/** The caller's own id where it is one that can stand in a log line, else a fresh one. */
function takeRequestId(headers: Headers): string {
  const given = headers.get(requestIdHeader);
  return given !== null && /^[\w.:-]{1,64}$/.test(given) ? given : `req_${crypto.randomUUID().replaceAll("-", "")}`;
}

/**
 * Path and query of a URL, which a strange `host` header can have made one that nobody can parse. A base that ends with a slash, and a path
 * that begins with one, make two; a fragment is the client's own business.
 */
function targetOf(url: string): string {
  const target = url.startsWith("/") ? url : url.slice(url.indexOf("/", url.indexOf("://") + 3));
  return target.replace(/^\/{2,}/, "/").replace(/#.*$/, "");
}
