/** What the mounted routes say about a path, before any of them runs. */
export type Routes = {
  /** The methods under which a path is served, HEAD wherever GET is; empty for an unknown path. */
  methods(path: string): readonly string[];
  /** The patterns of the routes a path fits, which are few, where paths may say anything; undefined for an unknown path. */
  pattern(path: string): string | undefined;
};

/** Patterns as Elysia has them: `:name` for one segment, a trailing `*` for the rest; a trailing slash changes nothing. */
export function createRoutes(routes: readonly { readonly method: string; readonly path: string }[]): Routes {
  const known = routes.map(({ method, path }) => ({ method, path, fits: patternOf(path) }));
  const of = (path: string) => known.filter(({ fits }) => fits.test(path));
  return {
    methods: (path) => [...new Set(of(path).flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])))],
    // Of several, the one that says most: a name before a wildcard.
    pattern: (path) =>
      of(path)
        .map(({ path: pattern }) => pattern)
        .sort((a, b) => wildness(a) - wildness(b))[0],
  };
}

function patternOf(path: string): RegExp {
  const source = path
    .split("/")
    .map((segment) => {
      if (segment === "*") return ".+";
      return segment.startsWith(":") ? "[^/]+" : segment.replace(/[^\w-]/g, "\\$&");
    })
    .join("/");
  return new RegExp(`^${source}${path.endsWith("/") ? "" : "/?"}$`);
}

function wildness(pattern: string): number {
  return pattern.endsWith("*") ? 2 : Number(pattern.includes(":"));
}
