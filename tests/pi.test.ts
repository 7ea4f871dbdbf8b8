import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Chat, call, script, startChat } from "./fixtures/chat.ts";

/** A whole coding agent, in a folder of its own: one turn in which it is told to write a file, writes it, and tells the model. */

let chat: Chat | undefined;
let home: string | undefined;
afterEach(async () => {
  await chat?.server.stop(0);
  if (home !== undefined) rmSync(home, { recursive: true });
});

const program = join(import.meta.dir, "../node_modules/@mariozechner/pi-coding-agent/dist/cli.js");
const timeoutMs = 60_000;

test.each([
  ["openai-completions", "/v1"],
  ["openai-responses", "/v1"],
  ["anthropic-messages", "/"],
])(
  "pi works through %s",
  async (api, path) => {
    const written = JSON.stringify({ path: "note.txt", content: "hello from a call 🌍\n" });
    const scripts = [script([["text", "I write it."], ...call(0, "write", written)]), script([["text", "Done."]])];
    chat = startChat(() => scripts.shift() ?? script([]));
    home = mkdtempSync(join(tmpdir(), "tenon-pi-"));
    const folder = join(home, "work");
    mkdirSync(folder);
    const provider = {
      baseUrl: new URL(path, chat.server.url).href,
      api,
      apiKey: "none",
      models: [{ id: "replay" }],
    };
    writeFileSync(join(home, "models.json"), JSON.stringify({ providers: { tenon: provider } }));

    const flags = [
      "--print",
      "--mode",
      "json",
      "--offline",
      "--no-session",
      "--provider",
      "tenon",
      "--model",
      "replay",
    ];
    const agent = Bun.spawn([process.execPath, program, ...flags, "Write a note."], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: home, PI_CODING_AGENT_DIR: home },
      stdin: "ignore",
      stderr: "pipe",
      timeout: timeoutMs,
    });
    const [told, complaints] = await Promise.all([agent.stdout.text(), agent.stderr.text()]);
    expect({ code: await agent.exited, complaints }).toEqual({ code: 0, complaints: "" });
    expect(readFileSync(join(folder, "note.txt"), "utf8")).toBe("hello from a call 🌍\n");
    const events = told
      .trim()
      .split("\n")
      .map((line): { type: string } => JSON.parse(line));
    expect(events.filter(({ type }) => type === "turn_end").length).toBe(2);
    const [, second] = chat.requests;
    expect(Buffer.from(second?.tokens ?? []).toString()).toMatch(/"role":"tool","content":"Successfully wrote/);
  },
  timeoutMs,
);
