import type { Message, Request } from "../generation/request.ts";
import { truncationReserveShare } from "../limits.ts";
import type { Service } from "./service.ts";

/**
 * `truncation: "auto"`: the request with so few of its oldest turns left out that prompt and answer fit into the context; as it came where it fits or
 * nothing helps. What is left begins with what the user says, and rules stay.
 */
export function truncated(request: Request, service: Pick<Service, "prompt" | "describe">): Request {
  const contextMax = Math.min(request.contextMax ?? Number.POSITIVE_INFINITY, service.describe().contextMax);
  const share = Math.floor(contextMax * truncationReserveShare);
  const room = contextMax - Math.min(request.tokensMax ?? share, share);
  const fits = (messages: readonly Message[]) => {
    const prompt = service.prompt({ ...request, messages });
    return prompt.ok && prompt.value.tokens.length <= room;
  };
  if (fits(request.messages)) return request;
  const starts = [...request.messages.keys()].filter((index) => request.messages[index]?.role === "user").slice(1);
  const from = (start: number | undefined) =>
    request.messages.filter(({ role }, index) => role === "system" || index >= (start ?? 0));
  // A later start never has more tokens, so that the first one that fits is found by halving.
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (fits(from(starts[middle]))) high = middle;
    else low = middle + 1;
  }
  const start = starts[low] ?? starts.at(-1);
  return start === undefined ? request : { ...request, messages: from(start) };
}
