import { storedResponsesBytesMax, storedResponsesMax } from "../../limits.ts";
import { writtenBy } from "./encode.ts";
import type { Item } from "./items.ts";
import type { Recording } from "./recording.ts";
import type { ResponseFrame } from "./response.ts";

export type StoredResponse = {
  readonly frame: ResponseFrame;
  /** The conversation that it answers. */
  readonly input: readonly Item[];
  /** How many of these items came with it, at the end. */
  readonly ownItems: number;
  readonly recording: Recording;
  /** Ends it where it is still being made. */
  readonly cancel: () => void;
};

/**
 * Responses by id, within a count and an estimate of bytes. The one that was least recently used goes first: created, retrieved, continued or
 * referred to is used. One that is still being made is never put out. Nothing outlives the process.
 */
export class ResponseStore {
  readonly #bounds: { readonly countMax: number; readonly bytesMax: number };
  /** In the order of use. */
  readonly #entries = new Map<string, Entry>();
  /** Which response an item came with. */
  readonly #owners = new Map<string, string>();
  #bytes = 0;

  constructor(bounds = { countMax: storedResponsesMax, bytesMax: storedResponsesBytesMax }) {
    this.#bounds = bounds;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#entries.size;
  }

  add(response: StoredResponse): void {
    const { frame, input, ownItems } = response;
    this.#entries.set(frame.id, { response, output: [], bytes: 0 });
    for (const item of input.slice(input.length - ownItems)) this.#owners.set(item.id, frame.id);
    this.settle(frame.id);
  }

  /** Looks at a response again, whose recording has ended since it was added: only then can its output be referred to. */
  settle(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const { input, recording, frame } = entry.response;
    if (recording.ended) entry.output = writtenBy(frame, recording.events).output;
    for (const item of entry.output) this.#owners.set(item.id, id);
    // An inherited conversation counts too, though its items are shared: what they came with may go first.
    const bytes = recording.bytes + 2 * JSON.stringify([input, entry.output, frame.echo]).length;
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    this.#makeRoom();
  }

  get(id: string): StoredResponse | undefined {
    return this.#use(id)?.response;
  }

  /** What a continuation answers: the conversation with the response's own output. */
  conversation(id: string): readonly Item[] | undefined {
    const entry = this.#use(id);
    return entry === undefined ? undefined : [...entry.response.input, ...entry.output];
  }

  item(id: string): Item | undefined {
    const entry = this.#use(this.#owners.get(id) ?? "");
    return entry === undefined ? undefined : [...entry.response.input, ...entry.output].find((item) => item.id === id);
  }

  delete(id: string): boolean {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    this.#entries.delete(id);
    this.#bytes -= entry.bytes;
    for (const item of [...entry.response.input, ...entry.output]) {
      if (this.#owners.get(item.id) === id) this.#owners.delete(item.id);
    }
    return true;
  }

  #use(id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  #makeRoom(): void {
    for (const [id, { response }] of this.#entries) {
      if (this.#entries.size <= this.#bounds.countMax && this.#bytes <= this.#bounds.bytesMax) return;
      if (response.recording.ended) this.delete(id);
    }
  }
}

type Entry = { readonly response: StoredResponse; output: readonly Item[]; bytes: number };
