import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detail } from "../../tests/fixtures/chat.ts";
import { ggufBytes, tinyModel } from "../../tests/fixtures/gguf.ts";
import { derivedBytesMax } from "../limits.ts";
import { openModelStore } from "./store.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-store-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const { metadata, tensors } = tinyModel("qwen2");
const weights = ggufBytes(metadata, tensors);

function write(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), weights);
  }
}

const open = (id = "Loaded-Q4_0") => openModelStore({ folder, loaded: { ...detail, id } });
const idsOf = async (store: ReturnType<typeof open>) => (await store.list()).map(({ id }) => id);

test("lists files, what was made of them, and the loaded model wherever it lies", async () => {
  write("Tiny-Q8_0.gguf", "vision/Other.gguf");
  writeFileSync(join(folder, "broken.gguf"), "nothing");
  const store = open();
  expect(store.derive("mario:v2", "tiny", { system: "You are Mario." })).toEqual({ ok: true, value: undefined });
  expect(await idsOf(store)).toEqual(["Loaded-Q4_0", "Other", "Tiny-Q8_0", "broken", "mario:v2"]);
  expect(store.find("tiny")).toMatchObject({
    id: "Tiny-Q8_0",
    loaded: false,
    facts: { family: "qwen2", quantisation: "F32", contextTrained: 64, embeddingLength: 8, fileBytes: weights.length },
    derivation: undefined,
  });
  expect(store.find("broken")?.facts).toMatchObject({ family: "unknown", parameters: 0, fileBytes: 7 });
  expect(store.find("MARIO:V2")).toMatchObject({
    id: "mario:v2",
    loaded: false,
    derivation: { base: "Tiny-Q8_0", parent: "Tiny-Q8_0", system: "You are Mario." },
  });
  expect(store.find("loaded")).toMatchObject({ id: "Loaded-Q4_0", loaded: true, facts: { digest: detail.digest } });
  expect(store.find("mario")).toBeUndefined();
  expect(store.find("../mario")).toBeUndefined();
  const digests = new Set((await store.list()).map(({ facts }) => facts.digest));
  expect(digests.size).toBe(5);
});

test("a model made from a made one has what both say; a copy is another one of the same", () => {
  const store = open();
  const turn = { role: "user", content: "Hi" } as const;
  store.derive("a", "loaded", { parameters: { seed: 1, top_k: 2 }, system: "A", license: ["MIT"], messages: [turn] });
  store.derive("b", "a", { parameters: { top_k: 3 }, system: "B", template: "{{ x }}" });
  store.copy("b", "c:1");
  store.copy("loaded", "d");
  const derivation = {
    base: "Loaded-Q4_0",
    parent: "a",
    parameters: { seed: 1, top_k: 3 },
    system: "B",
    template: "{{ x }}",
    license: ["MIT"],
    messages: [turn],
  };
  expect(store.find("b")?.derivation).toEqual(derivation);
  expect(store.find("c:1")?.derivation).toEqual(derivation);
  expect(store.find("d")).toMatchObject({ loaded: true, derivation: { base: "Loaded-Q4_0", parameters: {} } });
  expect(store.derive("b", "a", {})).toMatchObject({ ok: true });
  expect(store.find("b")?.derivation?.system).toBe("A");
});

test("names that no model may have, and models that there are not", () => {
  write("Tiny.gguf");
  const store = open();
  const invalid = { ok: false, failure: { kind: "invalid" } };
  for (const name of ["../x", "a/../../b", "", "x:", "tiny", "loaded-q4_0"]) {
    expect(store.derive(name, "loaded", {})).toMatchObject(invalid);
    expect(store.copy("loaded", name)).toMatchObject(invalid);
  }
  const missing = { ok: false, failure: { kind: "model_not_found", model: "nobody" } };
  expect(store.derive("x", "nobody", {})).toMatchObject(missing);
  expect(store.copy("nobody", "x")).toMatchObject(missing);
  expect(store.remove("nobody")).toMatchObject(missing);
  expect(store.derive("x", "loaded", { system: "x".repeat(derivedBytesMax) })).toMatchObject(invalid);
  expect(readdirSync(folder)).toEqual(["Tiny.gguf"]);
});

test("whatever the name, nothing is written or removed outside the folder for it", () => {
  const store = open();
  writeFileSync(join(folder, "x.json"), "{}");
  for (const name of ["a/b:c", "a/b/c:d", "A.B-c_d"]) {
    expect(store.derive(name, "loaded", {})).toMatchObject({ ok: true });
    expect(store.find(name)?.id).toBe(name);
  }
  expect(readdirSync(join(folder, "derived")).sort()).toEqual(["a%2Fb%2Fc%3Ad.json", "a%2Fb%3Ac.json", "a.b-c_d.json"]);
  expect(store.remove("../x")).toMatchObject({ ok: false });
  expect(store.remove("a/b:c")).toMatchObject({ ok: true });
  expect(existsSync(join(folder, "x.json"))).toBe(true);
});

test("weights are deleted only by their whole name, when nobody has them, and never the loaded ones", () => {
  write("Loaded-Q4_0.gguf", "Tiny-Q8_0.gguf", "Big-00001-of-00002.gguf", "Big-00002-of-00002.gguf", "Bigger.gguf");
  const store = open();
  const message = (name: string) => {
    const removed = store.remove(name);
    return removed.ok ? "" : "message" in removed.failure ? removed.failure.message : removed.failure.kind;
  };
  expect(message("loaded-q4_0")).toBe("'loaded-q4_0' is loaded");
  store.derive("mario", "tiny-q8_0", {});
  expect(message("tiny-q8_0")).toBe("'tiny-q8_0' has the weights of mario: delete it first");
  expect(message("tiny")).toBe("model_not_found");
  expect(message("mario")).toBe("");
  expect(message("Tiny:Q8_0")).toBe("");
  expect(message("big")).toBe("");
  expect(readdirSync(folder).sort()).toEqual(["Bigger.gguf", "Loaded-Q4_0.gguf", "derived"]);
  expect(openModelStore({ folder, loaded: { ...detail, id: "elsewhere" } }).remove("elsewhere")).toMatchObject({
    ok: false,
    failure: { message: "'elsewhere' is loaded" },
  });
});

test("files that somebody damaged are no models, and neither are those whose weights are gone", async () => {
  write("Tiny.gguf");
  const store = open();
  store.derive("orphan", "tiny", {});
  rmSync(join(folder, "Tiny.gguf"));
  for (const [file, text] of Object.entries({
    a: "{",
    b: "[]",
    c: '{"id":"c"}',
    d: '{"id":"d","base":"Loaded-Q4_0","parent":"x","parameters":[],"license":[],"messages":[]}',
    e: '{"id":"e","base":"Loaded-Q4_0","parent":"x","parameters":{},"license":[],"messages":[{"role":"x"}]}',
    f: '{"id":"f","base":"Loaded-Q4_0","parent":"x","parameters":{},"license":[],"messages":[]}',
  })) {
    writeFileSync(join(folder, "derived", `${file}.json`), text);
  }
  expect(await idsOf(store)).toEqual(["Loaded-Q4_0", "f"]);
  expect(store.find("orphan")).toBeUndefined();
});

test("a blob is kept under its digest alone, and becomes a model", async () => {
  const store = open();
  const sha256 = createHash("sha256").update(weights).digest("hex");
  const other = "0".repeat(64);
  expect(store.hasBlob(sha256)).toBe(false);
  const wrong = await store.putBlob(other, new Blob([weights]).stream());
  expect(wrong).toMatchObject({ ok: false, failure: { kind: "invalid" } });
  expect(await store.putBlob(sha256, new Blob([weights]).stream())).toMatchObject({ ok: true });
  expect(readdirSync(join(folder, "blobs"))).toEqual([`sha256-${sha256}`]);
  expect(store.adopt("mine", other)).toMatchObject({ ok: false, failure: { param: "files" } });
  expect(store.adopt("own/mine", sha256)).toMatchObject({ ok: false });
  expect(store.adopt("mine:q8", sha256)).toMatchObject({ ok: true });
  expect(store.find("mine:q8")).toMatchObject({ id: "mine-q8", facts: { family: "qwen2" } });
  expect(store.hasBlob(sha256)).toBe(false);
  // A projector is no model, and its file stays what it is.
  writeFileSync(join(folder, "mmproj-x.gguf"), "projector");
  await store.putBlob(sha256, new Blob([weights]).stream());
  expect(store.adopt("mmproj-x", sha256)).toMatchObject({ ok: false, failure: { kind: "engine" } });
  expect(readFileSync(join(folder, "mmproj-x.gguf"), "utf8")).toBe("projector");
  const junk = createHash("sha256").update("junk").digest("hex");
  await store.putBlob(junk, new Blob(["junk"]).stream());
  expect(store.adopt("junk", junk)).toMatchObject({ ok: false, failure: { kind: "invalid" } });
});

test("an upload that breaks off leaves nothing", async () => {
  const store = open();
  const broken = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(Uint8Array.of(1));
      controller.error(new Error("the client left"));
    },
  });
  const put = await store.putBlob("0".repeat(64), broken);
  expect(put).toMatchObject({ ok: false, failure: { kind: "engine" } });
  expect(readdirSync(join(folder, "blobs"))).toEqual([]);
});

test("a file says of itself what stands in it, arrays when they are asked for", () => {
  write("Tiny.gguf");
  const store = open();
  const tiny = store.find("tiny");
  if (tiny === undefined) throw new Error("no model");
  expect(store.metadata(tiny, { arrays: false })).toMatchObject({
    "general.architecture": "qwen2",
    "qwen2.context_length": 64,
    "tokenizer.ggml.tokens": null,
  });
  expect(store.metadata(tiny, { arrays: true })).toMatchObject({
    "tokenizer.ggml.tokens": ["a", "b", "ab", "c", "<end>"],
    "tokenizer.ggml.token_type": [1, 1, 1, 1, 3],
  });
  const loaded = store.find("loaded");
  expect(loaded && store.metadata(loaded, { arrays: true })).toEqual({});
});

test("what a disk refuses is told without its paths", async () => {
  const store = openModelStore({ folder: join(folder, "file"), loaded: detail });
  writeFileSync(join(folder, "file"), "no folder");
  const made = store.derive("a", "replay", {});
  expect(made).toMatchObject({
    ok: false,
    failure: { kind: "engine", message: "the model cannot be written: ENOTDIR" },
  });
  const put = await store.putBlob("0".repeat(64), new Blob(["x"]).stream());
  expect(put).toMatchObject({ ok: false, failure: { kind: "engine", message: "cannot be kept: ENOTDIR" } });
});
