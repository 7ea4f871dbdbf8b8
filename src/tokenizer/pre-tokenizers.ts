import { SequencePreTokenizer } from "@huggingface/tokenizers";

/** How a text is cut before merging; a merge never crosses a cut. */
export type Split = (text: string, sectionIndex: number) => readonly string[];

/** A pre-tokenizer that GGUF files name in `tokenizer.ggml.pre`. */
export type PreTokenizer = {
  readonly split: Split;
  /** A piece that is a token as a whole becomes it, whatever the merges say. */
  readonly wholePieces: boolean;
};

/** A member of tokenizer.json's `pre_tokenizer`, as the library takes it. */
export type PreTokenizerJson = ConstructorParameters<typeof SequencePreTokenizer>[0]["pretokenizers"][number];

/** Undefined for a name that is not known: guessing would cut texts where the model never saw them cut. */
export function preTokenizerNamed(name: string): PreTokenizer | undefined {
  const patterns = patternsByName.get(name);
  if (patterns === undefined) return undefined;
  return {
    split: splitBy(patterns.map(isolatedSplit)),
    wholePieces: namesWithWholePieces.has(name),
  };
}

/** A split by pre-tokenizers as tokenizer.json declares them, one after another. Throws on kinds the library lacks. */
export function splitBy(preTokenizers: readonly PreTokenizerJson[]): Split {
  if (preTokenizers.length === 0) return (text) => [text];
  const sequence = new SequencePreTokenizer({ type: "Sequence", pretokenizers: [...preTokenizers] });
  return (text, sectionIndex) => sequence.pre_tokenize_text(text, { section_index: sectionIndex });
}

/** Cuts around each match and keeps it as a piece of its own. `pattern` in the dialect of tokenizer.json (Oniguruma's). */
export function isolatedSplit(pattern: string): PreTokenizerJson {
  return { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false };
}

// The patterns of the models' own tokenizer.json.
export const gpt2Pattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const spaces = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const words = `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+`;
const symbols = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*";
const llama3 = `${words}|\\p{N}{1,3}|${symbols}|${spaces}`;
const qwen2 = `${words}|\\p{N}|${symbols}|${spaces}`;
const upper = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
const lower = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
/** Words by case, a lower-case tail or an upper-case head, with `tail` after each. */
const casedWords = (tail: string) =>
  `[^\\r\\n\\p{L}\\p{N}]?${upper}*${lower}+${tail}|[^\\r\\n\\p{L}\\p{N}]?${upper}+${lower}*${tail}`;
const symbolsAndSlashes = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*";
const deepseek = [
  "\\p{N}{1,3}",
  "[一-龥぀-ゟ゠-ヿ]+",
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" +
    spaces,
];

const families: readonly { readonly names: readonly string[]; readonly patterns: readonly string[] }[] = [
  // What llama.cpp takes for files that name none.
  { names: ["default"], patterns: ["[\\p{P}\\$\\+<=>\\^~\\|]+", gpt2Pattern, "\\p{N}+", "[0-9][0-9][0-9]"] },
  {
    names: ["gpt-2", "phi-2", "olmo", "mpt", "jais", "trillion", "gigachat", "exaone4", "granite-docling"],
    patterns: [gpt2Pattern],
  },
  {
    names: ["smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"],
    patterns: ["\\p{N}", gpt2Pattern],
  },
  { names: ["falcon"], patterns: ["[\\p{P}\\$\\+<=>\\^~\\|`]+", gpt2Pattern, "[0-9][0-9][0-9]"] },
  {
    names: [
      "llama3",
      "llama-v3",
      "llama-bpe",
      "falcon3",
      "falcon-h1",
      "pixtral",
      "lfm2",
      "dbrx",
      "smaug-bpe",
      "glm4",
      "chatglm-bpe",
    ],
    patterns: [llama3],
  },
  { names: ["qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan", "grok-2", "solar-open"], patterns: [qwen2] },
  {
    names: ["qwen35"],
    patterns: [
      `${contractions}|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|${spaces}`,
    ],
  },
  { names: ["tekken"], patterns: [`${casedWords("")}|\\p{N}|${symbolsAndSlashes}|${spaces}`] },
  {
    names: ["gpt-4o", "llama4", "minimax-m2"],
    patterns: [`${casedWords(`${contractions}?`)}|\\p{N}{1,3}|${symbolsAndSlashes}|${spaces}`],
  },
  { names: ["deepseek-v3", "hunyuan-dense", "joyai-llm"], patterns: deepseek },
  {
    names: ["deepseek-coder"],
    patterns: ["[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-퟿]+", "\\p{N}"],
  },
  { names: ["seed-coder"], patterns: [`${words}|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|${spaces}`] },
];

const patternsByName: ReadonlyMap<string, readonly string[]> = new Map(
  families.flatMap(({ names, patterns }) => names.map((name) => [name, patterns] as const)),
);

const namesWithWholePieces: ReadonlySet<string> = new Set([
  "llama3",
  "llama-v3",
  "llama-bpe",
  "falcon3",
  "falcon-h1",
  "pixtral",
  "lfm2",
  "tekken",
]);
