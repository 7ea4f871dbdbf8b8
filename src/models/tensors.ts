import type { Manifest, Tensor } from "./card.ts";
import { formatName, formats } from "./formats.ts";

type Sizes = Pick<
  Manifest,
  | "architecture"
  | "layers"
  | "embedding"
  | "feed_forward"
  | "heads"
  | "heads_kv"
  | "key_length"
  | "value_length"
  | "vocabulary"
> & { readonly ropeDimensions: number };

type Expected = { readonly shape: readonly number[]; readonly optional: boolean };

/**
 * The first thing about the tensors that the native side could not work with: one that is missing, unknown, of a wrong
 * shape or format, or beyond the end of its file. Undefined: all is well.
 */
export function tensorProblem(
  sizes: Sizes,
  tensors: readonly Tensor[],
  filesBytes: readonly number[],
): string | undefined {
  const expected = expectedTensors(sizes);
  const seen = new Set<string>();
  for (const tensor of tensors) {
    const problem = problemOf(tensor, expected.get(tensor.name), filesBytes[tensor.file] ?? 0);
    if (problem !== undefined) return problem;
    if (seen.has(tensor.name)) return `has the tensor ${tensor.name} twice`;
    seen.add(tensor.name);
  }
  for (const [name, { optional }] of expected) {
    if (!optional && !seen.has(name)) return `has no tensor ${name}`;
  }
  return undefined;
}

function problemOf(tensor: Tensor, expected: Expected | undefined, fileBytes: number): string | undefined {
  const { name, shape } = tensor;
  if (expected === undefined) return `has a tensor ${name}, which this architecture does not have in Tenon`;
  const format = formats.get(tensor.format);
  if (format === undefined)
    return `has the tensor ${name} in the format ${formatName(tensor.format)}, which is not supported`;
  // Trailing dimensions of 1 may be written out.
  const trimmed = shape.slice(0, expected.shape.length);
  if (trimmed.join() !== expected.shape.join() || shape.slice(expected.shape.length).some((size) => size !== 1)) {
    return `has the tensor ${name} in the shape ${shape.join(" × ")}, not ${expected.shape.join(" × ")}`;
  }
  const [columns = 0, rows = 1] = expected.shape;
  if (columns % format.elements !== 0) {
    return `has ${columns} columns in ${name}, not a multiple of the ${format.elements} of a ${format.name} block`;
  }
  const end = tensor.offset + (columns / format.elements) * format.bytes * rows;
  if (end > fileBytes) return `is truncated: the tensor ${name} ends at byte ${end}, the file at ${fileBytes}`;
  return undefined;
}

/** Names as GGUF has them; shapes with the contiguous dimension first. */
function expectedTensors(sizes: Sizes): Map<string, Expected> {
  const { architecture, embedding: n, feed_forward: ff, heads, heads_kv: kv, key_length: k, value_length: v } = sizes;
  const expected = new Map<string, Expected>();
  const need = (name: string, ...shape: number[]) => expected.set(name, { shape, optional: false });
  const may = (name: string, ...shape: number[]) => expected.set(name, { shape, optional: true });

  need("token_embd.weight", n, sizes.vocabulary);
  need("output_norm.weight", n);
  may("output.weight", n, sizes.vocabulary);
  if (architecture === "llama") may("rope_freqs.weight", sizes.ropeDimensions / 2);
  for (let layer = 0; layer < sizes.layers; layer++) {
    const block = `blk.${layer}.`;
    need(`${block}attn_norm.weight`, n);
    need(`${block}attn_q.weight`, n, heads * k);
    need(`${block}attn_k.weight`, n, kv * k);
    need(`${block}attn_v.weight`, n, kv * v);
    need(`${block}attn_output.weight`, heads * v, n);
    need(`${block}ffn_norm.weight`, n);
    need(`${block}ffn_gate.weight`, n, ff);
    need(`${block}ffn_up.weight`, n, ff);
    need(`${block}ffn_down.weight`, ff, n);
    if (architecture === "gemma3") {
      need(`${block}attn_q_norm.weight`, k);
      need(`${block}attn_k_norm.weight`, k);
      need(`${block}post_attention_norm.weight`, n);
      need(`${block}post_ffw_norm.weight`, n);
      continue;
    }
    const bias = architecture === "qwen2" ? need : may;
    bias(`${block}attn_q.bias`, heads * k);
    bias(`${block}attn_k.bias`, kv * k);
    bias(`${block}attn_v.bias`, kv * v);
  }
  return expected;
}
