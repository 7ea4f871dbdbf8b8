import type { ModelDetail } from "../../generation/model-detail.ts";

/** A model in OpenAI's form, with llama.cpp's `meta` and what Tenon knows beside. */
export function encodeModel(detail: ModelDetail) {
  return {
    id: detail.id,
    object: "model",
    created: detail.created,
    owned_by: "tenon",
    context_length: detail.contextMax,
    capabilities: detail.capabilities,
    tool_dialect: detail.dialect,
    tool_dialect_detected: detail.dialectDetected,
    meta: {
      n_vocab: detail.vocabularyCount,
      n_ctx_train: detail.contextTrained,
      n_embd: detail.embeddingLength,
      n_params: detail.parameters,
      size: detail.fileBytes,
    },
  };
}
