import { expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai";
import { echoOf } from "../src/api/responses/echo.ts";
import { encodeStream, encodeWhole } from "../src/api/responses/encode.ts";
import type { ResponseFrame } from "../src/api/responses/response.ts";
import type { Event } from "../src/generation/event.ts";
import { responsesFaults } from "./fixtures/responses-document.ts";

const usage = {
  promptTokens: 12,
  cachedTokens: 4,
  completionTokens: 5,
  reasoningTokens: 2,
  promptMs: 16,
  completionMs: 20,
  closedByRule: false,
};

/** A piece of text that may be anything, though never nothing. */
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
const piece = fc.oneof(
  fc.record({ kind: fc.constant("text" as const), text, logprobs: fc.constant([]) }).map((event): Event[] => [event]),
  fc.record({ kind: fc.constant("reasoning" as const), text }).map((event): Event[] => [event]),
  fc.constant<Event[]>([{ kind: "progress", done: 1, total: 2 }]),
  fc
    .record({
      name: fc.constantFrom("weather", "patch"),
      custom: fc.boolean(),
      texts: fc.array(text, { maxLength: 3 }),
    })
    .map(({ name, custom, texts }): Event[] => [
      { kind: "call_begin", index: 0, id: `call_${name}`, name, custom },
      ...texts.map((text): Event => ({ kind: "call_arguments", index: 0, text })),
      { kind: "call_end", index: 0 },
    ]),
);
const end = fc.constantFrom<Event>(
  ...(["stop", "calls", "length", "context"] as const).map(
    (kind): Event => ({ kind: "finish", reason: { kind }, usage }),
  ),
  { kind: "failure", failure: { kind: "engine", message: "It broke." } },
  { kind: "failure", failure: { kind: "cancelled" } },
);
/** An answer as it may come, with ids that differ; calls may be cut off. */
const answer = fc
  .record({ pieces: fc.array(piece, { maxLength: 6 }), cut: fc.constantFrom("none", "last", "all"), end })
  .map(({ pieces, cut, end }) => {
    const events = pieces.flat().map((event, at) => ("id" in event ? { ...event, id: `${event.id}_${at}` } : event));
    if (cut === "last" && events.at(-1)?.kind === "call_end") events.pop();
    return [...(cut === "all" ? events.filter(({ kind }) => kind !== "call_end") : events), end];
  });
const frames = fc.record({ background: fc.boolean(), summary: fc.boolean(), sealReasoning: fc.boolean() });

test("OpenAI's client makes of every stream what the answer is without, and its document agrees with every event", async () => {
  await fc.assert(
    fc.asyncProperty(answer, frames, async (events, { background, summary, sealReasoning }) => {
      const frame: ResponseFrame = {
        id: "resp_0123456789abcdef0123456789abcdef",
        createdAt: 1_700_000_000,
        endedAt: () => 1_700_000_001,
        model: "M",
        echo: echoOf({ background }),
        logprobs: false,
        reasoningAs: summary ? "summary" : "content",
        sealReasoning,
      };
      const wire = (await Array.fromAsync(encodeStream(frame, told(events)))).join("");
      expect(responsesFaults("POST /v1/responses", 200, wire)).toEqual([]);
      const headers = { "content-type": "text/event-stream" };
      const client = new OpenAI({ apiKey: "none", fetch: async () => new Response(wire, { headers }) });
      const final = await client.responses.stream({ model: "M", input: "Hi" }).finalResponse();
      const whole = await encodeWhole(frame, told(events));
      if (whole.ok) expect(final).toMatchObject(whole.value);
      else expect(["failed", "cancelled"]).toContain(final.status ?? "");
      expect(itemsDone(wire)).toEqual(final.output.map(({ id }) => id));
    }),
    { numRuns: 100 },
  );
}, 60_000);

/** The items that were told as done, in order: exactly those are the response's. */
function itemsDone(wire: string): readonly (string | undefined)[] {
  return [...wire.matchAll(/^data: (\{"type":"response\.output_item\.done"[^\n]*)$/gm)].map(([, data = ""]) => {
    const { item }: { readonly item: { readonly id: string } } = JSON.parse(data);
    return item.id;
  });
}

async function* told(events: readonly Event[]) {
  yield* events;
}
