import { basename, dirname, join } from "node:path";
import { fail, ok, type Result } from "../generation/result.ts";
import { layersMax } from "../limits.ts";
import type { Manifest, ModelCard, SpecialTokens, Tensor, TokenizerCard } from "./card.ts";
import type { ModelFailure } from "./failure.ts";
import { type GgufFile, readGgufFile } from "./gguf-file.ts";
import { type Keys, keysOf } from "./keys.ts";
import { tensorProblem } from "./tensors.ts";
import { emptyTextTable } from "./text-table.ts";

/** Reads a GGUF model and everything that the native side and the tokenizer need to know of it. No weights are read. */
export function readGguf(path: string): Result<ModelCard, ModelFailure> {
  const shards = readShards(path);
  if (!shards.ok) return shards;
  const files = shards.value;
  const first = files[0];
  const keys = keysOf(first);
  const refuse = (problem: string) =>
    fail<ModelFailure>({
      kind: problem.includes("truncated") ? "corrupt" : "unsupported",
      message: `${path} ${problem}`,
    });

  const architecture = keys.text("general.architecture");
  if (architecture !== "llama" && architecture !== "qwen2" && architecture !== "gemma3") {
    return refuse(
      keys.problem ?? `is a model of the architecture ${architecture}; supported are llama, qwen2 and gemma3`,
    );
  }
  const tokenizer = tokenizerCard(keys);
  const sizes = hyperParameters(architecture, keys, tokenizer.tokens.count);
  if (keys.problem !== undefined) return refuse(keys.problem);

  const tensors = files.flatMap((file, index) => file.tensors.map((tensor): Tensor => ({ ...tensor, file: index })));
  const problem = tensorProblem(
    { ...sizes, ropeDimensions: sizes.rope.dimensions },
    tensors,
    files.map((file) => file.fileBytes),
  );
  if (problem !== undefined) return refuse(problem);
  return ok({
    id: modelId(path),
    path,
    fileBytes: files.reduce((sum, file) => sum + file.fileBytes, 0),
    manifest: { ...sizes, files: files.map((file) => file.path), tensors },
    tokenizer,
    chatTemplate: keys.has("tokenizer.chat_template") ? keys.text("tokenizer.chat_template") : undefined,
  });
}

/** `dir/SmolLM2.Q4_1-00001-of-00002.gguf` → `SmolLM2.Q4_1`. */
export function modelId(path: string): string {
  return basename(path)
    .replace(/\.gguf$/i, "")
    .replace(shardSuffix, "");
}

const shardSuffix = /-(\d{5})-of-(\d{5})$/;

/** A model in several files is opened by its first one, which has all the metadata. */
function readShards(path: string): Result<[GgufFile, ...GgufFile[]], ModelFailure> {
  const first = readGgufFile(path);
  if (!first.ok) return first;
  const [, number, count] = shardSuffix.exec(basename(path).replace(/\.gguf$/i, "")) ?? [];
  if (number === undefined || count === undefined) return ok([first.value]);
  if (Number(number) !== 1) {
    return fail({ kind: "unsupported", message: `${path} is part ${Number(number)} of a model; name its first part` });
  }
  const files: [GgufFile, ...GgufFile[]] = [first.value];
  for (let index = 2; index <= Number(count); index++) {
    const name = basename(path).replace("-00001-of-", `-${String(index).padStart(5, "0")}-of-`);
    const file = readGgufFile(join(dirname(path), name));
    if (!file.ok) return file;
    files.push(file.value);
  }
  return ok(files);
}

/**
 * Keys and defaults as llama.cpp has them (llama-model.cpp), where a converter may leave a key out.
 * Problems are left in `keys`.
 */
function hyperParameters(
  architecture: Manifest["architecture"],
  keys: Keys,
  vocabulary: number,
): Omit<Manifest, "files" | "tensors"> {
  const at = (name: string) => `${architecture}.${name}`;
  if (keys.count(at("expert_count"), 0) > 0) keys.refuse(`is a mixture of experts, which is not supported`);
  const layers = keys.count(at("block_count"));
  if (layers > layersMax) keys.refuse(`has ${layers} layers, more than ${layersMax}`);
  const embedding = keys.count(at("embedding_length"));
  const heads = keys.count(at("attention.head_count"));
  const headsKv = keys.count(at("attention.head_count_kv"), heads);
  const headLength = heads > 0 ? embedding / heads : 0;
  const keyLength = keys.count(at("attention.key_length"), headLength);
  const valueLength = keys.count(at("attention.value_length"), headLength);
  if (heads === 0 || headsKv === 0 || heads % headsKv !== 0) {
    keys.refuse(`has ${heads} attention heads over ${headsKv} key-value heads`);
  }
  const contextMax = keys.count(at("context_length"));
  const gemma = architecture === "gemma3";
  const window = keys.count(at("attention.sliding_window"), 0);
  // The 27B model is trained with the scale of its embedding, the smaller ones with that of their heads.
  const scaleLength = gemma && layers === 62 ? headLength : keyLength;
  return {
    architecture,
    context_max: contextMax,
    vocabulary,
    layers,
    embedding,
    feed_forward: keys.count(at("feed_forward_length")),
    heads,
    heads_kv: headsKv,
    key_length: keyLength,
    value_length: valueLength,
    norm_epsilon: keys.number(at("attention.layer_norm_rms_epsilon")),
    rope: ropeParameters(architecture, keys, keyLength, contextMax),
    window,
    window_pattern: gemma && window > 0 ? keys.count(at("attention.sliding_window_pattern"), 6) : 1,
    attention_scale: keys.number(at("attention.scale"), 1 / Math.sqrt(scaleLength)),
    attention_softcap: keys.number(at("attn_logit_softcapping"), 0),
    logits_softcap: keys.number(at("final_logit_softcapping"), 0),
    embedding_scale: gemma ? Math.sqrt(embedding) : 1,
    ...poolingParameters(architecture, keys),
  };
}

/** Numbers as llama.cpp has them (llama_pooling_type). A model without a pooling answers, one with it embeds. */
function poolingParameters(architecture: Manifest["architecture"], keys: Keys): Pick<Manifest, "causal" | "pooling"> {
  const number = keys.count(`${architecture}.pooling_type`, 0);
  const pooling = poolings[number];
  const causal = keys.flag(`${architecture}.attention.causal`, true);
  if (pooling === undefined) {
    keys.refuse(number === 4 ? "ranks texts, which is not supported" : `has the pooling ${number}, which is not known`);
  } else if (!causal && pooling === "none") {
    keys.refuse("reads texts in both directions and has no pooling, which is not supported");
  }
  return { causal, pooling: pooling ?? "none" };
}

const poolings = ["none", "mean", "cls", "last"] as const;

function ropeParameters(
  architecture: Manifest["architecture"],
  keys: Keys,
  keyLength: number,
  contextMax: number,
): Manifest["rope"] {
  const at = (name: string) => `${architecture}.rope.${name}`;
  const gemma = architecture === "gemma3";
  // Before there was a type, a factor alone meant linear scaling, under an older key still.
  const factor = keys.number(at("scaling.factor"), keys.number(at("scale_linear"), 1)) || 1;
  const type = keys.text(at("scaling.type"), "linear");
  if (type !== "none" && type !== "linear" && type !== "yarn") {
    keys.refuse(`has the RoPE scaling ${type}; supported are linear and yarn`);
  }
  const scaling = type === "yarn" ? "yarn" : type === "linear" && factor !== 1 ? "linear" : "none";
  const dimensions = keys.count(at("dimension_count"), keyLength);
  if (dimensions % 2 !== 0 || dimensions > keyLength) {
    keys.refuse(`rotates ${dimensions} of the ${keyLength} elements of a head`);
  }
  const base = keys.number(at("freq_base"), gemma ? 1_000_000 : 10_000);
  const attentionFactor = keys.number(at("scaling.attn_factor"), keys.number(at("scaling.yarn_attn_factor"), 1));
  return {
    dimensions,
    pairing: architecture === "llama" ? "adjacent" : "halves",
    base,
    base_local: gemma ? keys.number(at("freq_base_swa"), 10_000) : base,
    scaling,
    factor: scaling === "none" ? 1 : factor,
    original_context: keys.count(at("scaling.original_context_length"), contextMax),
    attention_factor: scaling === "yarn" ? attentionFactor * (1 + 0.1 * Math.log(factor)) : 1,
    beta_fast: keys.number(at("scaling.yarn_beta_fast"), 32),
    beta_slow: keys.number(at("scaling.yarn_beta_slow"), 1),
  };
}

function tokenizerCard(keys: Keys): Extract<TokenizerCard, { kind: "gguf" }> {
  const at = (name: string) => `tokenizer.ggml.${name}`;
  const model = keys.text(at("model"));
  if (model !== "gpt2" && model !== "llama") {
    keys.refuse(`has a tokenizer of the kind ${model}; supported are gpt2 (byte-level BPE) and llama (SentencePiece)`);
  }
  const sentencePiece = model === "llama";
  const tokens = keys.texts(at("tokens"));
  const types = keys.has(at("token_type")) ? keys.numbers(at("token_type")) : new Uint8Array(tokens.count).fill(1);
  const scores = sentencePiece ? keys.numbers(at("scores")) : new Float32Array(0);
  if (types.length !== tokens.count || (sentencePiece && scores.length !== tokens.count)) {
    keys.refuse(`has ${tokens.count} tokens, ${types.length} token types and ${scores.length} scores`);
  }
  const pre = keys.text(at("pre"), "default");
  return {
    kind: "gguf",
    model: sentencePiece ? "llama" : "gpt2",
    pre,
    tokens,
    types: Uint8Array.from(types),
    scores: scores instanceof Float32Array ? scores : Float32Array.from(scores),
    merges: sentencePiece ? emptyTextTable : keys.texts(at("merges")),
    special: specialTokens(keys, tokens.count, pre, sentencePiece),
    addSpacePrefix: keys.flag(at("add_space_prefix"), sentencePiece),
  };
}

/** Defaults as in llama.cpp (llama-vocab.cpp); its default bos 11 of byte-level vocabularies, GPT-2's own, is left out. */
function specialTokens(keys: Keys, count: number, pre: string, sentencePiece: boolean): SpecialTokens {
  const id = (name: string, otherwise?: number) =>
    keys.token(`tokenizer.ggml.${name}_token_id`, count, sentencePiece ? otherwise : undefined);
  return {
    bos: id("bos", 1),
    eos: id("eos", 2),
    eot: id("eot"),
    eom: id("eom"),
    unknown: id("unknown", 0),
    padding: id("padding"),
    addBos: keys.flag("tokenizer.ggml.add_bos_token", sentencePiece || preTokenizersWithBos.has(pre)),
    addEos: keys.flag("tokenizer.ggml.add_eos_token", false),
  };
}

const preTokenizersWithBos = new Set([
  "llama3",
  "llama-v3",
  "llama-bpe",
  "falcon3",
  "falcon-h1",
  "pixtral",
  "lfm2",
  "tekken",
]);
