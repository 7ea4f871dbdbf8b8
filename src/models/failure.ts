import type { Failure } from "../generation/failure.ts";

/** Why a model cannot be used. `message` is for a person and names the file and the thing. */
export type ModelFailure = {
  readonly kind: /** No such file, folder or name. */
    | "missing"
    /** Several models fit what was asked for. */
    | "ambiguous"
    /** The file is truncated or breaks its format. */
    | "corrupt"
    /** The file is sound and asks for something that Tenon does not do. */
    | "unsupported";
  readonly message: string;
};

/** What a disk said, for whoever asked over the network: the system's own code, without the path. */
export function diskFailure(what: string, error: unknown): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  const reason = code ?? (error instanceof Error ? error.message : String(error));
  return { kind: "engine", message: `${what}: ${reason}` };
}
