import type { Event } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { sseEvent } from "../sse.ts";
import type { ResponseFrame } from "./response.ts";
import { ResponseWriter, type StreamEvent } from "./writer.ts";

/** Events → the whole response. */
export async function encodeWhole(
  frame: ResponseFrame,
  events: AsyncIterable<Event>,
): Promise<Result<object, Failure>> {
  const writer = new ResponseWriter(frame);
  for await (const event of events) {
    if (event.kind === "failure") return fail(event.failure);
    drain(writer.push(event));
    if (event.kind === "finish") return ok(writer.response());
  }
  return fail({ kind: "engine", message: "The answer ended without a finish." });
}

/**
 * Events → the frames of a stream; those up to the sequence number `after` are left out. Where the events end before the response does,
 * since nobody waits for it here any longer, the last one says so.
 */
export async function* encodeStream(
  frame: ResponseFrame,
  events: AsyncIterable<Event>,
  after = -1,
): AsyncGenerator<string, void> {
  const writer = new ResponseWriter(frame);
  yield* frames(writer.begin(), after);
  for await (const event of events) {
    yield* frames(writer.push(event), after);
    if (event.kind === "finish" || event.kind === "failure") return;
  }
  yield* frames([writer.cutOff()], after);
}

/** The response that these events add up to so far. */
export function writtenBy(frame: ResponseFrame, events: Iterable<Event>): ResponseWriter {
  const writer = new ResponseWriter(frame);
  for (const event of events) drain(writer.push(event));
  return writer;
}

function* frames(events: Iterable<StreamEvent>, after: number): Generator<string, void> {
  for (const event of events) {
    if (event.sequence_number > after) yield sseEvent(event.type, event);
  }
}

function drain(events: Iterable<StreamEvent>): void {
  for (const _ of events);
}
