import { fail, ok, type Result } from "../generation/result.ts";
import type { Connection } from "./door.ts";

export type Address = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** A socket in the file system, instead of host and port. */
  readonly unix: string | undefined;
  /** Paths of PEM files. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
};

export type Listening = { readonly url: URL; stop(now: boolean): Promise<void> };

/** Takes connections. The failure is a sentence for the user. */
export function listen(
  { host, port, unix, tls }: Address,
  idleTimeout: number,
  fetch: (http: Request, connection: Connection) => Promise<Response>,
): Result<Listening, string> {
  const place = unix ?? `${host}:${port}`;
  const secure = tls === undefined ? {} : { tls: { cert: Bun.file(tls.cert), key: Bun.file(tls.key) } };
  // The bodies' bound is our own, since Bun's answer to a larger one is empty.
  const common = { ...secure, fetch, idleTimeout, maxRequestBodySize: Number.MAX_SAFE_INTEGER };
  try {
    const server =
      unix === undefined
        ? Bun.serve({ ...common, hostname: host, port })
        : Bun.serve({ fetch, maxRequestBodySize: Number.MAX_SAFE_INTEGER, ...secure, unix });
    return ok({ url: server.url, stop: (now) => server.stop(now) });
  } catch (error) {
    return fail(`Nobody can listen at ${place}: ${error instanceof Error ? error.message : error}`);
  }
}
