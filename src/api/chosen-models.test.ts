import { describe, expect, test } from "bun:test";
import { detail } from "../../tests/fixtures/chat.ts";
import type { Request } from "../generation/request.ts";
import { requestWith } from "../generation/request-fixture.ts";
import { ok } from "../generation/result.ts";
import { samplingOf } from "../generation/sampling.ts";
import type { StoredModel } from "../generation/stored-model.ts";
import { chosenModels } from "./chosen-models.ts";
import { decodeService, unusedStore } from "./service-fixture.ts";

const stored = { loaded: true, modifiedMs: 5000, facts: detail, derivation: undefined } as const;
const mario: StoredModel = {
  ...stored,
  id: "mario:v2",
  derivation: {
    base: detail.id,
    parent: detail.id,
    parameters: { temperature: 0.5, num_predict: 7, num_ctx: 600, seed: 3, stop: ["END"] },
    system: "You are Mario.",
    template: "{{ messages }}",
    license: [],
    messages: [
      { role: "user", content: "Who?" },
      { role: "assistant", content: "Mario!" },
    ],
  },
};
const broken: StoredModel = {
  ...stored,
  id: "broken",
  derivation: { ...(mario.derivation ?? fail()), parameters: { temperature: "hot" } },
};
/** The loaded model, those made from it, and one that is not loaded. */
const models: Readonly<Record<string, StoredModel>> = {
  loaded: { ...stored, id: detail.id },
  mario,
  broken,
  other: { ...stored, id: "Other", loaded: false },
};

/** A service whose model has a token for each character of its messages, and what it was asked for. */
function serve(contextMax = detail.contextMax) {
  const asked: Request[] = [];
  const unused = () => fail();
  const service = chosenModels({
    ...decodeService,
    describe: () => ({ ...detail, contextMax }),
    store: {
      ...unusedStore,
      find: (name) => (Object.hasOwn(models, name) ? models[name] : undefined),
      derived: () => [mario],
    },
    async answer(request) {
      asked.push(request);
      const events = (async function* () {})();
      const sampling = samplingOf(request.sampling);
      return ok({ model: detail.id, promptTokens: 1, constraint: "none", relaxed: [], sampling, events });
    },
    prompt(request) {
      asked.push(request);
      const text = JSON.stringify(request.messages);
      return ok({ text, tokens: Uint32Array.from(Buffer.from(text)) });
    },
    detokenize: unused,
    pieces: unused,
    embed: unused,
    status: unused,
    pingMs: 1,
  });
  const answer = async (fields: Partial<Request>) => {
    const answered = await service.answer(requestWith({ messages: [hello], ...fields }), new AbortController().signal);
    if (!answered.ok) throw new Error(JSON.stringify(answered.failure));
    return { answer: answered.value, request: asked.at(-1) ?? fail() };
  };
  return { service, asked, answer };
}

const hello = { role: "user", content: "Hi" } as const;
const rules = { role: "system", content: "Be Luigi." } as const;
const contents = ({ messages }: Request) => messages.map(({ content }) => content);

test("a name is the loaded model, one made from it, or one that nobody has; what is here and not loaded is refused", async () => {
  const { answer, service } = serve();
  for (const [name, id, asked] of [
    [undefined, detail.id, undefined],
    ["", detail.id, detail.id],
    ["loaded", detail.id, detail.id],
    [detail.id, detail.id, detail.id],
    ["mario", "mario:v2", detail.id],
    ["gpt-5", detail.id, "gpt-5"],
  ] as const) {
    const answered = await answer({ model: name });
    expect([answered.answer.model, answered.request.model]).toEqual([id, asked]);
  }
  const message = `model 'other' is not loaded: this server runs '${detail.id}', and another one with '-m Other'`;
  expect(service.chosen("other")).toMatchObject({ failure: { message, param: "model" } });
  expect(await service.answer(requestWith({ model: "other" }), new AbortController().signal)).toMatchObject({
    ok: false,
  });
  expect(service.prompt(requestWith({ model: "other" }))).toMatchObject({ ok: false });
  expect(service.prompt(requestWith({ model: "broken" }))).toMatchObject({ failure: { param: "options.temperature" } });
});

test("lists have the loaded model and those made from it, as they answer", () => {
  const [loaded, made, ...others] = serve().service.models();
  expect(loaded).toEqual(detail);
  expect(made).toEqual({ ...detail, id: "mario:v2", created: 5, contextMax: 600, template: "{{ messages }}" });
  expect(others).toEqual([]);
});

describe("a model made from the loaded one", () => {
  test("says what the request does not", async () => {
    const { request } = await serve().answer({ model: "mario" });
    expect(contents(request)).toEqual(["You are Mario.", "Who?", "Mario!", "Hi"]);
    expect(request).toMatchObject({ template: "{{ messages }}", tokensMax: 7, contextMax: 600, stop: ["END"] });
    expect(samplingOf(request.sampling)).toEqual(samplingOf({ temperature: 0.5, seed: 3 }));
  });

  test("gives way to the request", async () => {
    const said = { template: "x", tokensMax: Number.POSITIVE_INFINITY, contextMax: 900, stop: [] };
    const sampling = { temperature: 2, seed: "fresh" } as const;
    const { request, answer } = await serve().answer({ model: "mario", messages: [rules, hello], ...said, sampling });
    expect(contents(request)).toEqual(["Be Luigi.", "Who?", "Mario!", "Hi"]);
    expect(request).toMatchObject(said);
    expect(answer.sampling).toEqual(samplingOf({ temperature: 2 }));
  });

  test("adds no turns to tokens that have them, and nothing to a prompt of one's own", async () => {
    const { answer } = serve();
    expect(contents((await answer({ model: "mario", before: [1] })).request)).toEqual(["You are Mario.", "Hi"]);
    const raw = await answer({ model: "mario", messages: [], prompt: "Hi" });
    expect(raw.request).toMatchObject({ messages: [], prompt: "Hi", tokensMax: 7 });
  });

  test("is read as it answers", () => {
    const { service, asked } = serve();
    expect(service.prompt(requestWith({ model: "mario", messages: [hello] })).ok).toBe(true);
    expect(contents(asked[0] ?? fail())).toEqual(["You are Mario.", "Who?", "Mario!", "Hi"]);
  });
});

test("truncation leaves out the oldest turns, and no rules", async () => {
  const turns = ["one", "two", "three"].map((word) => ({ role: "user", content: word.repeat(20) }) as const);
  const left = async (fields: Partial<Request>, contextMax: number) => {
    const { request } = await serve(contextMax).answer({ messages: [rules, ...turns], ...fields });
    return contents(request).map((content) => String(content).slice(0, 3));
  };
  expect(await left({ truncate: true }, 400)).toEqual(["Be ", "two", "thr"]);
  expect(await left({ truncate: false }, 400)).toEqual(["Be ", "one", "two", "thr"]);
  expect(await left({ truncate: true, contextMax: 400 }, 4000)).toEqual(["Be ", "two", "thr"]);
  expect(await left({ truncate: true, contextMax: 9000 }, 400)).toEqual(["Be ", "two", "thr"]);
});

function fail(): never {
  throw new Error("not part of this test");
}
