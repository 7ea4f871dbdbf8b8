import type { ModelDetail } from "../../generation/model-detail.ts";
import { fail, ok } from "../../generation/result.ts";
import { decodeService } from "../service-fixture.ts";
import type { DecodeService } from "./decode-answering.ts";

/** For tests: the loaded model, which thinks. */
export const loaded: ModelDetail = {
  id: "Loaded-Q4_0",
  created: 1,
  contextMax: 4096,
  dialect: "hermes",
  dialectDetected: true,
  file: undefined,
  fileBytes: 1,
  digest: "0".repeat(64),
  quantisation: "Q4_0",
  parameters: 1,
  family: "llama",
  contextTrained: 4096,
  embeddingLength: 1,
  layers: 1,
  vocabularyCount: 256,
  template: undefined,
  bos: "",
  eos: "",
  capabilities: ["completion", "tools", "thinking"],
};

export const service: DecodeService = {
  ...decodeService,
  describe: () => loaded,
  chosen: (name) => {
    if (name === "other") return fail({ kind: "invalid", message: "not loaded", param: "model" });
    return ok({ id: name === "mario" ? "mario:v2" : loaded.id, asked: loaded.id, derivation: undefined });
  },
};
