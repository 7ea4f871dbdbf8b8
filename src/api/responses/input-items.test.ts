import { expect, test } from "bun:test";
import { inputItemsPage } from "./input-items.ts";
import type { Item } from "./items.ts";

const items = Array.from(
  { length: 25 },
  (_, at): Item => ({
    id: `msg_${at}`,
    type: "message",
    status: "completed",
    role: "user",
    content: [],
  }),
);

test.each([
  ["", [24, 5], true],
  ["limit=25", [24, 0], false],
  ["order=asc&limit=3", [0, 2], true],
  ["order=asc&after=msg_22", [23, 24], false],
  ["order=desc&after=msg_2", [1, 0], false],
  ["order=asc&after=msg_24", undefined, false],
] as const)("%s", (query, ends, more) => {
  const page = inputItemsPage(items, new URLSearchParams(query));
  const [first, last] = ends?.map((at) => `msg_${at}`) ?? [null, null];
  expect(page).toMatchObject({ ok: true, value: { object: "list", first_id: first, last_id: last, has_more: more } });
});

test.each(["limit=0", "limit=101", "limit=x", "order=up", "after=msg_x"])("%s is refused", (query) => {
  const [param] = query.split("=");
  expect(inputItemsPage(items, new URLSearchParams(query))).toMatchObject({ ok: false, failure: { param } });
});
