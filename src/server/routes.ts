/** What the mounted routes say about a path, before any of them runs. */
export type Routes = {
  /** The route that a path belongs to; undefined for an unknown path. */
  find(path: string): Found | undefined;
};

export type Found = {
  /** Of these there are few, where paths may say anything. */
  readonly pattern: string;
  /** HEAD wherever GET is. */
  readonly methods: readonly string[];
};

/**
 * Patterns as Elysia has them: `:name` for one segment, a trailing `*` for the rest; a trailing slash changes nothing. Of several patterns that
 * fit, the one that says most counts, and the methods of the others do not.
 */
export function createRoutes(routes: readonly { readonly method: string; readonly path: string }[]): Routes {
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const known = methods.get(path) ?? new Set();
    for (const each of method === "GET" ? ["GET", "HEAD"] : [method]) known.add(each);
    methods.set(path, known);
  }
  const known = [...methods]
    .map(([pattern, of]) => ({ pattern, fits: expressionOf(pattern), methods: [...of] }))
    .sort((a, b) => wildness(a.pattern) - wildness(b.pattern));
  return { find: (path) => known.find(({ fits }) => fits.test(path)) };
}

function expressionOf(pattern: string): RegExp {
  const segments = pattern.split("/").map((segment) => {
    if (segment === "*") return ".+";
    return segment.startsWith(":") ? "[^/]+" : RegExp.escape(segment);
  });
  return new RegExp(`^${segments.join("/")}${pattern.endsWith("/") ? "" : "/?"}$`);
}

function wildness(pattern: string): number {
  return pattern.endsWith("*") ? 2 : Number(pattern.includes(":"));
}
