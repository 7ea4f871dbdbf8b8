import type { ModelDetail } from "./model-detail.ts";

/** A model that the server has, loaded or not. */
export type StoredModel = {
  /** Its one name, with a tag where it has one: `SmolLM2-135M-Instruct.Q4_1`, `mario:v2`. */
  readonly id: string;
  /** Whether its weights are those that are loaded. */
  readonly loaded: boolean;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
  readonly facts: ModelFacts;
  /** Undefined for a file of weights. */
  readonly derivation: Derivation | undefined;
};

export type ModelFacts = Pick<
  ModelDetail,
  "digest" | "fileBytes" | "family" | "parameters" | "quantisation" | "contextTrained" | "embeddingLength"
>;

/** What a model that was made from another one says beside that one's weights. */
export type Derivation = {
  /** Id of the file of weights. */
  readonly base: string;
  /** Id of the model that it was made from. */
  readonly parent: string;
  /** Defaults of a request's options, by their names. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly system: string | undefined;
  /** Jinja. */
  readonly template: string | undefined;
  readonly license: readonly string[];
  /** Turns in front of every conversation. */
  readonly messages: readonly { readonly role: "system" | "user" | "assistant"; readonly content: string }[];
};

/** How far a model has come on its way here. The last event is `success` or `failure`. */
export type PullEvent =
  | { readonly kind: "listing" | "verifying" | "writing" | "success" }
  /** Bytes of one file, which has this SHA-256. */
  | { readonly kind: "progress"; readonly sha256: string; readonly total: number; readonly completed: number }
  | { readonly kind: "failure"; readonly message: string };
