import type { ModelDetail } from "../../generation/model-detail.ts";
import type { StoredModel } from "../../generation/stored-model.ts";
import { decodeService, unusedStore } from "../service-fixture.ts";
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

const stored = { loaded: true, modifiedMs: 1000, facts: loaded, derivation: undefined } as const;

/** The loaded model, one made from it, and one that is not loaded. */
const models: Readonly<Record<string, StoredModel>> = {
  loaded: { ...stored, id: loaded.id },
  mario: {
    ...stored,
    id: "mario:v2",
    derivation: {
      base: loaded.id,
      parent: loaded.id,
      parameters: { temperature: 0.5, num_predict: 7, stop: ["END"] },
      system: "You are Mario.",
      template: "{{ messages }}",
      license: [],
      messages: [
        { role: "user", content: "Who?" },
        { role: "assistant", content: "Mario!" },
      ],
    },
  },
  other: { ...stored, id: "Other", loaded: false },
};

export const service: DecodeService = {
  ...decodeService,
  describe: () => loaded,
  store: { ...unusedStore, find: (name) => (Object.hasOwn(models, name) ? models[name] : undefined) },
};
