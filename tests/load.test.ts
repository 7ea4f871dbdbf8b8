import { expect, test } from "bun:test";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { until } from "../src/engine/native-fixture.ts";
import { type Answer, readAnswer } from "./fixtures/answer.ts";
import { faultOfCalls } from "./fixtures/forced-calls.ts";
import { oneOf, seededRandom } from "./fixtures/random.ts";
import { modelPath, startTenon } from "./fixtures/running.ts";
import { toolCase } from "./fixtures/tool-schemas.ts";

const path = modelPath("SmolLM2-135M-Instruct.Q4_1.gguf");

const switchTool = toolCase("switch", {
  type: "object",
  properties: { lamp: { enum: ["hall", "desk"] }, on: { type: "boolean" } },
  required: ["lamp", "on"],
  additionalProperties: false,
});
const waitTool = toolCase("wait", { type: "object", additionalProperties: false });
const schema = { type: "object", properties: { good: { type: "boolean" } }, required: ["good"] };
const format = { type: "json_schema", json_schema: { name: "verdict", schema } };
const named = { type: "function", function: { name: "switch" } };
/** Short requests of every kind: what is tried here is what they do to each other. */
const kinds = [
  { tools: [waitTool.tool, switchTool.tool], tool_choice: "required", parallel_tool_calls: false, max_tokens: 40 },
  { tools: [switchTool.tool], tool_choice: named, max_tokens: 40 },
  { response_format: format, max_tokens: 12 },
  { response_format: { type: "json_object" }, max_tokens: 10 },
  { max_tokens: 6 },
  { max_tokens: 8, stop: ["e"] },
  { max_tokens: 4, temperature: 2 },
  { max_tokens: 8, temperature: 0 },
];
const messages = [{ role: "user", content: "Well?" }];
const bodies = kinds.map((kind, seed) => ({ messages, temperature: 1, seed, ...kind }));
const requests = 200;
/** Weights and caches are hundreds of megabytes, and what 200 connections leave behind in a runtime is not. */
const growthBytesMax = 128 * 2 ** 20;

test.skipIf(path === undefined)(
  "200 requests at once, of which many leave: the others are answered as if alone, and nothing stays behind (skipped without the default model)",
  async () => {
    const random = seededRandom();
    const library = openLibrary(process.env["TENON_LIBRARY"] || libraryPath());
    if (!library.ok) throw new Error(library.failure);
    const tenon = await startTenon(["-m", path ?? ""]);
    const { engine } = tenon.loaded.model;
    const post = (body: object, signal: AbortSignal) =>
      fetch(new URL("/v1/chat/completions", tenon.server.url), { method: "POST", body: JSON.stringify(body), signal });
    const alone: Answer[] = [];
    for (const body of bodies) alone.push(await readAnswer(await post(body, new AbortController().signal)));
    for (const answer of alone.slice(0, 2)) {
      expect(answer.finish).toBe("tool_calls");
      expect(faultOfCalls([waitTool, switchTool], answer.calls)).toBeUndefined();
    }
    for (const answer of alone.slice(2, 4)) expect(JSON.parse(answer.content)).toBeObject();
    const aliveBefore = library.value.liveCounts();
    const idle = engine.stats();
    Bun.gc(true);
    const bytesBefore = process.memoryUsage.rss();

    let over = 0;
    const leavers: { readonly after: number; readonly leave: AbortController }[] = [];
    const end = () => {
      over++;
      for (const { after, leave } of leavers) if (after <= over) leave.abort();
    };
    let answered = 0;
    let left = 0;
    const wrong: object[] = [];
    const one = async () => {
      const at = random(bodies.length);
      const leave = new AbortController();
      const plan = oneOf(random, ["stay", "stay", "stay", "leave after others", "leave after chunks"]);
      const stream = plan === "leave after chunks" || random(2) === 0;
      const chunks = random(4);
      if (plan === "leave after others") leavers.push({ after: random(requests / 4), leave });
      try {
        const response = await post({ ...bodies[at], stream }, leave.signal);
        if (plan === "leave after chunks") {
          const reader = response.body?.getReader();
          for (let read = 0; read < chunks; read++) await reader?.read();
          leave.abort();
          left++;
          return;
        }
        const answer = await readAnswer(response);
        const expected = { ...alone[at], id: answer.id };
        if (Bun.deepEquals(answer, expected)) answered++;
        else wrong.push({ body: bodies[at], stream, answer, expected });
      } catch (error) {
        if (!leave.signal.aborted) throw error;
        left++;
      } finally {
        end();
      }
    };
    await Promise.all(Array.from({ length: requests }, one));
    console.log(`${answered} answered, ${left} left`);
    expect(wrong).toEqual([]);
    expect(answered + left).toBe(requests);
    expect(answered).toBeGreaterThan(requests / 3);
    expect(left).toBeGreaterThan(requests / 10);

    // A connection's end reaches the engine a moment later, and a request that was left is given back after that.
    await until(() => engine.stats().running + engine.stats().queued === 0);
    await until(() => library.value.liveCounts().requests === aliveBefore.requests);
    expect(engine.stats()).toEqual(idle);
    expect(idle).toEqual({ running: 0, queued: 0, grammars: 0, cacheBytes: 0 });
    expect(library.value.liveCounts()).toEqual(aliveBefore);
    Bun.gc(true);
    expect(process.memoryUsage.rss() - bytesBefore).toBeLessThan(growthBytesMax);
    const failed = tenon.logged.filter(([, event, fields]) => event === "bug" || fields?.["reason"] === "engine");
    expect(failed).toEqual([]);
    await tenon.stop(0);
  },
  300_000,
);
