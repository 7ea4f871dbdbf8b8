import { ptr } from "bun:ffi";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { encodeIr } from "../grammar/encode.ts";
import { bare, type Ir, type IrBuilder, irBuilder, type JsonStyle, type NodeId, only } from "../grammar/ir.ts";
import type { EngineEvent, Grammar } from "./engine.ts";
import { createMatcher } from "./matcher.ts";
import { control, type Native, openNoise, plainRequest, run, until, unwrap } from "./native-fixture.ts";

let native: Native & Disposable;
beforeAll(async () => {
  native = await openNoise();
});
afterAll(() => native[Symbol.dispose]());

const utf8 = new TextEncoder();
const style: JsonStyle = { freeSpace: true, whitespaceMax: 8, spelling: "canonical" };

function compile(write: (builder: IrBuilder) => NodeId): Grammar {
  const builder = irBuilder();
  return unwrap(native.engine.compile(encodeIr(builder.finish(write(builder)))));
}

/** {"name": string, "tags": [integer, …]}, its second key optional. */
function person(builder: IrBuilder): NodeId {
  const name = builder.value({
    origin: 1,
    cases: [{ ...bare.string, lengthMin: 1, lengthMax: 12 }],
  });
  const tag = builder.value({
    origin: 2,
    cases: [
      {
        ...bare.number,
        integer: true,
        low: { decimal: "0", exclusive: false },
        high: { decimal: "99", exclusive: false },
      },
    ],
  });
  const tags = builder.value({
    origin: 3,
    cases: [{ ...bare.array, rest: only(tag), itemsMax: 4 }],
  });
  const value = builder.value({
    origin: 0,
    cases: [
      {
        ...bare.object,
        properties: [
          { key: "name", options: only(name), required: true },
          { key: "tags", options: only(tags), required: false },
        ],
        ordered: true,
      },
    ],
  });
  return builder.node({ kind: "json", value, style });
}

function isPerson(text: string): boolean {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || !("name" in value) || typeof value.name !== "string") return false;
  const length = [...value.name].length;
  if (length < 1 || length > 12) return false;
  const tags: unknown = "tags" in value ? value.tags : [];
  return Array.isArray(tags) && tags.length <= 4 && tags.every((tag) => Number.isInteger(tag) && tag >= 0 && tag <= 99);
}

const isSet = (mask: Uint32Array, token: number) => (((mask[token >> 5] ?? 0) >> (token & 31)) & 1) === 1;

test("a matcher allows exactly what leads to the end, and its mask is native memory written in place", () => {
  using grammar = compile((builder) => builder.node({ kind: "bytes", bytes: utf8.encode("yes") }));
  using matcher = unwrap(createMatcher(native.vocabulary, grammar, [control]));
  expect(grammar.costMin).toBe(3);
  const { mask } = matcher;
  const address = ptr(mask);
  for (const [index, byte] of utf8.encode("yes").entries()) {
    expect(matcher.cost()).toBe(3 - index);
    expect(matcher.acceptsEnd()).toBe(false);
    matcher.fill();
    const allowed = Array.from({ length: native.vocabulary.count }, (_, token) => token).filter((token) =>
      isSet(mask, token),
    );
    expect(allowed).toEqual([byte]);
    expect(matcher.allowed(byte)).toBe(true);
    expect(matcher.allowed(byte, 3 - index)).toBe(true);
    expect(matcher.allowed(byte, 2 - index)).toBe(false);
    expect(matcher.accept(byte ^ 1)).toBe(false);
    expect(matcher.accept(byte)).toBe(true);
  }
  expect(matcher.isComplete()).toBe(true);
  expect(matcher.acceptsEnd()).toBe(true);
  matcher.fill();
  expect(isSet(mask, control)).toBe(true);
  expect(matcher.mask).toBe(mask);
  expect(ptr(mask)).toBe(address);
});

test("rows of matchers are their own, and come back", () => {
  using grammar = compile(person);
  const rows = native.vocabulary.maskRows.length;
  using alive = new DisposableStack();
  const matchers = Array.from({ length: rows }, () => alive.use(unwrap(createMatcher(native.vocabulary, grammar, []))));
  expect(new Set(matchers.map(({ mask }) => ptr(mask))).size).toBe(rows);
  expect(createMatcher(native.vocabulary, grammar, [])).toEqual({
    ok: false,
    failure: `${rows} matchers of this vocabulary are alive already`,
  });
  // What an earlier user has left in a row is of no account.
  for (const { mask } of matchers) mask.fill(0);
  matchers[0]?.fill();
  expect(matchers[1]?.mask.some((word) => word !== 0)).toBe(false);
  alive.dispose();
  using again = unwrap(createMatcher(native.vocabulary, grammar, []));
  expect(native.vocabulary.maskRows).toContain(again.mask);
});

test("grammars that cannot be are refused with their reason", () => {
  const compileIr = (ir: Ir) => native.engine.compile(encodeIr(ir));
  expect(native.engine.compile(utf8.encode("no grammar"))).toMatchObject({ ok: false, failure: { kind: "invalid" } });
  expect(native.engine.compile(new Uint8Array())).toMatchObject({ ok: false, failure: { kind: "invalid" } });
  const builder = irBuilder();
  const value = builder.value({ origin: 42, cases: [] });
  const nothing = compileIr(builder.finish(builder.node({ kind: "json", value, style })));
  expect(nothing).toMatchObject({ ok: false, failure: { kind: "unsatisfiable", origin: 42 } });
});

test("noise writes a valid value each time, within any limit that has room for one", async () => {
  using grammar = compile(person);
  const seed = 20;
  const results = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const tokensMax = grammar.costMin + ((index * 7) % 60);
      const result = await run(native.engine, { grammar, tokensMax, seed: seed + index, temperature: 1.5 });
      return { ...result, tokensMax };
    }),
  );
  for (const { bytes, finish, tokensMax } of results) {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    expect(isPerson(text)).toBe(true);
    expect(finish.reason).toBe("complete");
    expect(finish.timings.completionTokens).toBeLessThanOrEqual(tokensMax);
  }
  const closed = results.filter(({ finish }) => finish.timings.closedByRule);
  expect(closed.length).toBeGreaterThan(20);
  expect(closed.length).toBeLessThan(results.length);
  for (const { finish, tokensMax } of results) {
    if (tokensMax === grammar.costMin) expect(finish.timings.completionTokens).toBe(tokensMax);
  }
});

test("a draft changes nothing of an answer but its time", async () => {
  using grammar = compile((builder) => {
    const items = [
      builder.node({ kind: "bytes", bytes: utf8.encode("<call> what has to come ") }),
      person(builder),
      builder.node({ kind: "bytes", bytes: utf8.encode(" </call>") }),
    ];
    return builder.node({ kind: "repeat", item: builder.node({ kind: "sequence", items }), min: 1, max: 3 });
  });
  for (let seed = 0; seed < 60; seed++) {
    const request = {
      grammar,
      seed,
      tokensMax: grammar.costMin + seed * 3,
      temperature: 1.3,
      frequencyPenalty: seed % 2 === 0 ? 0 : 0.5,
      logprobs: seed % 3 === 0 ? 2 : undefined,
    };
    const [drafted, single] = await Promise.all([
      run(native.engine, request),
      run(native.engine, { ...request, drafts: false }),
    ]);
    expect(textAndTokens(drafted)).toEqual(textAndTokens(single));
  }
});

function textAndTokens({ bytes, events, finish }: Awaited<ReturnType<typeof run>>) {
  const { promptMs: _, completionMs: __, ...timings } = finish.timings;
  return { bytes, tokens: events.filter(({ kind }) => kind === "token"), reason: finish.reason, timings };
}

test("a limit or a context without room for the shortest answer is refused before it runs", () => {
  using grammar = compile(person);
  const { costMin } = grammar;
  expect(native.engine.submit({ ...plainRequest, grammar, tokensMax: costMin - 1 })).toEqual({
    ok: false,
    failure: { kind: "invalid", message: `the shortest answer has ${costMin} tokens, the limit is ${costMin - 1}` },
  });
  const tokens = new Uint32Array(4096 - costMin + 1);
  expect(native.engine.submit({ ...plainRequest, grammar, tokens, tokensMax: 100 })).toEqual({
    ok: false,
    failure: { kind: "context", needed: 4097, contextMax: 4096 },
  });
});

test("what the engine wrote, a matcher accepts, and both say the same of every byte", async () => {
  using grammar = compile((builder) => {
    const name = builder.node({ kind: "bytes", bytes: utf8.encode("f") });
    return builder.node({
      kind: "sequence",
      items: [
        builder.node({ kind: "bytes", bytes: utf8.encode("<call>") }),
        builder.node({ kind: "channel", channel: "call_name", item: name }),
        builder.node({ kind: "channel", channel: "argument_json", item: person(builder) }),
        builder.node({ kind: "bytes", bytes: utf8.encode("</call>") }),
      ],
    });
  });
  for (let seed = 0; seed < 20; seed++) {
    const { events } = await run(native.engine, { grammar, seed, tokensMax: 200, logprobs: 0 });
    using matcher = unwrap(createMatcher(native.vocabulary, grammar, []));
    const expected: { channel: string; call: number | undefined; byte: number }[] = [];
    const note = (segments: ReturnType<typeof matcher.segments>) => {
      for (const { channel, call, bytes } of segments) {
        for (const byte of bytes) expected.push({ channel, call: call ?? 0, byte });
      }
    };
    const found: typeof expected = [];
    for (const event of events) {
      if (event.kind === "token") {
        expect(matcher.accept(event.token)).toBe(true);
        note(matcher.segments());
      } else if (event.kind === "bytes") {
        for (const byte of event.bytes) found.push({ channel: event.channel, call: event.call, byte });
      }
    }
    note(matcher.flush());
    expect(found).toEqual(expected);
    expect(matcher.isComplete()).toBe(true);
    const channels = found.map(({ channel }) => channel).filter((channel, index, all) => channel !== all[index - 1]);
    expect(channels).toEqual(["text", "call_name", "argument_json", "text"]);
  }
});

test("stop tokens end an answer where the grammar allows the end, and only there", async () => {
  using grammar = compile((builder) => {
    const word = builder.node({ kind: "bytes", bytes: utf8.encode("ab") });
    return builder.node({ kind: "repeat", item: word, min: 1, max: undefined });
  });
  const eager = { grammar, stopTokens: [control], logitBias: [{ token: control, bias: 100 }] };
  const { bytes, finish } = await run(native.engine, eager);
  expect(new TextDecoder().decode(bytes)).toBe("ab");
  expect(finish).toMatchObject({ reason: "stop_token", timings: { completionTokens: 3 } });
  // Without a stop token only the limit ends it, where it may end.
  const endless = await run(native.engine, { grammar, tokensMax: 7 });
  expect(new TextDecoder().decode(endless.bytes)).toBe("ababab");
  expect(endless.finish).toMatchObject({ reason: "complete", timings: { completionTokens: 6, closedByRule: false } });
});

test("text that may turn into a marker is the text that would have been written without a grammar", async () => {
  using grammar = compile((builder) =>
    builder.node({
      kind: "text",
      until: [{ token: undefined, bytes: utf8.encode("<call>") }],
      barred: [],
      controls: true,
    }),
  );
  for (let seed = 0; seed < 20; seed++) {
    const sampling = { seed, tokensMax: 100, logprobs: 0, topP: 0.9 };
    const tokens = (events: readonly EngineEvent[]) =>
      events.flatMap((event) => (event.kind === "token" ? [event.token] : []));
    const free = await run(native.engine, sampling);
    const watched = await run(native.engine, { ...sampling, grammar });
    expect(tokens(watched.events)).toEqual(tokens(free.events));
    expect(watched.bytes).toEqual(free.bytes);
  }
});

test("step mode narrows a grammar's mask; what the grammar forbids stays forbidden", async () => {
  using grammar = compile(person);
  let steps = 0;
  const { bytes, finish } = await run(native.engine, { grammar, step: true, tokensMax: 60 }, ({ logits, mask }) => {
    steps++;
    logits.fill(0);
    logits[0x7b] = 1000; // "{" everywhere, allowed or not
    if (isSet(mask, 0x41)) mask.fill(0).fill(2, 2, 3); // Only "A", wherever it is allowed
  });
  expect(steps).toBe(finish.timings.completionTokens);
  const { name } = JSON.parse(new TextDecoder().decode(bytes));
  expect(name).toBe("A".repeat(12));
});

test("a grammar lives as long as its last user, and then is gone", async () => {
  const before = native.library.liveCounts();
  const grammar = compile(person);
  const generation = unwrap(native.engine.submit({ ...plainRequest, grammar, tokensMax: 50 }));
  const matcher = unwrap(createMatcher(native.vocabulary, grammar, []));
  grammar[Symbol.dispose]();
  expect(native.engine.submit({ ...plainRequest, grammar })).toMatchObject({ ok: false, failure: { kind: "invalid" } });
  for await (const event of generation.events) if (event.kind === "finish") expect(event.reason).toBe("complete");
  matcher.fill();
  expect(matcher.accept(0x7b)).toBe(true);
  matcher[Symbol.dispose]();
  for (let round = 0; round < 500; round++) compile(person)[Symbol.dispose]();
  await until(() => native.engine.stats().running === 0);
  expect(native.library.liveCounts()).toEqual(before);
});
