import type { Request } from "../generation/request.ts";
import type { RenderProbe } from "./detect.ts";

/** The tags between which a model writes what it thinks before, or between, what it says. */
export type Tags = { readonly open: string; readonly close: string };

/** `begun`: the prompt ends inside a thought. */
export type Thoughts = Tags & { readonly begun: boolean };

/**
 * How a model marks its thoughts: from what its template makes of one in the history, else by the pair of tags in the template's
 * source. Undefined for a model without thoughts, and for formats that mark them otherwise than by a pair of tags.
 */
export function detectThoughts(render: RenderProbe, template: string): Tags | undefined {
  const thoughts = { reasoning_content: probe, thinking: probe, reasoning: probe };
  const shown = render(
    [
      { role: "user", content: "probe_user" },
      { role: "assistant", content: "probe_answer", ...thoughts },
    ],
    [],
  );
  const [, open, close] = /(<[^<>\s]+>|\[[A-Z]+\])\s*probe_thought\s*(<[^<>\s]+>|\[\/[A-Z]+\])/.exec(shown ?? "") ?? [];
  if (open !== undefined && close !== undefined) return isPair(open, close) ? { open, close } : undefined;
  return knownTags.find((tags) => template.includes(tags.open) && template.includes(tags.close));
}

/** The thoughts that an answer to this request may have; none where it turns them off, or is no conversation. */
export function thoughtsOf(tags: Tags | undefined, request: Request, prompt: string): Thoughts | undefined {
  if (tags === undefined || request.prompt !== undefined) return undefined;
  const begun = prompt.trimEnd().endsWith(tags.open);
  return begun || request.templateVariables["enable_thinking"] !== false ? { ...tags, begun } : undefined;
}

const probe = "probe_thought";

/** `<think>` and `</think>`, `<|START_THINKING|>` and `<|END_THINKING|>`. */
function isPair(open: string, close: string): boolean {
  return close === open.replace(/^[<[]/, "$&/") || close === open.replace("START", "END");
}

const knownTags: readonly Tags[] = [
  { open: "<think>", close: "</think>" },
  { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  { open: "[THINK]", close: "[/THINK]" },
];
