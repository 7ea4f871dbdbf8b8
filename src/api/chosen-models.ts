import type { Failure } from "../generation/failure.ts";
import type { ModelDetail } from "../generation/model-detail.ts";
import type { Message, Request } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { samplingOver } from "../generation/sampling.ts";
import type { Derivation, StoredModel } from "../generation/stored-model.ts";
import { decodeOptions } from "./model-options.ts";
import type { ChosenModel, Service } from "./service.ts";
import { truncated } from "./truncate.ts";

/**
 * A service of one loaded model, as one that also answers under the names of the models that were made from it: the one place where a
 * request's name becomes a model, with what that model says where the request says nothing.
 */
export function chosenModels(service: Omit<Service, "chosen" | "models">): Service {
  const { store } = service;
  const loaded = () => service.describe();

  const chosen = (name: string | undefined): Result<ChosenModel, Failure> => {
    const { id } = loaded();
    const found = name === undefined || name === "" || name === id ? undefined : store.find(name);
    // Another name than the loaded model's: what it means is the service's to say.
    if (found === undefined) return ok({ id, asked: name || id, derivation: undefined });
    if (found.loaded) return ok({ id: found.id, asked: id, derivation: found.derivation });
    const message = `model '${name}' is not loaded: this server runs '${id}', and another one with '-m ${found.derivation?.base ?? found.id}'`;
    return fail({ kind: "invalid", message, param: "model", code: "unsupported_value" });
  };

  /** The request as the loaded model has to be asked. */
  const resolved = (request: Request): Result<{ readonly request: Request; readonly id: string }, Failure> => {
    const model = chosen(request.model);
    if (!model.ok) return model;
    const { id, asked, derivation } = model.value;
    const own = derivation === undefined ? ok(request) : withDerivation(request, derivation, service);
    if (!own.ok) return own;
    const named = { ...own.value, model: request.model === undefined ? undefined : asked };
    return ok({ id, request: named.truncate === true ? truncated(named, service) : named });
  };

  return {
    ...service,
    chosen,
    async answer(asked, signal) {
      const request = resolved(asked);
      if (!request.ok) return request;
      const answer = await service.answer(request.value.request, signal);
      return answer.ok ? ok({ ...answer.value, model: request.value.id }) : answer;
    },
    prompt(asked) {
      const request = resolved(asked);
      return request.ok ? service.prompt(request.value.request) : request;
    },
    models: () => [loaded(), ...store.derived().map((model) => detailOf(model, loaded()))],
  };
}

/** What lists say of a model made from the loaded one. */
function detailOf({ id, modifiedMs, derivation }: StoredModel, loaded: ModelDetail): ModelDetail {
  const context = derivation?.parameters["num_ctx"];
  return {
    ...loaded,
    id,
    created: Math.floor(modifiedMs / 1000),
    contextMax: typeof context === "number" ? Math.min(context, loaded.contextMax) : loaded.contextMax,
    template: derivation?.template ?? loaded.template,
  };
}

function withDerivation(
  request: Request,
  derivation: Derivation,
  service: Pick<Service, "tokenize">,
): Result<Request, Failure> {
  const options = decodeOptions(derivation.parameters, service);
  if (!options.ok) return options;
  const { sampling, stop, tokensMax, contextMax } = options.value;
  const template = request.template ?? derivation.template;
  const context = request.contextMax ?? contextMax;
  return ok({
    ...request,
    messages: request.prompt === undefined ? withOwn(request, derivation) : request.messages,
    sampling: samplingOver(request.sampling, sampling),
    stop: request.stop ?? stop,
    tokensMax: request.tokensMax ?? tokensMax,
    ...(context === undefined ? {} : { contextMax: context }),
    ...(template === undefined ? {} : { template }),
  });
}

/**
 * The conversation with what its model says before any: its system message where the caller has none, and after it the turns that it was
 * made with, unless the conversation goes on from tokens, which have them.
 */
function withOwn({ messages, before = [] }: Request, { system, messages: turns }: Derivation): readonly Message[] {
  const [first, ...others] = messages;
  const theirs = first?.role === "system" ? first : undefined;
  const rules: readonly Message[] = theirs ? [theirs] : system ? [{ role: "system", content: system }] : [];
  const own = before.length > 0 ? [] : turns.map(turnOf);
  return [...rules, ...own, ...(theirs ? others : messages)];
}

function turnOf({ role, content }: Derivation["messages"][number]): Message {
  return role === "assistant" ? { role, content, reasoning: undefined, calls: [] } : { role, content };
}
