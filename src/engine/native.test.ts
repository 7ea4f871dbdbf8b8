import { ptr } from "bun:ffi";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { EngineRequest } from "./engine.ts";
import { control, type Native, openNoise, plainRequest, run, until, unused, unwrap } from "./native-fixture.ts";

let native: Native & Disposable;
beforeAll(async () => {
  native = await openNoise();
});
afterAll(() => native[Symbol.dispose]());

/** So long that no answer ends by itself before somebody ends it. */
const endlessContext = { contextMax: 1 << 20 };
const endlessAnswer = { tokensMax: 1 << 19 };

const idle = { running: 0, queued: 0, grammars: 0, cacheBytes: 0 };

test("the same seed gives the same text, alone and beside others; another seed another", async () => {
  const alone = await run(native.engine, { seed: 5 });
  const beside = await Promise.all([5, 6, 7, 5].map((seed) => run(native.engine, { seed, tokensMax: 40 - seed * 4 })));
  expect(alone.bytes.length).toBeGreaterThan(15);
  expect(beside[0]?.bytes).toEqual(alone.bytes);
  expect(beside[3]?.bytes).toEqual(alone.bytes);
  expect(beside[1]?.bytes.subarray(0, 10)).not.toEqual(alone.bytes.subarray(0, 10));
});

test("counts, progress and the reasons to finish", async () => {
  const tokens = new Uint32Array(1000).fill(9);
  const { events, finish } = await run(native.engine, { tokens, tokensMax: 5 });
  expect(events.filter((event) => event.kind === "progress")).toEqual([
    { kind: "progress", done: 256, total: 1000 },
    { kind: "progress", done: 512, total: 1000 },
    { kind: "progress", done: 768, total: 1000 },
  ]);
  expect(finish).toMatchObject({ reason: "length", timings: { promptTokens: 1000, completionTokens: 5 } });
  const logitBias = [{ token: control, bias: 100 }];
  expect((await run(native.engine, { logitBias, stopTokens: [control] })).finish.reason).toBe("stop_token");
  const almost = new Uint32Array(4090).fill(9);
  expect((await run(native.engine, { tokens: almost, tokensMax: 100 })).finish).toMatchObject({
    reason: "context",
    timings: { completionTokens: 6 },
  });
});

test("log-probabilities are the model's own and come before the bytes", async () => {
  const { events } = await run(native.engine, { logprobs: 3, tokensMax: 4, logitBias: [{ token: 65, bias: 50 }] });
  expect(events.map((event) => event.kind).join(" ")).toBe(`${"token bytes ".repeat(4)}finish`);
  for (const event of events) {
    if (event.kind !== "token") continue;
    expect(event.token).toBe(65);
    expect(event.logprob).toBeLessThan(-4.5); // Flat noise: the biased token is one of 258.
    expect(event.top).toHaveLength(3);
    const logprobs = event.top.map(({ logprob }) => logprob);
    expect(logprobs).toEqual([...logprobs].sort((a, b) => b - a));
  }
});

const refused: [string, Partial<EngineRequest>, object][] = [
  ["an empty prompt", { tokens: new Uint32Array() }, { kind: "invalid", message: "the prompt is empty" }],
  ["a token outside", { tokens: Uint32Array.of(258) }, { kind: "invalid" }],
  ["an unfinite temperature", { temperature: Number.NaN }, { kind: "invalid" }],
  ["a bias outside", { logitBias: [{ token: 999, bias: 1 }] }, { kind: "invalid" }],
  ["a score without log-probabilities", { scorePrompt: true }, { kind: "invalid" }],
  ["too many alternatives", { logprobs: 21 }, { kind: "invalid" }],
  ["a full context", { tokens: new Uint32Array(4096) }, { kind: "context", needed: 4097, contextMax: 4096 }],
];
test.each(refused)("%s is refused", (_, change, failure) => {
  expect(native.engine.submit({ ...plainRequest, ...change })).toMatchObject({ ok: false, failure });
});

test("a prompt alone has no answer, and a scored one tells of its tokens first", async () => {
  const alone = await run(native.engine, { tokensMax: 0 });
  expect(alone.events).toHaveLength(1);
  expect(alone.finish).toMatchObject({ reason: "length", timings: { promptTokens: 3, completionTokens: 0 } });
  const { events, finish } = await run(native.engine, { scorePrompt: true, logprobs: 2, tokensMax: 2 });
  expect(events.map((event) => event.kind).join(" ")).toMatch(
    /^prompt_token prompt_token token (bytes )?token (bytes )?finish$/,
  );
  const told = events.flatMap((event) => (event.kind === "prompt_token" ? [event] : []));
  expect(told.map(({ token, top }) => [token, top.length])).toEqual([
    [2, 2],
    [3, 2],
  ]);
  const sum = events.reduce((sum, event) => sum + (event.kind === "token" ? event.logprob : 0), 0);
  expect(finish.logprobSum).toBeCloseTo(sum, 4);
});

test("noise has no vectors of texts", () => {
  expect(native.engine.embed(Uint32Array.of(1))).toEqual({
    ok: false,
    failure: { kind: "invalid", message: "the model gives no embeddings" },
  });
});

test("the queue is bounded", async () => {
  using small = await openNoise({ slots: 1, queueMax: 2 });
  const step = { ...plainRequest, step: true };
  const first = unwrap(small.engine.submit(step));
  for await (const event of first.events) if (event.kind === "parked") break;
  const parked = unwrap(small.engine.submit(step));
  await until(() => small.engine.stats().queued === 0);
  const waiting = [step, step].map((request) => unwrap(small.engine.submit(request)));
  expect(small.engine.stats()).toMatchObject({ running: 1, queued: 2 });
  expect(small.engine.submit(step)).toEqual({ ok: false, failure: { kind: "overloaded" } });
  for (const generation of [parked, ...waiting]) generation.cancel();
  await until(() => small.engine.stats().running === 0 && small.engine.stats().queued === 0);
});

test("cancel ends a request, and so does leaving its events", async () => {
  using long = await openNoise(endlessContext);
  const endless = { ...plainRequest, ...endlessAnswer };
  const cancelled = unwrap(long.engine.submit(endless));
  let last: unknown;
  for await (const event of cancelled.events) {
    cancelled.cancel();
    last = event;
  }
  expect(last).toMatchObject({ kind: "finish", reason: "cancelled" });
  const left = unwrap(long.engine.submit(endless));
  for await (const _ of left.events) break;
  await until(() => long.engine.stats().running === 0);
  expect(long.engine.stats()).toEqual(idle);
  left.cancel(); // Over already: nothing happens.
});

test("step mode: the views are native memory, seen and changed in place", async () => {
  const text = new TextEncoder().encode("by hand");
  const views = new Set<unknown>();
  const seen: number[][] = [];
  const { bytes } = await run(native.engine, { step: true, tokensMax: text.length }, (generation, tokens) => {
    views.add(generation.logits);
    views.add(generation.mask);
    const { logits, mask } = generation;
    seen.push([...tokens]);
    // The model's logits are there to be read, the free mask allows all but the unused token.
    expect(logits.every((logit) => logit >= 0 && logit < 1)).toBe(true);
    expect([...mask]).toEqual([...Array.from({ length: 8 }, () => 0xffffffff), 1]);
    const next = text[tokens.length - plainRequest.tokens.length] ?? 0;
    if (seen.length % 2 === 0) logits[next] = 100;
    else mask.fill(0).fill(1 << (next & 31), next >> 5, (next >> 5) + 1);
  });
  expect(bytes).toEqual(text);
  expect(views.size).toBe(2);
  expect(seen.at(-1)).toEqual([...plainRequest.tokens, ...text.subarray(0, -1)]);
});

test("step mode: a mask can only be narrowed, and an empty one fails the request", async () => {
  const widened = await run(native.engine, { step: true, tokensMax: 3 }, ({ logits, mask }) => {
    mask.fill(0xffffffff);
    logits[unused] = 1000;
  });
  expect(widened.finish.reason).toBe("length");
  const emptied = await run(native.engine, { step: true }, ({ mask }) => mask.fill(0));
  expect(emptied.finish).toMatchObject({ reason: "failed", message: "no token is allowed" });
  expect(native.engine.stats().running).toBe(0);
});

test("views are of no use outside a parked step", async () => {
  const generation = unwrap(native.engine.submit(plainRequest));
  expect(() => generation.logits).toThrow("not parked");
  expect(() => generation.release()).toThrow("not parked");
  for await (const _ of generation.events);
});

test("after 10,000 requests nothing is left, and the arenas are where they were", async () => {
  const alive = native.library.liveCounts();
  const addresses: number[][] = [];
  const arena = () =>
    run(native.engine, { step: true, tokensMax: 1 }, ({ logits, mask }) => {
      addresses.push([ptr(logits), ptr(mask)]);
    });
  await arena();
  const external = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 100; round++) {
    const each = Array.from({ length: 100 }, async (_, index) => {
      if (index % 10 !== 0) return run(native.engine, { tokensMax: 3, seed: index });
      const generation = unwrap(native.engine.submit(plainRequest));
      for await (const _ of generation.events) break;
    });
    await Promise.all(each);
    await until(() => native.engine.stats().running === 0);
  }
  await until(() => native.engine.stats().queued === 0 && native.engine.stats().running === 0);
  expect(native.engine.stats()).toEqual(idle);
  // One that was left is over in the engine before its last event is read, which gives it back.
  await until(() => native.library.liveCounts().requests === alive.requests);
  expect(native.library.liveCounts()).toEqual(alive);
  await arena();
  expect(addresses[1]).toEqual(addresses[0] ?? []);
  Bun.gc(true);
  expect(process.memoryUsage().arrayBuffers - external).toBeLessThan(8 * 1024 * 1024);
});

test("what is disposed while it runs ends its requests and gives everything back", async () => {
  const before = native.library.liveCounts();
  const other = await openNoise(endlessContext);
  const generation = unwrap(other.engine.submit({ ...plainRequest, ...endlessAnswer }));
  const events = generation.events[Symbol.asyncIterator]();
  await events.next();
  other[Symbol.dispose]();
  let last = await events.next();
  while (last.done !== true && last.value.kind !== "finish") last = await events.next();
  expect(last.value).toMatchObject({ kind: "finish", reason: "cancelled" });
  expect((await events.next()).done).toBe(true);
  expect(native.library.liveCounts()).toEqual(before);
});

test("an idle engine does not keep the process alive", async () => {
  const source = `
    import { openNoise, run } from ${JSON.stringify(require.resolve("./native-fixture.ts"))};
    const { engine } = await openNoise();
    console.log((await run(engine, {})).finish.reason);
  `;
  const child = Bun.spawn([process.execPath, "-e", source], { stdout: "pipe", stderr: "pipe" });
  expect(await new Response(child.stdout).text()).toBe("length\n");
  expect(await child.exited).toBe(0);
});
