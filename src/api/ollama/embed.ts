import type { Embeddings } from "../../generation/embedding.ts";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { decodeOptions } from "../model-options.ts";
import type { Refusal } from "../refusal.ts";
import { requestIdOf } from "../room.ts";
import type { Service } from "../service.ts";
import { cut } from "../vectors.ts";
import { nanoseconds } from "./encode.ts";
import { errorResponse } from "./error.ts";
import { decodeKeepAlive } from "./keep-alive.ts";
import { reader } from "./manage.ts";
import { listedName } from "./model-names.ts";
import { embedBody, embeddingsBody } from "./schema.ts";

const readEmbed = reader(embedBody);
const readEmbeddings = reader(embeddingsBody);

/** POST /api/embed: a vector for each text. */
export async function embed(service: Service, http: Request): Promise<Response> {
  const startMs = performance.now();
  const body = await readEmbed(service, http);
  if (!body.ok) return errorResponse(body.failure);
  const { fields, headers } = body.value;
  const { input, dimensions, truncate } = fields;
  // Nothing has no vector.
  const inputs = input === "" ? [] : [input ?? []].flat();
  const embedded = await vectorsOf(service, { ...fields, truncate: truncate ?? true }, inputs, http);
  if (!embedded.ok) return errorResponse(embedded.failure);
  const { model, vectors, promptTokens } = embedded.value;
  return Response.json(
    {
      model,
      embeddings: vectors.map((vector) => [...cut(vector, dimensions || undefined)]),
      total_duration: nanoseconds(performance.now() - startMs),
      load_duration: 0,
      prompt_eval_count: promptTokens,
    },
    { headers },
  );
}

/** POST /api/embeddings: of one text, as it was before. */
export async function embeddings(service: Service, http: Request): Promise<Response> {
  const body = await readEmbeddings(service, http);
  if (!body.ok) return errorResponse(body.failure);
  const { fields, headers } = body.value;
  const embedded = await vectorsOf(service, { ...fields, truncate: false }, fields.prompt ? [fields.prompt] : [], http);
  if (!embedded.ok) return errorResponse(embedded.failure);
  return Response.json({ embedding: [...(embedded.value.vectors[0] ?? [])] }, { headers });
}

type Fields = {
  readonly model?: string | null;
  readonly name?: string | null;
  readonly keep_alive?: string | number | null;
  readonly options?: object | null;
  readonly truncate: boolean;
};

async function vectorsOf(
  service: Service,
  { model: named, name, keep_alive, options, truncate }: Fields,
  inputs: readonly string[],
  http: Request,
): Promise<Result<Embeddings & { readonly model: string }, Failure | Refusal>> {
  const model = service.chosen(named ?? name ?? undefined);
  if (!model.ok) return model;
  const keepAlive = decodeKeepAlive(keep_alive);
  if (!keepAlive.ok) return keepAlive;
  const decoded = decodeOptions(options, service);
  if (!decoded.ok) return decoded;
  if (inputs.some((text) => text === "")) {
    return fail({ kind: "invalid", message: "an input is empty", param: "input" });
  }
  const { id, asked, derivation } = model.value;
  const own = decodeOptions(derivation?.parameters, service);
  if (!own.ok) return own;
  const contextMax = decoded.value.contextMax ?? own.value.contextMax;
  const embedded = await service.embed(
    inputs,
    { id: requestIdOf(http), model: asked, truncate, contextMax },
    http.signal,
  );
  return embedded.ok ? ok({ ...embedded.value, model: listedName(id) }) : embedded;
}
