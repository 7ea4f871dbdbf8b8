import { preflightMaxAgeS } from "../limits.ts";

export type Cors = {
  /** What an answer to this request carries, so that a page of an allowed origin may read it. */
  headers(request: Headers): Readonly<Record<string, string>>;
  /** The answer to a browser's question whether it may send a request; undefined when this is no such question, or the origin may not ask. */
  preflight(method: string, request: Headers): Response | undefined;
};

/** Cross-origin reading for these origins (`https://app.example`), for all (`*`), or for none. */
export function createCors(origins: readonly string[]): Cors {
  const everybody = origins.includes("*");
  const allowed = (request: Headers) => {
    const origin = request.get("origin");
    return origin !== null && (everybody || origins.includes(origin)) ? origin : undefined;
  };
  const headers = (request: Headers): Record<string, string> => {
    if (origins.length === 0) return {};
    const origin = allowed(request);
    const vary: Record<string, string> = everybody ? {} : { vary: "Origin" };
    if (origin === undefined) return vary;
    return {
      ...vary,
      "access-control-allow-origin": everybody ? "*" : origin,
      "access-control-expose-headers": exposed,
    };
  };
  return {
    headers,
    preflight(method, request) {
      if (method !== "OPTIONS" || !request.has("access-control-request-method")) return undefined;
      if (allowed(request) === undefined) return undefined;
      const wanted = request.get("access-control-request-headers");
      return new Response(null, {
        status: 204,
        headers: {
          ...headers(request),
          "access-control-allow-methods": "GET, HEAD, POST, PUT, DELETE",
          ...(wanted === null ? {} : { "access-control-allow-headers": wanted }),
          "access-control-max-age": String(preflightMaxAgeS),
        },
      });
    },
  };
}

const exposed = "x-request-id, request-id, retry-after, x-tenon-constraint, x-tenon-relaxed, x-tenon-ignored";
