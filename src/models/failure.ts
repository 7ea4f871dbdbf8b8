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
