import { createHash, timingSafeEqual } from "node:crypto";

export type Keyring = {
  /** Whether everybody may come in. */
  readonly open: boolean;
  /** Which key the headers present, by its place in the list; undefined for none of them. */
  find(headers: Headers): number | undefined;
};

/**
 * Keys as `Authorization: Bearer KEY` or `x-api-key: KEY`. Every key is compared with every presented one, by digest and in constant time: how
 * long a refusal takes tells neither a key's length nor how much of it was right.
 */
export function createKeyring(keys: readonly string[]): Keyring {
  const known = keys.map(digest);
  return {
    open: known.length === 0,
    find(headers) {
      const presented = [bearer(headers.get("authorization")), headers.get("x-api-key")];
      let found: number | undefined;
      for (const key of presented) {
        if (key === null || key === undefined) continue;
        const given = digest(key);
        for (const [index, one] of known.entries()) if (timingSafeEqual(one, given)) found = index;
      }
      return found;
    },
  };
}

function bearer(authorization: string | null): string | undefined {
  return /^bearer +(.*)$/i.exec(authorization ?? "")?.[1];
}

function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
