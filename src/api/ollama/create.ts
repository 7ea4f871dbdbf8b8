import type { Static } from "@sinclair/typebox";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { parametersFailure } from "../model-options.ts";
import type { DerivationChanges } from "../model-store.ts";
import { type createBody, refusedOfCreate } from "./schema.ts";

/** What a new model is made of. */
export type Creation =
  | { readonly kind: "derive"; readonly from: string; readonly changes: DerivationChanges }
  /** Of weights that were sent before. */
  | { readonly kind: "adopt"; readonly sha256: string };

/** What the body of POST /api/create asks for. What would change weights is refused. */
export function createChanges(
  fields: Static<typeof createBody> & Readonly<Record<string, unknown>>,
): Result<Creation, Failure> {
  for (const [param, reason] of Object.entries(refusedOfCreate)) {
    const value = fields[param];
    const empty = value === undefined || value === null || value === "";
    if (empty || (typeof value === "object" && Object.keys(value).length === 0)) continue;
    return refuse(`'${param}' is not supported: ${reason}.`, param);
  }
  const { from, files, parameters, system, template, license, messages } = fields;
  const failure = parameters ? parametersFailure(parameters) : undefined;
  if (failure !== undefined) return fail(failure);
  if (files && Object.keys(files).length > 0) {
    if (from || parameters || system || template || messages) {
      return refuse("'files' make a model by themselves: create another one from it to say more.", "files");
    }
    return adoption(files);
  }
  if (!from) return refuse("neither 'from' or 'files' was specified", "from");
  return ok({
    kind: "derive",
    from,
    changes: {
      ...(parameters ? { parameters } : {}),
      ...(typeof system === "string" ? { system } : {}),
      ...(template ? { template } : {}),
      ...(license ? { license: [license].flat() } : {}),
      ...(messages ? { messages: messages.map(({ role, content }) => ({ role, content })) } : {}),
    },
  });
}

/** One file in GGUF. */
function adoption(files: Readonly<Record<string, string>>): Result<Creation, Failure> {
  const [first, ...others] = Object.entries(files);
  if (first === undefined || others.length > 0) return refuse("'files' may have one GGUF file.", "files");
  const [, sha256] = /^sha256[:-]([0-9a-f]{64})$/i.exec(first[1]) ?? [];
  if (sha256 === undefined) return refuse("invalid digest format", "files");
  return ok({ kind: "adopt", sha256: sha256.toLowerCase() });
}

function refuse(message: string, param: string): Result<never, Failure> {
  return fail({ kind: "invalid", message, param, code: "unsupported_parameter" });
}
