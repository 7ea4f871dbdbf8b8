import type { TextTable } from "./text-table.ts";

/**
 * What a model file says about itself. `manifest` is what the native side needs, `tokenizer` and `chatTemplate` what the
 * TypeScript side needs. Read by gguf.ts today; safetensors and config.json come beside it.
 */
export type ModelCard = {
  /** The id that answers carry, from the file's own name: `SmolLM2-135M-Instruct.Q4_1`. */
  readonly id: string;
  readonly path: string;
  readonly fileBytes: number;
  readonly manifest: Manifest;
  readonly tokenizer: TokenizerCard;
  /** Jinja source; undefined when the file has none (a base model). */
  readonly chatTemplate: string | undefined;
};

/**
 * Crosses to zig/model as JSON text, names as here. Tensors are named as in GGUF (`blk.0.attn_q.weight`), whatever
 * the file calls them; `output.weight` absent means tied to `token_embd.weight`.
 */
export type Manifest = {
  readonly architecture: "llama" | "qwen2" | "gemma3";
  readonly files: readonly string[];
  /** Tokens. */
  readonly context_max: number;
  readonly vocabulary: number;
  readonly layers: number;
  readonly embedding: number;
  readonly feed_forward: number;
  readonly heads: number;
  readonly heads_kv: number;
  /** Elements of one key head and one value head. */
  readonly key_length: number;
  readonly value_length: number;
  readonly norm_epsilon: number;
  readonly rope: {
    /** Rotated elements of a head. */
    readonly dimensions: number;
    readonly pairing: "adjacent" | "halves";
    readonly base: number;
    /** For layers inside a sliding window, where it differs. */
    readonly base_local: number;
    readonly scaling: "none" | "linear" | "yarn";
    readonly factor: number;
    readonly original_context: number;
    /** Multiplies the rotated query and key; for yarn it has the logarithm of `factor` in it already. */
    readonly attention_factor: number;
    readonly beta_fast: number;
    readonly beta_slow: number;
  };
  /** Sliding window in tokens, 0 for none. With pattern p, layer i is global when (i + 1) % p == 0; 1 means every layer is windowed. */
  readonly window: number;
  readonly window_pattern: number;
  /** Multiplies q·k. */
  readonly attention_scale: number;
  /** 0 means off. */
  readonly attention_softcap: number;
  readonly logits_softcap: number;
  /** Multiplies token embeddings. */
  readonly embedding_scale: number;
  /** False: each token sees all others, also those after it. */
  readonly causal: boolean;
  /** How an embedding model makes one vector of a text: the mean of all hidden states, or that of the first or last token. */
  readonly pooling: "none" | "mean" | "cls" | "last";
  readonly tensors: readonly Tensor[];
};

export type Tensor = {
  readonly name: string;
  /** ggml's type number. */
  readonly format: number;
  /** Contiguous dimension first, as GGUF has it: (columns, rows). */
  readonly shape: readonly number[];
  readonly file: number;
  /** Bytes from the start of the file. */
  readonly offset: number;
};

/** The tokenizer as the file declares it; tokenizer/ turns it into one that runs. */
export type TokenizerCard =
  | {
      readonly kind: "gguf";
      /** `gpt2` is byte-level BPE, `llama` SentencePiece with byte fallback. */
      readonly model: "gpt2" | "llama";
      /** Name of the pre-tokenizer: `smollm`, `qwen2`, `llama-bpe`, `default` … */
      readonly pre: string;
      /** Kept as bytes of the file: a quarter of a million strings would cost more than all the rest of start-up. */
      readonly tokens: TextTable;
      /** One of `ggufTokenTypes` for each token. */
      readonly types: Uint8Array;
      /** Empty for `gpt2`. */
      readonly scores: Float32Array;
      /** `left right`, best first; empty for `llama`, which merges by score. */
      readonly merges: TextTable;
      readonly special: SpecialTokens;
      readonly addSpacePrefix: boolean;
    }
  | { readonly kind: "tokenizer_json"; readonly path: string; readonly special: SpecialTokens };

/** Part of the GGUF format (`tokenizer.ggml.token_type`). */
export const ggufTokenTypes = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

export type SpecialTokens = {
  readonly bos: number | undefined;
  readonly eos: number | undefined;
  /** Further declared ends of a turn or message. */
  readonly eot: number | undefined;
  readonly eom: number | undefined;
  readonly unknown: number | undefined;
  readonly padding: number | undefined;
  readonly addBos: boolean;
  readonly addEos: boolean;
};

/** For a bare tokenizer.json, which says nothing of them; the tokenizer finds ends of turns by their names. */
export const undeclaredTokens: SpecialTokens = {
  bos: undefined,
  eos: undefined,
  eot: undefined,
  eom: undefined,
  unknown: undefined,
  padding: undefined,
  addBos: false,
  addEos: false,
};
