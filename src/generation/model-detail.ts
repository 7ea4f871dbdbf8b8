export type ModelInfo = {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** Tokens. */
  readonly contextMax: number;
  /** How its tool calls are written. */
  readonly dialect: string;
  /** False when the template shows no calls and the generic frame is used. */
  readonly dialectDetected: boolean;
};

/** What there is to know about the loaded model; of a model without weights there is no file. */
export type ModelDetail = ModelInfo & {
  /** The file's name without its folder. */
  readonly file: string | undefined;
  /** Bytes on disk, all shards. */
  readonly fileBytes: number;
  /** SHA-256, in hexadecimal, of what the file says about itself and its length: cheap, and another one for another model. */
  readonly digest: string;
  /** The format of most weights: `Q4_K`. */
  readonly quantisation: string;
  readonly parameters: number;
  readonly family: string;
  /** Tokens; `contextMax` may be cut below it. */
  readonly contextTrained: number;
  /** Elements of a hidden state. */
  readonly embeddingLength: number;
  readonly layers: number;
  readonly vocabularyCount: number;
  /** Jinja; undefined when the file has none. */
  readonly template: string | undefined;
  readonly bos: string;
  readonly eos: string;
  readonly capabilities: readonly Capability[];
};

/** `thinking`: the template has a switch for it, or shows thoughts. */
export type Capability = "completion" | "tools" | "thinking" | "embedding";
