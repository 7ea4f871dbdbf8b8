import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gguf as oracle } from "@huggingface/gguf";
import { type FixtureTensor, type FixtureValue, ggufBytes, tinyModel } from "../../tests/fixtures/gguf.ts";
import { seededRandom } from "../../tests/fixtures/random.ts";
import { modelsFolder } from "./catalog.ts";
import { readGguf } from "./gguf.ts";
import { type GgufValue, parseGgufHeader, readGgufFile } from "./gguf-file.ts";
import { textAt } from "./text-table.ts";

// The oracle takes its time on large vocabularies.
setDefaultTimeout(60_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-gguf-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

function cardOf(metadata: Record<string, FixtureValue>, tensors: readonly FixtureTensor[]) {
  return readGguf(write("model.gguf", ggufBytes(metadata, tensors)));
}

describe("hyper-parameters", () => {
  test("of a llama without optional keys take the defaults", () => {
    const { metadata, tensors } = tinyModel("llama");
    const card = cardOf(metadata, tensors);
    if (!card.ok) throw new Error(card.failure.message);
    const { tensors: read, files, ...manifest } = card.value.manifest;
    expect(manifest).toEqual({
      architecture: "llama",
      context_max: 64,
      vocabulary: 5,
      layers: 1,
      embedding: 8,
      feed_forward: 16,
      heads: 2,
      heads_kv: 1,
      key_length: 4,
      value_length: 4,
      norm_epsilon: 0.5,
      rope: {
        dimensions: 4,
        pairing: "adjacent",
        base: 10_000,
        base_local: 10_000,
        scaling: "none",
        factor: 1,
        original_context: 64,
        attention_factor: 1,
        beta_fast: 32,
        beta_slow: 1,
      },
      window: 0,
      window_pattern: 1,
      attention_scale: 0.5,
      attention_softcap: 0,
      logits_softcap: 0,
      embedding_scale: 1,
      causal: true,
      pooling: "none",
    });
    expect(files).toEqual([card.value.path]);
    expect(read).toHaveLength(tensors.length);
    expect(card.value.id).toBe("model");
    expect(card.value.chatTemplate).toBeUndefined();
  });

  test("of a gemma3 with a window", () => {
    const { metadata, tensors } = tinyModel("gemma3");
    const card = cardOf({ ...metadata, "gemma3.attention.sliding_window": { type: "u32", value: 16 } }, tensors);
    if (!card.ok) throw new Error(card.failure.message);
    const { manifest } = card.value;
    expect(manifest.window).toBe(16);
    expect(manifest.window_pattern).toBe(6);
    expect(manifest.rope.base).toBe(1_000_000);
    expect(manifest.rope.base_local).toBe(10_000);
    expect(manifest.rope.pairing).toBe("halves");
    expect(manifest.embedding_scale).toBe(Math.sqrt(8));
  });

  test("of a qwen2 with yarn", () => {
    const { metadata, tensors } = tinyModel("qwen2");
    const card = cardOf(
      {
        ...metadata,
        "qwen2.rope.scaling.type": { type: "string", value: "yarn" },
        "qwen2.rope.scaling.factor": { type: "f32", value: 4 },
        "qwen2.rope.scaling.original_context_length": { type: "u32", value: 16 },
      },
      tensors,
    );
    if (!card.ok) throw new Error(card.failure.message);
    const { rope } = card.value.manifest;
    expect(rope.scaling).toBe("yarn");
    expect(rope.factor).toBe(4);
    expect(rope.original_context).toBe(16);
    expect(rope.attention_factor).toBeCloseTo(1 + 0.1 * Math.log(4), 12);
  });

  test.each([
    [{}, { causal: true, pooling: "none" }],
    [{ pooling_type: 1 }, { causal: true, pooling: "mean" }],
    [
      { pooling_type: 2, causal: false },
      { causal: false, pooling: "cls" },
    ],
    [
      { pooling_type: 3, causal: true },
      { causal: true, pooling: "last" },
    ],
    [{ pooling_type: 4 }, "ranks texts, which is not supported"],
    [{ pooling_type: 5 }, "has the pooling 5, which is not known"],
    [{ causal: false }, "reads texts in both directions and has no pooling, which is not supported"],
  ] as const)("of a qwen2 with %j", (given: { pooling_type?: number; causal?: boolean }, expected) => {
    const { metadata, tensors } = tinyModel("qwen2");
    const { pooling_type, causal } = given;
    const card = cardOf(
      {
        ...metadata,
        ...(pooling_type === undefined ? {} : { "qwen2.pooling_type": { type: "u32", value: pooling_type } }),
        ...(causal === undefined ? {} : { "qwen2.attention.causal": { type: "bool", value: Number(causal) } }),
      },
      tensors,
    );
    expect(card.ok).toBe(typeof expected !== "string");
    if (card.ok) expect<object>(card.value.manifest).toMatchObject(Object(expected));
    else expect(card.failure.message).toEndWith(String(expected));
  });

  test("a factor without a type is linear scaling", () => {
    const { metadata, tensors } = tinyModel("llama");
    const card = cardOf({ ...metadata, "llama.rope.scale_linear": { type: "f32", value: 2 } }, tensors);
    if (!card.ok) throw new Error(card.failure.message);
    expect(card.value.manifest.rope.scaling).toBe("linear");
    expect(card.value.manifest.rope.factor).toBe(2);
  });
});

describe("what cannot be used is refused by name", () => {
  const llama = tinyModel("llama");
  const without = (name: string) => llama.tensors.filter((tensor) => tensor.name !== name);
  const withTensor = (tensor: FixtureTensor) => [...without(tensor.name), tensor];
  const cases: readonly [string, Record<string, FixtureValue>, readonly FixtureTensor[], RegExp][] = [
    [
      "architecture",
      { "general.architecture": { type: "string", value: "mamba" } },
      llama.tensors,
      /architecture mamba/,
    ],
    ["experts", { "llama.expert_count": { type: "u32", value: 8 } }, llama.tensors, /mixture of experts/],
    ["RoPE scaling", { "llama.rope.scaling.type": { type: "string", value: "longrope" } }, llama.tensors, /longrope/],
    ["tokenizer", { "tokenizer.ggml.model": { type: "string", value: "bert" } }, llama.tensors, /kind bert/],
    ["type of a key", { "llama.block_count": { type: "string", value: "1" } }, llama.tensors, /llama.block_count/],
    ["heads", { "llama.attention.head_count": { type: "u32", value: 0 } }, llama.tensors, /0 attention heads/],
    ["special token", { "tokenizer.ggml.bos_token_id": { type: "u32", value: 5 } }, llama.tensors, /bos_token_id/],
    ["missing tensor", {}, without("blk.0.ffn_up.weight"), /no tensor blk\.0\.ffn_up\.weight/],
    ["unknown tensor", {}, withTensor({ name: "blk.0.ssm_a", shape: [8], format: 0, bytes: 32 }), /blk\.0\.ssm_a/],
    [
      "format",
      {},
      withTensor({ name: "output_norm.weight", shape: [8], format: 16, bytes: 32 }),
      /output_norm\.weight in the format IQ2_XXS/,
    ],
    ["shape", {}, withTensor({ name: "output_norm.weight", shape: [9], format: 0, bytes: 36 }), /shape 9, not 8/],
    ["blocks", {}, withTensor({ name: "output_norm.weight", shape: [8], format: 8, bytes: 34 }), /multiple of the 32/],
    [
      "tensor twice",
      {},
      [...llama.tensors, { name: "output_norm.weight", shape: [8], format: 0, bytes: 32 }],
      /output_norm\.weight twice/,
    ],
  ];
  for (const [what, metadata, tensors, message] of cases) {
    test(what, () => {
      const card = cardOf({ ...llama.metadata, ...metadata }, tensors);
      expect(card.ok ? "accepted" : card.failure.message).toMatch(message);
      expect(card.ok ? "" : card.failure.message).toStartWith(join(folder, "model.gguf"));
    });
  }

  test("version 1, and big-endian files", () => {
    const old = readGguf(write("old.gguf", ggufBytes(llama.metadata, llama.tensors, 1)));
    expect(old.ok ? undefined : old.failure).toMatchObject({
      kind: "unsupported",
      message: expect.stringContaining("version 1"),
    });
    const big = readGguf(write("big.gguf", ggufBytes(llama.metadata, llama.tensors, 0x03000000)));
    expect(big.ok ? undefined : big.failure.message).toContain("big-endian");
  });

  test("no file, an empty one, and one of another format", () => {
    expect(readGguf(join(folder, "none.gguf"))).toMatchObject({ ok: false, failure: { kind: "missing" } });
    expect(readGguf(write("empty.gguf", new Uint8Array(0)))).toMatchObject({ ok: false, failure: { kind: "corrupt" } });
    expect(
      readGguf(write("other.gguf", new TextEncoder().encode("PK\u0003\u0004 and more text than a magic"))),
    ).toMatchObject({
      ok: false,
      failure: { kind: "corrupt", message: expect.stringContaining("not a GGUF file") },
    });
  });
});

describe("damaged files", () => {
  const { metadata, tensors } = tinyModel("llama");
  const whole = ggufBytes(metadata, tensors);

  test("cut at every byte are refused as truncated, never thrown upon", () => {
    for (let length = 0; length < whole.length; length++) {
      const card = readGguf(write("cut.gguf", whole.subarray(0, length)));
      if (card.ok) throw new Error(`accepted at ${length} of ${whole.length} bytes`);
      expect(card.failure.kind).toBe("corrupt");
    }
  });

  test("with random bytes changed are refused or read, never thrown upon", () => {
    const random = seededRandom();
    for (let round = 0; round < 3000; round++) {
      const bytes = whole.slice();
      for (let change = 0; change <= random(4); change++) bytes[random(1200)] = random(256);
      parseGgufHeader(bytes, bytes.length);
      if (round % 10 === 0) readGguf(write("changed.gguf", bytes));
    }
  });
});

test("a model in two parts", () => {
  const { metadata, tensors } = tinyModel("llama");
  const path = write("Split.Q8-00001-of-00002.gguf", ggufBytes(metadata, tensors.slice(0, 5)));
  const second = write("Split.Q8-00002-of-00002.gguf", ggufBytes({}, tensors.slice(5)));
  const card = readGguf(path);
  if (!card.ok) throw new Error(card.failure.message);
  expect(card.value.id).toBe("Split.Q8");
  expect(card.value.manifest.files).toEqual([path, second]);
  expect(card.value.manifest.tensors.filter((tensor) => tensor.file === 1)).toHaveLength(tensors.length - 5);
  expect(readGguf(second)).toMatchObject({ ok: false, failure: { message: expect.stringContaining("first part") } });
  rmSync(second);
  expect(readGguf(path)).toMatchObject({ ok: false, failure: { kind: "missing" } });
});

describe("real files read as @huggingface/gguf reads them", () => {
  const models = [
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf",
    "gemma-3-270m-Q4_K_M.gguf",
  ].map((name) => join(modelsFolder(process.env), name));
  for (const path of models) {
    test.skipIf(!existsSync(path))(path.replace(/.*[/\\]/, ""), async () => {
      const ours = readGgufFile(path);
      if (!ours.ok) throw new Error(ours.failure.message);
      const theirs = await oracle(path, { allowLocalFile: true });
      for (const [key, value] of ours.value.metadata) {
        expect(plain(value)).toEqual(Reflect.get(theirs.metadata, key));
      }
      expect(ours.value.metadata.size).toBe(Object.keys(theirs.metadata).length - 3);
      expect(ours.value.tensors).toEqual(
        theirs.tensorInfos.map(({ name, dtype, shape, offset }) => ({
          name,
          format: dtype,
          shape: shape.map(Number),
          offset: Number(offset + theirs.tensorDataOffset),
        })),
      );
    });
  }
});

/** As the package shows it: plain arrays, and texts without a leading U+FEFF, which it drops (Gemma has six such tokens). */
function plain(value: GgufValue): unknown {
  if (typeof value !== "object") return value;
  if (!("starts" in value)) return Array.from(value);
  return Array.from({ length: value.count }, (_, index) => textAt(value, index).replace(/^\uFEFF/, ""));
}
