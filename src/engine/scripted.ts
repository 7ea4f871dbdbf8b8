import { fail, ok, type Result } from "../generation/result.ts";
import type {
  Engine,
  EngineEvent,
  EngineFinish,
  EngineRequest,
  Generation,
  Grammar,
  SubmitFailure,
  Timings,
} from "./engine.ts";
import { Inbox } from "./inbox.ts";

export type Script = {
  /** What happens after the prompt, up to the finish. In step mode each is preceded by a parked step. */
  readonly events: readonly Exclude<EngineEvent, { kind: "finish" | "parked" }>[];
  readonly finish: EngineFinish;
  readonly timings?: Partial<Timings>;
  /** Of the finish. */
  readonly logprobSum?: number;
  /** Waited for before each event. */
  readonly pace?: () => Promise<void>;
};

export type ScriptedOptions = {
  readonly vocabularyCount: number;
  readonly contextMax: number;
  /** The script of a request, or why it is not taken. */
  readonly script: (request: EngineRequest) => Script | SubmitFailure;
  /** Tokens of the shortest output of every grammar. */
  readonly costMin?: number;
  /** The script of a text's vector; without it there are no embeddings. */
  readonly vector?: (tokens: Uint32Array) => Script | SubmitFailure;
};

/** An engine that replays events, for tests of what stands above it. Grammars are taken unread. */
export function scriptedEngine({ vocabularyCount, contextMax, script, costMin = 1, vector }: ScriptedOptions): Engine {
  let grammars = 0;
  let running = 0;
  const compile = (): Result<Grammar, never> => {
    grammars++;
    let alive = true;
    return ok({
      handle: grammars,
      costMin,
      [Symbol.dispose]: () => {
        if (alive) grammars--;
        alive = false;
      },
    });
  };
  const begin = (
    request: Pick<EngineRequest, "tokens" | "step">,
    found: Script | SubmitFailure,
  ): Result<Generation, SubmitFailure> => {
    if ("kind" in found) return fail(found);
    running++;
    return ok(replay(request, found, { vocabularyCount, ended: () => running-- }));
  };
  return {
    vocabularyCount,
    contextMax,
    compile,
    submit: (request) => begin(request, script(request)),
    embed: (tokens) =>
      begin({ tokens, step: false }, vector?.(tokens) ?? { kind: "invalid", message: "the model gives no embeddings" }),
    stats: () => ({ running, queued: 0, grammars, cacheBytes: 0 }),
    [Symbol.dispose]: () => {},
  };
}

function replay(
  request: Pick<EngineRequest, "tokens" | "step">,
  script: Script,
  { vocabularyCount, ended }: { readonly vocabularyCount: number; readonly ended: () => void },
): Generation {
  const cancelled = Promise.withResolvers<"cancelled">();
  let isCancelled = false;
  let released: (() => void) | undefined;
  const cancel = () => {
    isCancelled = true;
    cancelled.resolve("cancelled");
  };
  const inbox = new Inbox(cancel);
  const run = async (): Promise<EngineFinish> => {
    for (const event of script.events) {
      if ((await Promise.race([cancelled.promise, script.pace?.()])) === "cancelled" || isCancelled) return "cancelled";
      if (request.step) {
        const { promise, resolve } = Promise.withResolvers<void>();
        released = resolve;
        inbox.push({ kind: "parked", tokens: request.tokens });
        if ((await Promise.race([cancelled.promise, promise])) === "cancelled") return "cancelled";
      }
      inbox.push(event);
    }
    return script.finish;
  };
  run().then((reason) => {
    ended();
    const { logprobSum = 0 } = script;
    inbox.push({ kind: "finish", reason, timings: { ...timingsOf(request), ...script.timings }, logprobSum });
  });
  return {
    events: inbox,
    cancel,
    logits: new Float32Array(vocabularyCount),
    mask: new Uint32Array(Math.ceil(vocabularyCount / 32)),
    release: () => released?.(),
  };
}

function timingsOf(request: Pick<EngineRequest, "tokens">): Timings {
  return {
    promptTokens: request.tokens.length,
    cachedTokens: 0,
    completionTokens: 0,
    promptMs: 0,
    completionMs: 0,
    closedByRule: false,
  };
}
