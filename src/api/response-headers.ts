import type { Answer } from "../generation/answer.ts";
import { headerNameLengthMax, headerNamesMax } from "../limits.ts";

/** The headers of every answer, whatever its shape: how far a grammar holds, what was widened, and which fields nobody read. */
export function responseHeaders(
  { constraint, relaxed }: Pick<Answer, "constraint" | "relaxed">,
  ignored: readonly string[],
): Record<string, string> {
  return {
    "x-tenon-constraint": constraint,
    ...(relaxed.length === 0 ? {} : { "x-tenon-relaxed": headerList(relaxed) }),
    ...(ignored.length === 0 ? {} : { "x-tenon-ignored": headerList(ignored) }),
  };
}

/** Names of the caller's own, cut down to what a header can carry; what is cut off shows as a last `…`, spelled in ASCII. */
function headerList(names: readonly string[]): string {
  const shown = names
    .slice(0, headerNamesMax)
    .map((name) => name.slice(0, headerNameLengthMax).replace(/[^\w.$/~[\]#-]/g, "?"));
  return [...shown, ...(names.length > headerNamesMax ? ["..."] : [])].join(", ");
}
