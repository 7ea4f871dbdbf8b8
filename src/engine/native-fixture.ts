import type { Result } from "../generation/result.ts";
import { defaultSampling } from "../generation/sampling.ts";
import { tokenKinds, type VocabularyData } from "../tokenizer/tokenizer.ts";
import type { Engine, EngineEvent, EngineRequest, Generation } from "./engine.ts";
import { type Library, libraryPath, openLibrary } from "./library.ts";
import { type NativeOptions, openEngine } from "./native.ts";
import { type NativeVocabulary, openVocabulary } from "./vocabulary.ts";

/** Token i is byte i; then one control token and one that is never produced. */
export const byteVocabulary: VocabularyData = {
  count: 258,
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 259 }, (_, token) => Math.min(token, 256)),
  kinds: Uint8Array.from({ length: 258 }, (_, token) =>
    token < 256 ? tokenKinds.normal : token === 256 ? tokenKinds.control : tokenKinds.unused,
  ),
};

export const control = 256;
export const unused = 257;

export const openTestLibrary = (): Library => unwrap(openLibrary(libraryPath()));

export type Native = { readonly library: Library; readonly vocabulary: NativeVocabulary; readonly engine: Engine };

/** The native engine on a noise model over bytes. */
export async function openNoise(
  options: Partial<Omit<NativeOptions, "vocabulary">> = {},
): Promise<Native & Disposable> {
  const library = openTestLibrary();
  const vocabulary = unwrap(openVocabulary(library, byteVocabulary));
  const engine = unwrap(
    await openEngine({
      vocabulary,
      model: { kind: "noise", seed: 1, shape: "flat", phrases: [] },
      contextMax: 4096,
      ...options,
    }),
  );
  return {
    library,
    vocabulary,
    engine,
    [Symbol.dispose]: () => {
      engine[Symbol.dispose]();
      vocabulary[Symbol.dispose]();
    },
  };
}

export const plainRequest: EngineRequest = {
  tokens: Uint32Array.of(1, 2, 3),
  grammar: undefined,
  ...defaultSampling,
  seed: 7,
  tokensMax: 20,
  stopTokens: [],
  logprobs: undefined,
  step: false,
};

export function unwrap<T, F>(result: Result<T, F>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}

/** Runs a request to its end; `onParked` is called at each step of step mode. */
export async function run(
  engine: Engine,
  request: Partial<EngineRequest>,
  onParked: (generation: Generation, tokens: Uint32Array) => void = () => {},
): Promise<{
  readonly bytes: Uint8Array;
  readonly events: readonly EngineEvent[];
  readonly finish: Extract<EngineEvent, { kind: "finish" }>;
}> {
  const generation = unwrap(engine.submit({ ...plainRequest, ...request }));
  const events: EngineEvent[] = [];
  const bytes: Uint8Array[] = [];
  for await (const event of generation.events) {
    events.push(event);
    if (event.kind === "bytes") bytes.push(event.bytes);
    if (event.kind === "finish") return { bytes: new Uint8Array(Buffer.concat(bytes)), events, finish: event };
    if (event.kind !== "parked") continue;
    onParked(generation, event.tokens);
    generation.release();
  }
  throw new Error("the events ended without a finish");
}

/** Lets the event loop and the native thread go on until the condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
