import type { JsonBody } from "../body.ts";
import { sourceAt } from "../source.ts";

/**
 * Clients of vLLM send further fields inside `extra_body`, which OpenAI's own client would have flattened. Here they are as if they
 * stood in the body, whose own fields come first. The text is joined as text, since order and digits count in it.
 */
export function withExtraBody(body: JsonBody): JsonBody {
  const { value, text } = body;
  if (typeof value !== "object" || value === null || !("extra_body" in value)) return body;
  const { extra_body: extra, ...own } = value;
  if (typeof extra !== "object" || extra === null || Array.isArray(extra)) return body;
  const members = [sourceAt(text, ["extra_body"]), text].map((object) => object.trim().slice(1, -1));
  // Of a key that occurs twice the last one counts.
  const joined = `{${members.filter((each) => each.trim() !== "").join(",")}}`;
  return { value: { ...extra, ...own }, text: joined };
}
