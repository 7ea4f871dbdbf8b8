/**
 * Tokens per second of prefill and decoding, ours and llama.cpp's in turn on the same file with the same threads, and ours with
 * one core kept busy by another process.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineCommand } from "citty";
import { buildNativeModel, type NativeModel, openNativeModel, outputOf } from "./native-model.ts";
import { median, rounded } from "./statistics.ts";

const prefillTokens = 512;
const decodeTokens = 128;

export const decode = defineCommand({
  meta: { name: "decode", description: "Measure prefill and decoding, against llama-bench where there is one" },
  args: {
    model: { type: "string", description: "A model file or name", required: true, valueHint: "MODEL" },
    "llama-bench": { type: "string", description: "llama.cpp's own benchmark program", valueHint: "PATH" },
    threads: { type: "string", description: "Threads that compute", default: "2", valueHint: "N" },
    rounds: { type: "string", description: "Times that everything is measured", default: "5", valueHint: "N" },
  },
  async run({ args }) {
    await buildNativeModel();
    const rounds = Number(args.rounds);
    using model = openNativeModel(args.model, Number(args.threads));
    const ours: Rates[] = [];
    const theirs: Rates[] = [];
    const idle: number[] = [];
    const busy: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`round ${round} of ${rounds}\n`);
      const rates = await measureOurs(model, prefillTokens);
      ours.push(rates);
      if (args["llama-bench"] !== undefined) {
        theirs.push(await measureTheirs(args["llama-bench"], model.card.path, args.threads));
      }
      idle.push((await measureOurs(model, 0)).decode);
      busy.push(await besideBusyProcess(async () => (await measureOurs(model, 0)).decode));
    }
    const report = {
      bench: "decode",
      model: model.card.id,
      threads: Number(args.threads),
      rounds,
      ours: summary(ours),
      ...(args["llama-bench"] === undefined ? {} : comparison(ours, theirs, args["llama-bench"], args.threads)),
      oneCoreBusy: {
        idle: rounded(median(idle)),
        busy: rounded(median(busy)),
        ratio: rounded(median(busy) / median(idle)),
      },
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  },
});

/** Tokens per second. */
type Rates = { readonly prefill: number; readonly decode: number };

async function measureOurs(model: NativeModel, prefill: number): Promise<Rates> {
  const rates: [Rates] = JSON.parse(
    await model.run("speed", { arguments: [String(prefill), String(decodeTokens), "1"] }),
  );
  return rates[0];
}

function llamaBenchFlags(threads: string): readonly string[] {
  return ["-p", String(prefillTokens), "-n", String(decodeTokens), "-t", threads, "-r", "1"];
}

async function measureTheirs(program: string, path: string, threads: string): Promise<Rates> {
  const output = await outputOf([program, "-m", path, ...llamaBenchFlags(threads), "-o", "json"]);
  const tests: readonly { readonly n_gen: number; readonly avg_ts: number }[] = JSON.parse(output);
  const rateOf = (isDecode: boolean) => tests.find((each) => each.n_gen > 0 === isDecode)?.avg_ts ?? Number.NaN;
  return { prefill: rateOf(false), decode: rateOf(true) };
}

function summary(rates: readonly Rates[]): Rates {
  return {
    prefill: rounded(median(rates.map((each) => each.prefill))),
    decode: rounded(median(rates.map((each) => each.decode))),
  };
}

function comparison(ours: readonly Rates[], theirs: readonly Rates[], program: string, threads: string) {
  const [a, b] = [summary(ours), summary(theirs)];
  return {
    llamaCpp: b,
    ratio: { prefill: rounded(a.prefill / b.prefill), decode: rounded(a.decode / b.decode) },
    llamaCppFlags: { run: llamaBenchFlags(threads).join(" "), build: buildFlags(program) },
  };
}

/** What llama.cpp was built with, where its build folder is still around the program. */
function buildFlags(program: string): Readonly<Record<string, string>> {
  const cache = join(dirname(dirname(program)), "CMakeCache.txt");
  if (!existsSync(cache)) return {};
  const lines = readFileSync(cache, "utf8").matchAll(/^(GGML_\w+|CMAKE_BUILD_TYPE):\w+=(ON|OFF|Release|Debug)$/gm);
  const interesting = /^(GGML_(NATIVE|CPU_REPACK|LLAMAFILE|OPENMP|AVX512|AVX512_VNNI|BLAS)|CMAKE_BUILD_TYPE)$/;
  return Object.fromEntries(
    [...lines].flatMap(([, name = "", value = ""]) => (interesting.test(name) ? [[name, value]] : [])),
  );
}

async function besideBusyProcess<T>(measure: () => Promise<T>): Promise<T> {
  const busy = Bun.spawn([process.execPath, "-e", "for (;;);"], { stdout: "ignore", stderr: "ignore" });
  try {
    return await measure();
  } finally {
    busy.kill("SIGKILL");
    await busy.exited;
  }
}
