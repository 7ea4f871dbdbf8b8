import { fail, ok, type Result } from "../generation/result.ts";
import { defaultSampling } from "../generation/sampling.ts";
import type { Manifest } from "../models/card.ts";
import { enums, none, structs } from "./abi.gen.ts";
import type { Engine, EngineRequest, Generation, SubmitFailure, Timings } from "./engine.ts";
import { type NativeEvent, readEvents } from "./events.ts";
import { Inbox } from "./inbox.ts";
import { type Library, statuses } from "./library.ts";
import { reportOf, writeField, writeStruct } from "./memory.ts";
import type { NativeVocabulary } from "./vocabulary.ts";
import { listen } from "./wake.ts";

/** A model read from disk, or one without weights whose logits are a hash of seed, position and token. */
export type NativeModel =
  | { readonly kind: "file"; readonly manifest: Manifest }
  | {
      readonly kind: "noise";
      readonly seed: number;
      readonly shape: keyof typeof enums.NoiseShape;
      /** Token sequences that the shape `pulled` likes to write. */
      readonly phrases: readonly (readonly number[])[];
    };

export type NativeOptions = {
  readonly vocabulary: NativeVocabulary;
  readonly model: NativeModel;
  /** Requests that run at once. */
  readonly slots?: number;
  /** Requests that wait at most. */
  readonly queueMax?: number;
  /** Tokens of a sequence, where the model's own context is to be cut. */
  readonly contextMax?: number;
  /** Threads that compute; as many as the machine has by default. */
  readonly threads?: number;
};

/** Starts the native engine on a model. Its memory is gone once it is disposed, and the views over it with it. */
export async function openEngine(options: NativeOptions): Promise<Result<Engine, string>> {
  const { vocabulary } = options;
  const { library } = vocabulary;
  const report = reportOf(structs.ModelReport);
  const status = openModel(options, report.bytes);
  if (status !== statuses.ok) return fail(library.errorText());
  const handle = report.get("handle");
  const rows = slotRows(library, report.get);
  const running = new Map<number, Running>();
  const events = new Uint8Array(drainBytes);
  const contextMax = report.get("context_max");
  let disposed = false;

  const receive = (request: number, event: NativeEvent): void => {
    const run = running.get(request);
    if (run === undefined) throw new Error("an event of a request that is over");
    run.receive(event);
    if (event.kind !== "finish") return;
    running.delete(request);
    if (running.size === 0) socket.unref();
  };
  const drain = (): void => {
    while (!disposed) {
      const length = library.calls.tenon_model_drain(handle, events, events.length);
      if (length < 0) throw new Error(library.errorText());
      if (length === 0) return;
      readEvents(events, length, receive);
    }
  };
  const socket = await listen(report.get("wake"), drain);
  const begin = (request: EngineRequest, task: Task): Result<Generation, SubmitFailure> => {
    const submitted = submit(library, handle, request, task);
    if (!submitted.ok) return submitted;
    const run = new Running(library, submitted.value, request.tokens, rows);
    if (running.size === 0) socket.ref();
    running.set(submitted.value, run);
    return ok(run.generation);
  };

  return ok({
    vocabularyCount: vocabulary.count,
    contextMax,
    compile: (ir, workUnits) => vocabulary.compile(ir, workUnits),
    submit: (request) => begin(request, request.scorePrompt === true ? "score" : "generate"),
    embed: (tokens) => begin({ ...nothing, tokens }, "embed"),
    stats: () => {
      const counts = reportOf(structs.ModelCounts);
      if (library.calls.tenon_model_counts(handle, counts.bytes) !== statuses.ok) throw new Error(library.errorText());
      return {
        running: counts.get("running"),
        queued: counts.get("queued"),
        grammars: library.liveCounts().grammars,
        cacheBytes: counts.get("cache_bytes"),
      };
    },
    [Symbol.dispose]: () => {
      if (disposed) return;
      disposed = true;
      library.calls.tenon_model_destroy(handle);
      socket.end();
      for (const run of running.values()) run.receive({ kind: "finish", reason: "cancelled", timings: noTimings });
      running.clear();
    },
  });
}

/** Bytes taken from the ring at a time. */
const drainBytes = 256 * 1024;

type Task = keyof typeof enums.RequestTask;

/** What is generated from a text that only its vector is wanted of. */
const nothing: Omit<EngineRequest, "tokens"> = {
  ...defaultSampling,
  seed: 0,
  grammar: undefined,
  tokensMax: 0,
  stopTokens: [],
  logprobs: undefined,
  step: false,
};

const noTimings: Timings = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  promptMs: 0,
  completionMs: 0,
  closedByRule: false,
};

type SlotRow = { readonly logits: Float32Array<ArrayBuffer>; readonly mask: Uint32Array<ArrayBuffer> };

/** The two arenas, seen once; a row for each slot. */
function slotRows(library: Library, get: (name: keyof typeof structs.ModelReport.fields) => number): SlotRow[] {
  const slots = get("slots");
  const tokens = get("vocabulary_count");
  const words = get("words");
  const logits = library.view(get("logits"), slots * tokens * 4);
  const masks = library.view(get("masks"), slots * words * 4);
  return Array.from({ length: slots }, (_, slot) => ({
    logits: new Float32Array(logits, slot * tokens * 4, tokens),
    mask: new Uint32Array(masks, slot * words * 4, words),
  }));
}

/** Zero stands for a default. */
function openModel(options: NativeOptions, report: Uint8Array<ArrayBuffer>): number {
  const { vocabulary, model, slots = 0, queueMax = 0, contextMax = 0, threads = 0 } = options;
  const { calls } = vocabulary.library;
  const general = writeStruct(structs.ModelOptions, {
    slots,
    queue_max: queueMax,
    context_max: contextMax,
    threads,
  });
  if (model.kind === "file") {
    const manifest = new TextEncoder().encode(JSON.stringify(model.manifest));
    return calls.tenon_model_load(vocabulary.handle, manifest, manifest.length, general, report);
  }
  const noise = writeStruct(structs.NoiseOptions, {
    seed: model.seed,
    shape: enums.NoiseShape[model.shape],
    phrases: model.phrases.length,
  });
  const tokens = Uint32Array.from(model.phrases.flat());
  let end = 0;
  const ends = Uint32Array.from(model.phrases, (phrase) => {
    end += phrase.length;
    return end;
  });
  return calls.tenon_model_noise(vocabulary.handle, noise, tokens, ends, general, report);
}

/** The handle of the request. */
function submit(library: Library, model: number, request: EngineRequest, task: Task): Result<number, SubmitFailure> {
  const options = writeStruct(structs.RequestOptions, {
    seed: request.seed,
    task: enums.RequestTask[task],
    grammar: request.grammar?.handle ?? 0,
    tokens: request.tokens.length,
    stop_tokens: request.stopTokens.length,
    biases: request.logitBias.length,
    tokens_max: request.tokensMax,
    logprobs: request.logprobs ?? none,
    step: request.step ? 1 : 0,
    drafts: request.drafts === false ? 0 : 1,
    top_k: request.topK,
    top_p: request.topP,
    min_p: request.minP,
    temperature: request.temperature,
    repeat_penalty: request.repeatPenalty,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
  });
  const stops = Uint32Array.from(request.stopTokens);
  const { bytes: each, fields } = structs.LogitBias;
  const biases = new Uint8Array(request.logitBias.length * each);
  const view = new DataView(biases.buffer);
  request.logitBias.forEach(({ token, bias }, index) => {
    writeField(view, index * each, fields.token, token);
    writeField(view, index * each, fields.bias, bias);
  });
  const report = reportOf(structs.RequestReport);
  const status = library.calls.tenon_request_submit(model, options, request.tokens, stops, biases, report.bytes);
  switch (status) {
    case statuses.ok:
      return ok(report.get("handle"));
    case statuses.context:
      return fail({ kind: "context", needed: report.get("needed"), contextMax: report.get("context_max") });
    case statuses.overloaded:
    case statuses.too_many:
    case statuses.out_of_memory:
      return fail({ kind: "overloaded" });
    default:
      return fail({ kind: "invalid", message: library.errorText() });
  }
}

/** JavaScript's side of one request. */
class Running {
  readonly generation: Generation;
  readonly #inbox: Inbox;
  readonly #rows: readonly SlotRow[];
  /** Prompt and output so far, kept in step mode; grown by doubling. */
  #tokens: Uint32Array<ArrayBuffer>;
  #count: number;
  #row: SlotRow | undefined;
  /** Its handle is dead, and will name another request one day. */
  #isOver = false;

  constructor(library: Library, handle: number, prompt: Uint32Array<ArrayBuffer>, rows: readonly SlotRow[]) {
    const cancel = () => {
      if (!this.#isOver) library.calls.tenon_request_cancel(handle);
    };
    this.#inbox = new Inbox(cancel);
    this.#rows = rows;
    this.#tokens = prompt;
    this.#count = prompt.length;
    const parked = () => {
      if (this.#row === undefined) throw new Error("the request is not parked");
      return this.#row;
    };
    this.generation = {
      events: this.#inbox,
      cancel,
      get logits() {
        return parked().logits;
      },
      get mask() {
        return parked().mask;
      },
      release: () => {
        parked();
        this.#row = undefined;
        library.calls.tenon_request_release(handle);
      },
    };
  }

  receive(event: NativeEvent): void {
    if (event.kind === "finish") {
      this.#row = undefined;
      this.#isOver = true;
    }
    if (event.kind !== "parked") return this.#inbox.push(event);
    if (event.previous !== undefined) this.#append(event.previous);
    this.#row = this.#rows[event.slot];
    this.#inbox.push({ kind: "parked", tokens: this.#tokens.subarray(0, this.#count) });
  }

  #append(token: number): void {
    if (this.#count === this.#tokens.length) {
      const grown = new Uint32Array(2 * this.#count);
      grown.set(this.#tokens);
      this.#tokens = grown;
    }
    this.#tokens[this.#count] = token;
    this.#count++;
  }
}
