/** Writes small GGUF files for tests: the inverse of gguf-file.ts, written from the format's description. */
export type FixtureValue =
  | { readonly type: "u8" | "u32" | "i32" | "u64" | "f32" | "bool"; readonly value: number }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "strings"; readonly value: readonly string[] }
  | { readonly type: "i32s" | "f32s"; readonly value: readonly number[] };

export type FixtureTensor = {
  readonly name: string;
  readonly shape: readonly number[];
  readonly format: number;
  readonly bytes: number;
};

export function ggufBytes(
  metadata: Readonly<Record<string, FixtureValue>>,
  tensors: readonly FixtureTensor[],
  version = 3,
): Uint8Array<ArrayBuffer> {
  const out: number[] = [];
  const u32 = (value: number) => out.push(value & 255, (value >>> 8) & 255, (value >>> 16) & 255, (value >>> 24) & 255);
  const u64 = (value: number) => {
    u32(value % 2 ** 32);
    u32(Math.floor(value / 2 ** 32));
  };
  const f32 = (value: number) => out.push(...new Uint8Array(Float32Array.of(value).buffer));
  const string = (value: string) => {
    const bytes = new TextEncoder().encode(value);
    u64(bytes.length);
    out.push(...bytes);
  };
  u32(0x46554747);
  u32(version);
  u64(tensors.length);
  u64(Object.keys(metadata).length);
  for (const [key, { type, value }] of Object.entries(metadata)) {
    string(key);
    switch (type) {
      case "u8":
        u32(0);
        out.push(value);
        break;
      case "u32":
        u32(4);
        u32(value);
        break;
      case "i32":
        u32(5);
        u32(value);
        break;
      case "f32":
        u32(6);
        f32(value);
        break;
      case "bool":
        u32(7);
        out.push(value);
        break;
      case "u64":
        u32(10);
        u64(value);
        break;
      case "string":
        u32(8);
        string(value);
        break;
      case "strings":
        u32(9);
        u32(8);
        u64(value.length);
        for (const text of value) string(text);
        break;
      case "i32s":
        u32(9);
        u32(5);
        u64(value.length);
        for (const number of value) u32(number);
        break;
      case "f32s":
        u32(9);
        u32(6);
        u64(value.length);
        for (const number of value) f32(number);
        break;
    }
  }
  let offset = 0;
  for (const tensor of tensors) {
    string(tensor.name);
    u32(tensor.shape.length);
    for (const size of tensor.shape) u64(size);
    u32(tensor.format);
    u64(offset);
    offset += Math.ceil(tensor.bytes / 32) * 32;
  }
  while (out.length % 32 !== 0) out.push(0);
  const header = out.length;
  const bytes = new Uint8Array(header + offset);
  bytes.set(out);
  return bytes;
}

/** Metadata and tensors of a model with one layer, all F32, that every check accepts. */
export function tinyModel(architecture: "llama" | "qwen2" | "gemma3"): {
  metadata: Record<string, FixtureValue>;
  tensors: FixtureTensor[];
} {
  const [n, ff, heads, kv, k, tokens] = [8, 16, 2, 1, 4, 5] as const;
  const sentencePiece = architecture === "gemma3";
  const tensor = (name: string, ...shape: number[]): FixtureTensor => ({
    name,
    shape,
    format: 0,
    bytes: shape.reduce((product, size) => product * size, 4),
  });
  const block = (name: string, ...shape: number[]) => tensor(`blk.0.${name}`, ...shape);
  return {
    metadata: {
      "general.architecture": { type: "string", value: architecture },
      [`${architecture}.block_count`]: { type: "u32", value: 1 },
      [`${architecture}.context_length`]: { type: "u32", value: 64 },
      [`${architecture}.embedding_length`]: { type: "u32", value: n },
      [`${architecture}.feed_forward_length`]: { type: "u32", value: ff },
      [`${architecture}.attention.head_count`]: { type: "u32", value: heads },
      [`${architecture}.attention.head_count_kv`]: { type: "u32", value: kv },
      [`${architecture}.attention.layer_norm_rms_epsilon`]: { type: "f32", value: 0.5 },
      "tokenizer.ggml.model": { type: "string", value: sentencePiece ? "llama" : "gpt2" },
      "tokenizer.ggml.tokens": { type: "strings", value: ["a", "b", "ab", "c", "<end>"] },
      "tokenizer.ggml.token_type": { type: "i32s", value: [1, 1, 1, 1, 3] },
      ...(sentencePiece
        ? { "tokenizer.ggml.scores": { type: "f32s", value: [-1, -2, -0.5, -4, 0] } as const }
        : { "tokenizer.ggml.merges": { type: "strings", value: ["a b"] } as const }),
      "tokenizer.ggml.eos_token_id": { type: "u32", value: 4 },
    },
    tensors: [
      tensor("token_embd.weight", n, tokens),
      tensor("output_norm.weight", n),
      block("attn_norm.weight", n),
      block("attn_q.weight", n, heads * k),
      block("attn_k.weight", n, kv * k),
      block("attn_v.weight", n, kv * k),
      block("attn_output.weight", heads * k, n),
      block("ffn_norm.weight", n),
      block("ffn_gate.weight", n, ff),
      block("ffn_up.weight", n, ff),
      block("ffn_down.weight", ff, n),
      ...(architecture === "qwen2"
        ? [block("attn_q.bias", heads * k), block("attn_k.bias", kv * k), block("attn_v.bias", kv * k)]
        : []),
      ...(architecture === "gemma3"
        ? [
            block("attn_q_norm.weight", k),
            block("attn_k_norm.weight", k),
            block("post_attention_norm.weight", n),
            block("post_ffw_norm.weight", n),
          ]
        : []),
    ],
  };
}
