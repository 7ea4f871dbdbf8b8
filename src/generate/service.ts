import { generate } from "../generate.ts";
import type { Answer } from "../generation/answer.ts";
import { contradictionOf } from "../generation/contradiction.ts";
import type { Embeddings, EmbedOptions } from "../generation/embedding.ts";
import type { Failure } from "../generation/failure.ts";
import type { ModelDetail } from "../generation/model-detail.ts";
import type { Request } from "../generation/request.ts";
import { fail, type Result } from "../generation/result.ts";
import type { Status } from "../generation/status.ts";
import { type Prompt, withBos } from "../prompt/render.ts";
import { embed } from "./embed.ts";
import type { Log } from "./log.ts";
import type { Model } from "./model.ts";
import { countTotals } from "./totals.ts";

/** What a loaded model can be asked, in the inner language: the part of the api's Service that depends on it. */
export function modelService(model: Model, detail: ModelDetail, options: ModelServiceOptions) {
  const { strictModels, slots, queueMax, log } = options;
  const totals = countTotals();
  const { tokenizer, engine } = model;
  const { vocabulary } = tokenizer;
  return {
    describe: () => detail,
    answer: (request: Request, signal: AbortSignal): Promise<Result<Answer, Failure>> =>
      generate(model, request, signal, { strictModels, log, ended: totals.ended }),
    prompt(request: Request): Result<Prompt, Failure> {
      const contradiction = contradictionOf(request);
      return contradiction === undefined ? model.render(request) : fail(contradiction);
    },
    tokenize(text: string, { special, bos }: { readonly special: boolean; readonly bos: boolean }) {
      const tokens = tokenizer.encode(text, { special });
      return bos ? withBos(tokenizer, tokens) : tokens;
    },
    detokenize: (tokens: readonly number[]) => tokenizer.decode(tokens, { special: true }),
    pieces: (tokens: readonly number[]) =>
      tokens.map((token) => vocabulary.bytes.subarray(vocabulary.offsets[token], vocabulary.offsets[token + 1])),
    async embed(
      inputs: readonly (string | Uint32Array<ArrayBuffer>)[],
      asked: EmbedOptions,
      signal: AbortSignal,
    ): Promise<Result<Embeddings, Failure>> {
      if (strictModels && asked.model !== undefined && asked.model !== detail.id) {
        return fail({ kind: "model_not_found", model: asked.model });
      }
      if (model.embeds !== true) {
        const message = `The model '${detail.id}' is no embedding model: it has no embeddings of texts to give.`;
        return fail({ kind: "invalid", message, param: "model", code: "unsupported_value" });
      }
      return embed(model, inputs, { ...asked, signal, atOnce: slots, log, ended: totals.embedded });
    },
    status(): Status {
      return { slots, queueMax, ...engine.stats(), totals: totals.now() };
    },
  };
}

type ModelServiceOptions = {
  readonly strictModels: boolean;
  readonly slots: number;
  readonly queueMax: number;
  readonly log: Log;
};
