import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findModel, listModels, modelsFolder } from "./catalog.ts";

let home: string;
let folder: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "tenon-catalog-"));
  folder = join(home, "models");
  for (const file of [
    "models/SmolLM2-135M-Instruct.Q4_1.gguf",
    "models/Qwen-0.5B-Q4_K_M.gguf",
    "models/Qwen-0.5B-Q8_0.gguf",
    "models/Big-00001-of-00002.gguf",
    "models/Big-00002-of-00002.gguf",
    "models/vision/Seer.GGUF",
    "models/vision/mmproj-Seer.gguf",
    "models/notes.txt",
    "two/a.gguf",
    "two/b.gguf",
    "none/readme.md",
  ]) {
    mkdirSync(join(home, file, ".."), { recursive: true });
    writeFileSync(join(home, file), "");
  }
});
afterAll(() => rmSync(home, { recursive: true }));

test("lists models by name, without later parts, projectors and other files", () => {
  expect(listModels(folder)).toEqual([
    { id: "Big", path: join(folder, "Big-00001-of-00002.gguf") },
    { id: "Qwen-0.5B-Q4_K_M", path: join(folder, "Qwen-0.5B-Q4_K_M.gguf") },
    { id: "Qwen-0.5B-Q8_0", path: join(folder, "Qwen-0.5B-Q8_0.gguf") },
    { id: "Seer", path: join(folder, "vision", "Seer.GGUF") },
    { id: "SmolLM2-135M-Instruct.Q4_1", path: join(folder, "SmolLM2-135M-Instruct.Q4_1.gguf") },
  ]);
  expect(listModels(join(home, "no such folder"))).toEqual([]);
});

test("finds a model by file, folder and name", () => {
  const smol = join(folder, "SmolLM2-135M-Instruct.Q4_1.gguf");
  for (const wanted of [
    smol,
    "SmolLM2-135M-Instruct.Q4_1",
    "smollm2-135m-instruct.q4_1.GGUF",
    "smollm2-135m-instruct",
    "SMOLLM2",
  ]) {
    expect(findModel(wanted, folder)).toEqual({ ok: true, value: { id: "SmolLM2-135M-Instruct.Q4_1", path: smol } });
  }
  expect(findModel(join(folder, "vision"), folder)).toMatchObject({ ok: true, value: { id: "Seer" } });
  expect(findModel("qwen-0.5b-q8_0", folder)).toMatchObject({ ok: true, value: { id: "Qwen-0.5B-Q8_0" } });
});

test("says what is wrong with a name", () => {
  const cases: readonly [string, string, RegExp][] = [
    ["llama", "missing", /no model llama: .*Big, Qwen-0\.5B-Q4_K_M/],
    ["qwen-0.5b", "ambiguous", /Qwen-0\.5B-Q4_K_M or Qwen-0\.5B-Q8_0/],
    ["qwen-0.5", "missing", /no model qwen-0\.5/],
    ["", "missing", /no model/],
    [join(home, "two"), "ambiguous", /a\.gguf, b\.gguf/],
    [join(home, "none"), "missing", /no \.gguf file/],
  ];
  for (const [wanted, kind, message] of cases) {
    const found = findModel(wanted, folder);
    expect(found.ok ? found.value.id : found.failure.kind).toBe(kind);
    expect(found.ok ? "" : found.failure.message).toMatch(message);
  }
});

test("the models folder follows TENON_HOME", () => {
  expect(modelsFolder({ TENON_HOME: home })).toBe(folder);
  expect(modelsFolder({})).toEndWith(join(".cache", "tenon", "models"));
});
