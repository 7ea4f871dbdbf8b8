import type { Dialect } from "./dialect.ts";
import { hermes } from "./hermes.ts";
import { llama3Json } from "./llama3-json.ts";
import { mistralNemo } from "./mistral-nemo.ts";

export const dialects: readonly Dialect[] = [hermes, mistralNemo, llama3Json];

export type Detection = {
  readonly dialect: Dialect;
  /** The template speaks no dialect that is known here: calls take the Hermes frame, which the prompt has to explain. */
  readonly generic: boolean;
};

/** Renders a conversation without a generation prompt; undefined where the template refuses it. */
export type RenderProbe = (messages: readonly ProbeValue[], tools: readonly ProbeValue[]) => string | undefined;

/** What chat templates are given: plain values, named as in OpenAI's shape. */
export type ProbeValue = undefined | string | readonly ProbeValue[] | { readonly [key: string]: ProbeValue };

/**
 * The dialect of a model, from what its template makes of a call in the history: the text that stands where an answer would is
 * compared with each dialect's own. Only where the template shows no call, its source decides.
 */
export function detectDialect(render: RenderProbe, template: string): Detection {
  const shown = [probeArguments, JSON.stringify(probeArguments)].map((given) => frameOf(render, given));
  const found = dialects.find((dialect) => shown.some((frame) => frame !== undefined && isWrittenBy(dialect, frame)));
  if (found !== undefined) return { dialect: found, generic: false };
  const shows = shown.some((frame) => frame?.includes(probeValue));
  const named = shows ? undefined : dialects.find((dialect) => dialect.isNamedBy(template));
  return { dialect: named ?? hermes, generic: named === undefined };
}

/** What a template writes in place of an answer's text when the answer is a call. */
function frameOf(render: RenderProbe, given: ProbeValue): string | undefined {
  const user = { role: "user", content: "probe_user" };
  const call = { id: probeId, type: "function", function: { name: probeName, arguments: given } };
  const answered = render([user, { role: "assistant", content: probeAnswer }], [probeTool]);
  const called = [undefined, ""]
    .map((content) => render([user, { role: "assistant", content, tool_calls: [call] }], [probeTool]))
    .find((text) => text?.includes(probeName));
  const before = answered?.split(probeAnswer)[0]?.trimEnd();
  if (before === undefined || called === undefined || !called.startsWith(before)) return undefined;
  return called.slice(before.length).trimStart();
}

function isWrittenBy(dialect: Dialect, frame: string): boolean {
  const call = { id: probeId, name: probeName, arguments: `{"probe": "${probeValue}"}` };
  return dialect.encodings(call).some((text) => frame.startsWith(text));
}

/** Nine letters and digits, as Mistral's templates demand. */
const probeId = "probe0001";
const probeName = "probe_tool";
const probeValue = "probe_value";
const probeAnswer = "probe_answer";
const probeArguments = { probe: probeValue };
const probeTool = {
  type: "function",
  function: {
    name: probeName,
    description: "probe_description",
    parameters: {
      type: "object",
      properties: { probe: { type: "string", description: "probe" } },
      required: ["probe"],
    },
  },
};
