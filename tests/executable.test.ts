import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildExecutable } from "../scripts/build.ts";
import { defaultModel, modelsFolder } from "../scripts/setup/models.ts";
import { type Serving, serveCommand } from "./fixtures/serving.ts";

const minuteMs = 60_000;
let folder: string;
let server: Serving;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-executable-"));
  const executable = join(folder, "tenon");
  await buildExecutable(executable);
  // Nothing of the project or the user is in reach: what it needs, it carries.
  const options = { cwd: folder, env: { TENON_HOME: folder } };
  server = await serveCommand([executable, "--model", join(modelsFolder(), defaultModel.name)], options);
}, minuteMs);

afterAll(async () => {
  server?.process.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

test(
  "the executable calls the tool that it is told to call",
  async () => {
    const response = await fetch(new URL("/v1/chat/completions", server.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        messages: [{ role: "user", content: "Book a table for four in Lisbon." }],
        tools: [{ type: "function", function: { name: "book_table", parameters: bookTable } }],
        tool_choice: "required",
        temperature: 1.5,
        seed: 7,
      }),
    });
    expect(response.status).toBe(200);
    const answer = JSON.parse(await response.text());
    expect(answer).toMatchObject({ choices: [{ finish_reason: "tool_calls", message: { role: "assistant" } }] });
    const { tool_calls } = answer.choices[0].message;
    expect(tool_calls.length).toBeGreaterThan(0);
    for (const call of tool_calls) {
      expect(call).toMatchObject({ type: "function", function: { name: "book_table" } });
      const { city, guests, ...rest } = JSON.parse(call.function.arguments);
      expect(rest).toEqual({});
      expect(["Lisbon", "Porto"]).toContain(city);
      expect([1, 2, 3, 4, 5, 6, 7, 8]).toContain(guests);
    }
  },
  minuteMs,
);

test(
  "it carries the thread that compiles what is large",
  async () => {
    const values = Array.from({ length: 4000 }, (_, i) => `a long value with number ${i}`);
    const schema = { type: "object", properties: { one: { enum: values } }, required: ["one"] };
    const response = await fetch(new URL("/v1/chat/completions", server.url), {
      method: "POST",
      body: JSON.stringify({
        messages: [{ role: "user", content: "Choose one." }],
        response_format: { type: "json_schema", json_schema: { name: "choice", schema } },
      }),
    });
    const answer = JSON.parse(await response.text());
    expect([response.status, answer.error]).toEqual([200, undefined]);
    expect(values).toContain(JSON.parse(answer.choices[0].message.content).one);
  },
  minuteMs,
);

test("it keeps the library where only its user can write, and stops when told to", async () => {
  const libraries = await readdir(join(folder, "library"));
  expect(libraries).toEqual([expect.stringMatching(/^[0-9a-f]{64}-libtenon\.(so|dylib)$/)]);
  expect((await stat(join(folder, "library"))).mode & 0o777).toBe(0o700);
  server.process.kill("SIGTERM");
  expect(await server.process.exited).toBe(0);
});

const bookTable = {
  type: "object",
  properties: { city: { enum: ["Lisbon", "Porto"] }, guests: { type: "integer", minimum: 1, maximum: 8 } },
  required: ["city", "guests"],
  additionalProperties: false,
};
