import { Type } from "@sinclair/typebox";
import type { Embeddings } from "../../generation/embedding.ts";
import type { Failure } from "../../generation/failure.ts";
import type { ModelDetail } from "../../generation/model-detail.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { embeddingInputsMax } from "../../limits.ts";
import type { JsonBody } from "../body.ts";
import { checker } from "../check.ts";
import { oneOf, open, optional, strictFailure, unreadFields } from "../fields.ts";
import { cut } from "../vectors.ts";
import type { DecodeService } from "./decode.ts";
import { eachOf, textsOrTokens } from "./texts-or-tokens.ts";

export type EmbeddingRequest = {
  readonly model: string | undefined;
  readonly inputs: readonly (string | Uint32Array<ArrayBuffer>)[];
  readonly base64: boolean;
  /** Elements to keep of each vector; undefined keeps all. */
  readonly dimensions: number | undefined;
  readonly ignored: readonly string[];
};

export function decodeEmbedding(
  body: JsonBody,
  { strictFields }: Pick<DecodeService, "strictFields">,
): Result<EmbeddingRequest, Failure> {
  const checked = checkEmbedding(body.value);
  if (!checked.ok) return checked;
  const { model, input, encoding_format, dimensions } = checked.value;
  const ignored = unreadFields(checked.value, embeddingBody, ["user"]);
  const refusal = strictFields ? strictFailure(ignored) : undefined;
  if (refusal !== undefined) return fail(refusal);
  return ok({
    model: model ?? undefined,
    inputs: eachOf(input),
    base64: encoding_format === "base64",
    dimensions: dimensions ?? undefined,
    ignored,
  });
}

export const embeddingBody = open({
  model: optional(Type.String()),
  input: textsOrTokens(Type.String({ minLength: 1 }), embeddingInputsMax),
  encoding_format: optional(oneOf(["float", "base64"])),
  dimensions: optional(Type.Integer({ minimum: 1 })),
});

const checkEmbedding = checker(embeddingBody);

/** What is wrong with a wish for fewer dimensions. A model that gives no embeddings says so itself. */
export function dimensionsFailure(
  { dimensions }: Pick<EmbeddingRequest, "dimensions">,
  { capabilities, embeddingLength }: Pick<ModelDetail, "capabilities" | "embeddingLength">,
): Failure | undefined {
  if (dimensions === undefined || dimensions <= embeddingLength || !capabilities.includes("embedding"))
    return undefined;
  const message = `Invalid value for 'dimensions': the model's embeddings have ${embeddingLength}.`;
  return { kind: "invalid", message, param: "dimensions", code: "invalid_value" };
}

/** Vectors cut to `dimensions` have length one again. Base64 is of little-endian floats. */
export function encodeEmbeddings(
  model: string,
  { vectors, promptTokens }: Embeddings,
  { base64, dimensions }: Pick<EmbeddingRequest, "base64" | "dimensions">,
): object {
  const data = vectors.map((vector, index) => {
    const kept = cut(vector, dimensions);
    return { object: "embedding", index, embedding: base64 ? encodeBase64(kept) : [...kept] };
  });
  return { object: "list", data, model, usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } };
}

function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((element, index) => {
    bytes.writeFloatLE(element, index * 4);
  });
  return bytes.toString("base64");
}
