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

/** The responses of one caller: those of others are not there. */
export type Kept = {
  add(response: StoredResponse): void;
  /** Looks at a response again, whose recording has ended since it was added: only then can its output be referred to. */
  settle(id: string): void;
  get(id: string): StoredResponse | undefined;
  /** What a continuation answers: the conversation with the response's own output. */
  conversation(id: string): readonly Item[] | undefined;
  item(id: string): Item | undefined;
  delete(id: string): boolean;
};

/**
 * Responses by caller and id, within a count and an estimate of bytes for all callers together. The one that was least recently used goes first:
 * created, retrieved, continued or referred to is used. One that is still being made is never put out. Nothing outlives the process.
 */
export class ResponseStore {
  readonly #bounds: { readonly countMax: number; readonly bytesMax: number };
  /** In the order of use; under the caller's name and the response's, as all names here. */
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

  /** A caller's name has no blanks in it. */
  of(caller: string): Kept {
    const name = (id: string) => `${caller} ${id}`;
    return {
      add: (response) => this.#add(caller, response),
      settle: (id) => this.#settle(name(id)),
      get: (id) => this.#use(name(id))?.response,
      conversation: (id) => this.#conversation(name(id)),
      item: (id) => this.#conversation(this.#owners.get(name(id)) ?? "")?.find((item) => item.id === id),
      delete: (id) => this.#delete(name(id)),
    };
  }

  #add(caller: string, response: StoredResponse): void {
    const { frame, input, ownItems } = response;
    const name = `${caller} ${frame.id}`;
    this.#entries.set(name, { caller, response, output: [], bytes: 0 });
    this.#own(name, caller, input.slice(input.length - ownItems));
    this.#settle(name);
  }

  #own(name: string, caller: string, items: readonly Item[]): void {
    for (const { id } of items) this.#owners.set(`${caller} ${id}`, name);
  }

  #settle(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    const { input, recording, frame } = entry.response;
    if (recording.ended) entry.output = writtenBy(frame, recording.events).output;
    this.#own(name, entry.caller, entry.output);
    // An inherited conversation counts too, though its items are shared: what they came with may go first.
    const bytes = recording.bytes + 2 * JSON.stringify([input, entry.output, frame.echo]).length;
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    this.#makeRoom();
  }

  #conversation(name: string): readonly Item[] | undefined {
    const entry = this.#use(name);
    return entry === undefined ? undefined : [...entry.response.input, ...entry.output];
  }

  #delete(name: string): boolean {
    const entry = this.#entries.get(name);
    if (entry === undefined) return false;
    this.#entries.delete(name);
    this.#bytes -= entry.bytes;
    for (const { id } of [...entry.response.input, ...entry.output]) {
      const item = `${entry.caller} ${id}`;
      if (this.#owners.get(item) === name) this.#owners.delete(item);
    }
    return true;
  }

  #use(name: string): Entry | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry;
  }

  #makeRoom(): void {
    for (const [name, { response }] of this.#entries) {
      if (this.#entries.size <= this.#bounds.countMax && this.#bytes <= this.#bounds.bytesMax) return;
      if (response.recording.ended) this.#delete(name);
    }
  }
}

type Entry = {
  readonly caller: string;
  readonly response: StoredResponse;
  output: readonly Item[];
  bytes: number;
};
