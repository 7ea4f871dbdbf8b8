import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import type { Derivation, StoredModel } from "../../generation/stored-model.ts";
import type { Service } from "../service.ts";

/** The model that answers. */
export type ChosenModel = {
  /** As lists and answers have it. */
  readonly name: string;
  /** For generation: the loaded model's own, or a name that nobody knows, which `--strict-models` refuses. */
  readonly asked: string;
  readonly derivation: Derivation | undefined;
};

/**
 * What a name means to a server with one loaded model: that one, one made from it, and so does a name that no model here has. A model
 * that is here and not loaded is refused, since another one would answer for it.
 */
export function chooseModel(
  name: string | null | undefined,
  service: Pick<Service, "describe" | "store">,
): Result<ChosenModel, Failure> {
  const loaded = service.describe().id;
  const found = name ? service.store.find(name) : undefined;
  if (found === undefined) return ok({ name: listedName(loaded), asked: name || loaded, derivation: undefined });
  if (found.loaded) return ok({ name: listedName(found.id), asked: loaded, derivation: found.derivation });
  const message = `model '${name}' is not loaded: this server runs '${loaded}', and another one with '-m ${found.derivation?.base ?? found.id}'`;
  return fail({ kind: "invalid", message, param: "model", code: "unsupported_value" });
}

/** A model that has to be there. */
export function findModel(name: string, store: Service["store"]): Result<StoredModel, Failure> {
  const found = store.find(name);
  return found === undefined ? fail({ kind: "model_not_found", model: name }) : ok(found);
}

/** Ollama's clients complete names by the tag, so that lists have to show it. */
export function listedName(id: string): string {
  return id.includes(":") ? id : `${id}:latest`;
}
