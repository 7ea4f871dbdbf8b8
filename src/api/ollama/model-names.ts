import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { StoredModel } from "../../generation/stored-model.ts";
import type { Service } from "../service.ts";

/** A model that has to be there. */
export function findModel(name: string, store: Service["store"]): Result<StoredModel, Failure> {
  const found = store.find(name);
  return found === undefined ? fail({ kind: "model_not_found", model: name }) : ok(found);
}

/** Ollama's clients complete names by the tag, so that lists have to show it. */
export function listedName(id: string): string {
  return id.includes(":") ? id : `${id}:latest`;
}
