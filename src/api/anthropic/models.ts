import { Type } from "@sinclair/typebox";
import type { Failure } from "../../generation/failure.ts";
import type { ModelInfo } from "../../generation/model-detail.ts";
import { ok, type Result } from "../../generation/result.ts";
import { modelsPageDefault, modelsPageMax } from "../../limits.ts";
import { checker } from "../check.ts";
import { open } from "../fields.ts";

/** One page of the models, as the query asks for it. */
export function modelsPage(models: readonly ModelInfo[], query: URLSearchParams): Result<object, Failure> {
  const limit = query.get("limit");
  const checked = checkPage(limit === null ? {} : { limit: limit.trim() === "" ? limit : Number(limit) });
  if (!checked.ok) return checked;
  const pageMax = checked.value.limit ?? modelsPageDefault;
  const after = models.findIndex(({ id }) => id === query.get("after_id"));
  const before = models.findIndex(({ id }) => id === query.get("before_id"));
  const asked = models.slice(after + 1, before < 0 ? undefined : before);
  const data = before < 0 ? asked.slice(0, pageMax) : asked.slice(-pageMax);
  return ok({
    data: data.map(encodeModel),
    has_more: data.length < asked.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  });
}

export function encodeModel({ id, created, contextMax }: ModelInfo) {
  return {
    type: "model",
    id,
    display_name: id,
    created_at: new Date(created * 1000).toISOString(),
    max_input_tokens: contextMax,
    max_tokens: contextMax,
    capabilities: null,
    line: null,
    lifecycle: "active",
    deprecated_at: null,
    retires_at: null,
  };
}

const checkPage = checker(open({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: modelsPageMax })) }));
