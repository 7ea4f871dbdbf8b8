/**
 * What tools cost: masks of calls where three tools are offered instead of one, and the time from a request with very many tools to its
 * first mask.
 */
import { defineCommand } from "citty";
import { type ConstrainContext, constrain } from "../src/dialects/constrain.ts";
import { dialects } from "../src/dialects/detect.ts";
import type { Grammar } from "../src/engine/engine.ts";
import { libraryPath, openLibrary } from "../src/engine/library.ts";
import { createMatcher } from "../src/engine/matcher.ts";
import { type NativeVocabulary, openVocabulary } from "../src/engine/vocabulary.ts";
import type { Tool } from "../src/generation/request.ts";
import { requestWith } from "../src/generation/request-fixture.ts";
import { wholeNumber } from "./arguments.ts";
import { moment, since } from "./clock.ts";
import { follow } from "./mask-run.ts";
import { must, openTokenizer, readSamples, type Sample } from "./samples.ts";
import { distribution, leastOfEach, median, rounded } from "./statistics.ts";

export const tools = defineCommand({
  meta: { name: "tools", description: "Measure three tools against one, and a request with very many" },
  args: {
    data: { type: "string", description: "JSON lines, gzipped or not", required: true, valueHint: "FILE" },
    vocabulary: { type: "string", description: "A tokenizer.json or a GGUF file", required: true, valueHint: "FILE" },
    families: {
      type: "string",
      description: "How the identifiers of the schemas begin that are tools, a comma between two",
      default: "Glaiveai2K,BFCL,MCPspec",
      valueHint: "LIST",
    },
    dialect: {
      type: "enum",
      options: dialects.map(({ name }) => name),
      description: "Of the calls",
      default: "hermes",
    },
    calls: {
      type: "string",
      description: "Calls to follow with one tool and with three",
      default: "300",
      valueHint: "N",
    },
    many: { type: "string", description: "Tools of one large request", default: "128", valueHint: "N" },
    requests: { type: "string", description: "Large requests of each family", default: "10", valueHint: "N" },
    repeat: {
      type: "string",
      description: "Runs, each from a fresh compilation; the least of each time counts",
      default: "3",
      valueHint: "N",
    },
  },
  run({ args }) {
    const tokenizer = openTokenizer(args.vocabulary);
    const library = must(openLibrary(process.env["TENON_LIBRARY"] || libraryPath()));
    using vocabulary = must(openVocabulary(library, tokenizer.vocabulary));
    const dialect = dialects.find(({ name }) => name === args.dialect);
    if (dialect === undefined) throw new Error(`there is no dialect ${args.dialect}`);
    const setting: Setting = {
      context: { dialect, tokenizer, callsMax: 8 },
      vocabulary,
      repeat: wholeNumber("repeat", args.repeat),
    };
    const samples = readSamples(args.data, 1);
    const families = args.families.split(",").map((family) => {
      const own = samples.filter(({ id }) => id.startsWith(family)).map((sample) => toolOf(sample));
      return { family, tools: own.filter(({ tool }) => isCallable(tool, setting)) };
    });
    const report = {
      bench: "tools",
      vocabulary: tokenizer.vocabulary.count,
      dialect: dialect.name,
      threeInsteadOfOne: threeInsteadOfOne(
        families.flatMap(({ tools: own }) => own),
        wholeNumber("calls", args.calls),
        setting,
      ),
      many: families.map(({ family, tools: own }) => ({
        family,
        ...manyTools(
          own.map(({ tool }) => tool),
          { size: wholeNumber("many", args.many), requests: wholeNumber("requests", args.requests) },
          setting,
        ),
      })),
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  },
});

type Setting = {
  readonly context: ConstrainContext;
  readonly vocabulary: NativeVocabulary;
  readonly repeat: number;
};

type ToolSample = { readonly tool: Tool; readonly arguments: readonly string[] };

function toolOf({ id, schema, instances }: Sample): ToolSample {
  const name = id.replace(/[^\w-]/g, "_").slice(0, 64);
  return {
    tool: { name, description: undefined, parameters: schema, strict: false, param: "tools", source: "" },
    arguments: instances.filter(({ valid }) => valid).map(({ text }) => text),
  };
}

/** The grammar of an answer that has to call one of these tools; undefined where one of them is refused. */
function compile(offered: readonly Tool[], { context, vocabulary }: Setting): Grammar | undefined {
  const constrained = constrain(requestWith({ tools: offered, toolChoice: { mode: "required" } }), context);
  if (!constrained.ok || constrained.value.ir === undefined) return undefined;
  const grammar = vocabulary.compile(constrained.value.ir);
  return grammar.ok ? grammar.value : undefined;
}

function isCallable(tool: Tool, setting: Setting): boolean {
  using grammar = compile([tool], setting);
  return grammar !== undefined;
}

/** Masks of the same calls, of a tool that is offered alone and of one among three. Calls that the policy does not allow are left out. */
function threeInsteadOfOne(samples: readonly ToolSample[], count: number, setting: Setting) {
  const oneUs: number[] = [];
  const threeUs: number[] = [];
  let calls = 0;
  for (const [index, { tool, arguments: texts }] of samples.entries()) {
    if (calls === count) break;
    const [text] = texts;
    const others = [1, 2].map((distance) => samples[(index + distance) % samples.length]?.tool ?? tool);
    const call = text && setting.context.dialect.encodings({ id: "", name: tool.name, arguments: text })[0];
    if (!call) continue;
    const tokens = setting.context.tokenizer.encode(call, { special: true });
    const alone = leastMasks([tool], tokens, setting);
    const among = leastMasks([...others, tool], tokens, setting);
    if (alone === undefined || among === undefined) continue;
    oneUs.push(...alone);
    threeUs.push(...among);
    calls++;
  }
  const [one, three] = [distribution(oneUs), distribution(threeUs)];
  const ratios = { average: rounded(three.avg / one.avg), median: rounded(three.p50 / one.p50) };
  return { calls, masks: oneUs.length, oneUs: one, threeUs: three, ratios };
}

/** The least time of each mask of a call; undefined where it is not allowed. */
function leastMasks(offered: readonly Tool[], tokens: Uint32Array, setting: Setting): readonly number[] | undefined {
  let least: readonly number[] | undefined;
  for (let round = 0; round < setting.repeat; round++) {
    using grammar = compile(offered, setting);
    if (grammar === undefined) return undefined;
    using matcher = must(createMatcher(setting.vocabulary, grammar, setting.context.tokenizer.stopTokens));
    const maskUs: number[] = [];
    if (follow(matcher, tokens, maskUs) < tokens.length) return undefined;
    least = leastOfEach(least, maskUs);
  }
  return least;
}

/** The time from a request with many tools to its first mask. */
function manyTools(
  all: readonly Tool[],
  { size, requests }: { readonly size: number; readonly requests: number },
  setting: Setting,
) {
  const times: number[] = [];
  let characters = 0;
  for (let first = 0; first + size <= all.length && times.length < requests; first += size) {
    const offered = all.slice(first, first + size);
    characters += offered.reduce((sum, { parameters }) => sum + (parameters?.length ?? 0), 0);
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < setting.repeat; round++) {
      const start = moment();
      using grammar = compile(offered, setting);
      if (grammar === undefined) throw new Error("tools that compile alone do not together");
      using matcher = must(createMatcher(setting.vocabulary, grammar, setting.context.tokenizer.stopTokens));
      matcher.fill();
      least = Math.min(least, since(start));
    }
    times.push(least);
  }
  if (times.length === 0) return { requests: 0 };
  return {
    requests: times.length,
    charactersAverage: Math.round(characters / times.length),
    compileUs: { p50: rounded(median(times)), max: rounded(Math.max(...times)) },
  };
}
