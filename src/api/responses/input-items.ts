import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { inputItemsPageDefault, inputItemsPageMax } from "../../limits.ts";
import type { Item } from "./items.ts";
import { wrongQuery } from "./query.ts";

/** One page of a conversation's items, newest first unless `order` says otherwise. */
export function inputItemsPage(items: readonly Item[], query: URLSearchParams): Result<object, Failure> {
  const limit = Number(query.get("limit") ?? inputItemsPageDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > inputItemsPageMax) {
    return fail(wrongQuery("limit", `an integer from 1 to ${inputItemsPageMax}`));
  }
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") return fail(wrongQuery("order", "'asc' or 'desc'"));
  const ordered = order === "asc" ? items : items.toReversed();
  const after = query.get("after");
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) return fail(wrongQuery("after", "the id of an item of this conversation"));
  const data = ordered.slice(start, start + limit);
  return ok({
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  });
}
