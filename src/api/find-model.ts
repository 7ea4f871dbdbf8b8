import type { ModelDetail } from "../generation/model-detail.ts";
import type { Service } from "./service.ts";

/** The model of a name among those that answer; undefined for a name that no model has. */
export function findModel(service: Pick<Service, "models" | "store">, name: string): ModelDetail | undefined {
  const models = service.models();
  const known = models.find(({ id }) => id === name);
  if (known !== undefined) return known;
  const found = service.store.find(name);
  return found?.loaded === true ? models.find(({ id }) => id === found.id) : undefined;
}
