/** How the next token is chosen. */
export type Sampling = {
  /** 0 is greedy. */
  readonly temperature: number;
  /** 0 means off. */
  readonly topK: number;
  /** 1 means off. */
  readonly topP: number;
  /** 0 means off. */
  readonly minP: number;
  /** 1 means off. */
  readonly repeatPenalty: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  /** Undefined: a fresh one for every answer. */
  readonly seed: number | undefined;
  readonly logitBias: readonly { readonly token: number; readonly bias: number }[];
};

/** What somebody says of it; undefined says nothing. */
export type AskedSampling = {
  readonly [Name in Exclude<keyof Sampling, "seed">]?: Sampling[Name] | undefined;
} & { readonly seed?: number | "fresh" | undefined };

export const defaultSampling: Sampling = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  seed: undefined,
  logitBias: [],
};

/** What is asked for, and for the rest the default. */
export function samplingOf(asked: AskedSampling): Sampling {
  return {
    temperature: asked.temperature ?? defaultSampling.temperature,
    topK: asked.topK ?? defaultSampling.topK,
    topP: asked.topP ?? defaultSampling.topP,
    minP: asked.minP ?? defaultSampling.minP,
    repeatPenalty: asked.repeatPenalty ?? defaultSampling.repeatPenalty,
    frequencyPenalty: asked.frequencyPenalty ?? defaultSampling.frequencyPenalty,
    presencePenalty: asked.presencePenalty ?? defaultSampling.presencePenalty,
    seed: asked.seed === "fresh" ? undefined : (asked.seed ?? defaultSampling.seed),
    logitBias: asked.logitBias ?? defaultSampling.logitBias,
  };
}

/** What is asked for, and for the rest what lies below. */
export function samplingOver(asked: AskedSampling, below: AskedSampling): AskedSampling {
  const said = Object.entries(asked).filter(([, value]) => value !== undefined);
  return { ...below, ...Object.fromEntries(said) };
}
