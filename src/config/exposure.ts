import type { Config } from "../config.ts";

/** A sentence for whoever starts a server that others can reach, and that asks nobody for a key; undefined for every other one. */
export function exposureNote({ host, unix, apiKeys }: Pick<Config, "host" | "unix" | "apiKeys">): string | undefined {
  if (unix !== undefined || apiKeys.length > 0 || isLoopback(host)) return undefined;
  return `Without --api-key whoever reaches ${host} may use this server, and change its models.`;
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);
}
